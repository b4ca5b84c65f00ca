namespace Tidepool.Models.Barriers;

/// <summary>
/// A machine of two threads with a store buffer each, as x86 has (Sewell et al., "x86-TSO", 2010): a store waits in its thread's buffer, is
/// seen by that thread at once and by the other when it drains, in order, at any time. States are values, so that all of them can be
/// visited.
/// </summary>
internal sealed record BufferedMachine(
    string Memory, string Registers, int OwnerAt, int VisitorAt, string OwnerBuffer, string VisitorBuffer, int Updates)
{
    // Updates counts what the programs did; the machine does not know it. Memory and registers are short strings of digits, the
    // buffers sequences of (variable, value): value equality comes for free.
    internal const int Variables = 3;

    internal static BufferedMachine Start { get; } = new(new string('0', Variables), "00", 0, 0, string.Empty, string.Empty, 0);

    internal int At(int thread) => thread == 0 ? OwnerAt : VisitorAt;

    internal int Register(int thread) => Registers[thread] - '0';

    /// <summary>What <paramref name="thread"/> reads: its own newest waiting store, else memory.</summary>
    internal int Read(int thread, int variable)
    {
        string buffer = Buffer(thread);
        for (int i = buffer.Length - 2; i >= 0; i -= 2)
        {
            if (buffer[i] - '0' == variable)
            {
                return buffer[i + 1] - '0';
            }
        }

        return Memory[variable] - '0';
    }

    internal bool IsDrained(int thread) => Buffer(thread).Length == 0;

    internal BufferedMachine Store(int thread, int variable, int value)
    {
        string stored = $"{Buffer(thread)}{variable}{value}";
        return thread == 0 ? this with { OwnerBuffer = stored } : this with { VisitorBuffer = stored };
    }

    internal BufferedMachine Load(int thread, int variable) =>
        this with { Registers = Replace(Registers, thread, Read(thread, variable)) };

    /// <summary>The oldest waiting store of <paramref name="thread"/> reaches memory.</summary>
    internal BufferedMachine Drain(int thread)
    {
        string buffer = Buffer(thread);
        BufferedMachine drained = this with { Memory = Replace(Memory, buffer[0] - '0', buffer[1] - '0') };
        return thread == 0 ? drained with { OwnerBuffer = buffer[2..] } : drained with { VisitorBuffer = buffer[2..] };
    }

    /// <summary>All waiting stores of all threads reach memory: the process-wide barrier.</summary>
    internal BufferedMachine DrainAll()
    {
        BufferedMachine drained = this;
        for (int thread = 0; thread < 2; thread++)
        {
            while (!drained.IsDrained(thread))
            {
                drained = drained.Drain(thread);
            }
        }

        return drained;
    }

    internal BufferedMachine Goto(int thread, int instruction) =>
        thread == 0 ? this with { OwnerAt = instruction } : this with { VisitorAt = instruction };

    private static string Replace(string digits, int index, int value) =>
        string.Concat(digits.AsSpan(0, index), $"{value}", digits.AsSpan(index + 1));

    private string Buffer(int thread) => thread == 0 ? OwnerBuffer : VisitorBuffer;
}

using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>
/// Lets threads begin when each processor has one of them, or each of them a processor. The system wakes a thread where it slept last,
/// perhaps beside another one, and moves it after some milliseconds: a short measurement would be over before.
/// </summary>
/// <param name="members">The number of threads.</param>
internal sealed class ProcessorSpread(int members)
{
    private const int Nowhere = -1;
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(20);

    private readonly int[] _processors = [.. Enumerable.Repeat(Nowhere, members)];

    /// <summary>Forgets where the threads ran.</summary>
    public void Clear() => Array.Fill(_processors, Nowhere);

    /// <summary>Notes where the calling thread runs.</summary>
    public void Note(int member) => Volatile.Write(ref _processors[member], Thread.GetCurrentProcessorId());

    /// <summary>Keeps the calling thread busy until all are spread, or for some milliseconds; the others note where they run.</summary>
    public void Await(int member)
    {
        int most = Math.Min(_processors.Length, Environment.ProcessorCount);
        long start = Stopwatch.GetTimestamp();
        do
        {
            Note(member);
        }
        while (CountProcessors() < most && Stopwatch.GetElapsedTime(start) < Patience);
    }

    private int CountProcessors()
    {
        int count = 0;
        for (int i = 0; i < _processors.Length; i++)
        {
            int processor = Volatile.Read(ref _processors[i]);
            count += processor != Nowhere && Array.IndexOf(_processors, processor, 0, i) < 0 ? 1 : 0;
        }

        return count;
    }
}

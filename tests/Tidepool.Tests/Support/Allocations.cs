namespace Tidepool.Tests.Support;

/// <summary>
/// What code allocates on the calling thread, in bytes. The runtime itself allocates there now and then, some kilobytes for statics or
/// for the table of string literals of whatever is compiled at that moment; so the median of some rounds counts.
/// </summary>
public static class Allocations
{
    private const int Rounds = 5;

    /// <summary>What one run allocates.</summary>
    public static long Of(Action run)
    {
        ArgumentNullException.ThrowIfNull(run);
        long before = GC.GetAllocatedBytesForCurrentThread();
        run();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    /// <summary>What a round usually allocates.</summary>
    public static long Usual(Func<long> round)
    {
        ArgumentNullException.ThrowIfNull(round);
        long[] rounds = new long[Rounds];
        for (int i = 0; i < rounds.Length; i++)
        {
            rounds[i] = round();
        }

        Array.Sort(rounds);
        return rounds[Rounds / 2];
    }

    /// <summary>The bytes that an operation usually allocates once <paramref name="warmUp"/> operations have made it warm.</summary>
    public static double Each(Action operation, int operations = 5000, int warmUp = 200)
    {
        for (int i = 0; i < warmUp; i++)
        {
            operation();
        }

        return Usual(() => Of(() =>
        {
            for (int i = 0; i < operations; i++)
            {
                operation();
            }
        })) / (double)operations;
    }
}

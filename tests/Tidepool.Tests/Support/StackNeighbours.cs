using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;

namespace Tidepool.Tests.Support;

/// <summary>
/// Threads with large stacks rent and end; threads with small stacks, several of them on the memory of one large stack, return the leases
/// at the same time.
/// </summary>
internal static class StackNeighbours
{
    private const int Large = 24; // more stacks than the C library keeps, so their memory is free for others
    private const int Small = 32;
    private const int PerPair = 4;

    public static void Run()
    {
        using BufferPool<int> pool = BufferPool<int>.Create(new() { Name = "stacks" });
        int neighbours = 0;
        for (int round = 0; round < 100; round++)
        {
            BufferLease<int>[][] leases = new BufferLease<int>[Large][];
            (nuint Low, nuint Size)[] ranges = new (nuint, nuint)[Large];
            RunAll(Large, 8 << 20, large =>
            {
                ranges[large] = StackIdentity.Bounds();
                leases[large] = Rent(pool);
            });
            int[] inside = new int[Large];
            RunAll(Small, (round & 1) == 0 ? 256 << 10 : 1 << 20, small =>
            {
                nuint low = StackIdentity.Bounds().Low;
                for (int large = 0; large < Large; large++)
                {
                    if (low - ranges[large].Low < ranges[large].Size)
                    {
                        Interlocked.Increment(ref inside[large]);
                    }

                    ReturnShare(leases[large], small);
                }
            });
            neighbours += inside.Where(count => count > 1).Sum();
            Check(pool);
        }

        Console.WriteLine($"{neighbours} threads shared the stack memory of an ended one.");
    }

    private static BufferLease<int>[] Rent(BufferPool<int> pool)
    {
        BufferLease<int>[] leases = [.. Enumerable.Range(0, Small * PerPair).Select(_ => pool.Rent(64))];
        for (int i = 0; i < leases.Length; i++)
        {
            leases[i].Span.Fill(i);
        }

        return leases;
    }

    private static void ReturnShare(BufferLease<int>[] leases, int small)
    {
        for (int i = small; i < leases.Length; i += Small)
        {
            if (leases[i].Span.IndexOfAnyExcept(i) >= 0)
            {
                Assert.Fail($"The lease {i} was overwritten.");
            }

            leases[i].Return();
        }
    }

    private static void Check(BufferPool<int> pool)
    {
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(statistics.Rented, statistics.Returned);
        Assert.Equal(0, statistics.BytesLeased);
        pool.Validate();
        BufferLease<int>[] again = [.. Enumerable.Range(0, Large * Small * PerPair).Select(_ => pool.Rent(64))];
        Assert.Equal(again.Length, again.Select(l => l.Segment.Array).Distinct().Count());
        Array.ForEach(again, l => l.Return());
    }

    [SuppressMessage("Design", "CA1031", Justification = "The failure is thrown again on the caller's thread.")]
    private static void RunAll(int count, int stackBytes, Action<int> body)
    {
        using Barrier barrier = new(count);
        Exception? failure = null;
        Thread[] threads = [.. Enumerable.Range(0, count).Select(index => new Thread(
            () =>
            {
                barrier.SignalAndWait();
                try
                {
                    body(index);
                }
                catch (Exception thrown)
                {
                    failure = thrown;
                }

                barrier.SignalAndWait();
            },
            stackBytes))];
        Array.ForEach(threads, t => t.Start());
        Array.ForEach(threads, t => t.Join());
        if (failure is not null)
        {
            ExceptionDispatchInfo.Capture(failure).Throw();
        }
    }
}

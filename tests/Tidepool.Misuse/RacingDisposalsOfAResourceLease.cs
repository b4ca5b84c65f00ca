using System.Collections.Concurrent;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class RacingDisposalsOfAResourceLease : ResourceMisuseTest
{
    private const int Leases = 2000;

    [Theory]
    [InlineData(ResetMode.None)]
    [InlineData(ResetMode.Background)]
    [InlineData(ResetMode.OnReturn)]
    public void One_copy_returns_the_resource_and_the_others_are_counted(ResetMode reset)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: Leases, reset: reset));
        int resets = 0;
        Policy.OnReset = (_, _) => new(Interlocked.Increment(ref resets) > 0);
        Policy.OnResetHere = _ => Interlocked.Increment(ref resets) > 0;
        Race(pool, 3, (lease, _) => lease.Dispose());
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((Leases, 2 * Leases, Leases), (statistics.Returned, statistics.StaleDisposes, statistics.Idle));
        Assert.Equal(reset == ResetMode.None ? 0 : Leases, resets);
        AssertOneRenterEach(pool);
    }

    [Fact]
    public void A_disposal_that_races_with_a_detach_returns_nothing_that_was_taken_out()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: Leases));
        var detached = new ConcurrentQueue<FakeResource>();
        Race(pool, 2, (lease, thread) =>
        {
            if (thread == 0)
            {
                lease.Dispose();
                return;
            }

            try
            {
                detached.Enqueue(lease.Detach());
            }
            catch (ObjectDisposedException)
            {
                // The disposal was first.
            }
        });
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((detached.Count, detached.Count), ((int)statistics.Detached, (int)statistics.StaleDisposes));
        Assert.Equal(Leases - detached.Count, statistics.Idle);
        Array.ForEach([.. detached], static r => r.Enter());
        AssertOneRenterEach(pool);
        Assert.All(detached, static r => Assert.Equal(0, r.Ends));
    }

    /// <summary>Every thread ends each lease, in lockstep, so that the ends of a lease meet.</summary>
    private static void Race(ResourcePool<FakeResource> pool, int threads, Action<ResourceLease<FakeResource>, int> end)
    {
        ResourceLease<FakeResource>[] leases = [.. Enumerable.Range(0, Leases).Select(_ => Rent(pool))];
        int position = 0;
        Threads.RunAll(threads, thread =>
        {
            for (int i = 0; i < Leases; i++)
            {
                Interlocked.Increment(ref position);
                for (var spin = default(SpinWait); Volatile.Read(ref position) < threads * (i + 1);)
                {
                    spin.SpinOnce(sleep1Threshold: -1);
                }

                end(leases[i], thread);
            }
        });
        Assert.All(leases, static l => Assert.False(l.IsActive));
    }
}

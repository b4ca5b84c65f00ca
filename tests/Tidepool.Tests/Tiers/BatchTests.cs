using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

/// <summary>Trimming, retiring and reaping of more magazines than are visited at a time.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class BatchTests : PoolTest
{
    private const int Pools = 100; // two batches
    private const int Length = 1000;

    private readonly BufferPool<byte>[] _pools;

    public BatchTests() => _pools = [.. Enumerable.Range(0, Pools).Select(_ => NewPool<byte>(new() { Budget = 1 << 20 }))];

    [Fact]
    public void The_gate_is_free_while_what_was_trimmed_is_evicted_and_later_magazines_are_not_yet_visited()
    {
        using ParkedThread renter = Fill();
        int evicted = 0;
        ThreadTier.Trim(null, all: true, taken =>
        {
            Assert.False(ThreadTier.Gate.IsHeldByCurrentThread);
            taken.Bucket.Pool.Evict(taken.Bucket, taken.Items.ToArray());
            evicted += IsMine(taken) ? taken.Items.Count : 0;
            if (evicted == 1)
            {
                // The last ones are not paused: their owner rents and returns, which would wait for a visitor's end.
                renter.Run(() => _pools[^1].Rent(Length).Return());
                Assert.Equal(1, _pools[^1].GetStatistics().Idle);
            }
        });

        Assert.Equal(Pools, evicted);
        Assert.All(_pools, static pool => Assert.Equal(0, pool.GetStatistics().Idle));
        Assert.All(_pools, static pool => pool.Validate());
    }

    [Fact]
    public void A_pool_that_ends_between_two_batches_is_refunded_once()
    {
        using ParkedThread renter = Fill();
        ThreadTier.Trim(null, all: true, taken =>
        {
            taken.Bucket.Pool.Evict(taken.Bucket, taken.Items.ToArray());
            _pools[^1].Dispose();
        });

        Assert.All(_pools[..^1], static pool => pool.Validate());
        Assert.Equal(0, _pools[^1].Core.Budget.Used);
        Assert.True(Budget.Process.IsValid());
    }

    [Fact]
    public void Magazines_that_stay_unused_are_closed_and_refunded_whatever_their_number()
    {
        using ParkedThread renter = Fill();
        for (int epoch = 0; epoch < 4; epoch++)
        {
            Assert.All(_pools, static pool => Assert.True(pool.Core.Budget.Used > 0));
            Trimmer.Epoch(all: false);
        }

        Assert.All(_pools, static pool => Assert.Equal(0, pool.Core.Budget.Used));
        renter.Run(() => Array.ForEach(_pools, static pool => pool.Rent(Length).Return()));
        Assert.All(_pools, static pool => pool.Validate());
    }

    [Fact]
    public void A_thread_that_ends_leaves_none_of_many_magazines_behind()
    {
        int shards = ThreadTier.ShardCount;
        Fill().Dispose();
        ThreadTier.ReapDead();
        Assert.InRange(ThreadTier.ShardCount, 0, shards);
        Assert.All(_pools, static pool => Assert.Equal(1, pool.Core.FindBucket(Length)!.Shared.Count().Idle));
    }

    [Fact]
    public void A_thread_that_waits_for_the_gate_comes_before_the_ended_threads_are_reaped() => Threads.Run(() =>
    {
        // All live at once, because each new thread reaps a few that have ended. One magazine each: an unfair turn must be over before the
        // other thread wakes.
        using Lock.Scope noEpoch = Trimmer.Gate.EnterScope();
        ParkedThread[] renters = [.. Enumerable.Range(0, 2 * Pools).Select(static _ => new ParkedThread())];
        for (int i = 0; i < renters.Length; i++)
        {
            renters[i].Run(() => _pools[i % Pools].Rent(Length).Return());
        }

        int shards, seen = 0;
        Thread waiter;
        using (ThreadTier.Gate.Hold())
        {
            shards = ThreadTier.ShardCount;
            Assert.True(shards >= renters.Length);
            Array.ForEach(renters, static renter => renter.Dispose());
            waiter = new Thread(() => seen = ThreadTier.ShardCount) { IsBackground = true };
            waiter.Start();
            Eventually.True(() => waiter.ThreadState.HasFlag(ThreadState.WaitSleepJoin), "the other thread asleep at the gate");
        }

        ThreadTier.Reap(int.MaxValue, Eventually.Limit);
        Assert.True(waiter.Join(Eventually.Limit), "The waiting thread did not end.");
        Assert.True(seen >= shards, $"It waited until {seen} of {shards} threads were left.");
        Assert.True(ThreadTier.ShardCount < shards);
    });

    /// <summary>A thread that holds a magazine of every pool, with one buffer in each.</summary>
    private ParkedThread Fill()
    {
        var renter = new ParkedThread();
        renter.Run(() => Array.ForEach(_pools, static pool => pool.Rent(Length).Return()));
        return renter;
    }

    private bool IsMine(ThreadTier.Taken taken) => Array.Exists(_pools, pool => pool.Core == taken.Bucket.Pool);
}

using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Objects;

/// <summary>A budget of as many items as are ever out is enough: places that threads keep free do not use it up.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class SmallBudgetTests(ITestOutputHelper output) : PoolTest
{
    private const int Rounds = 5000;

    [Theory]
    [InlineData(1)]
    [InlineData(10)]
    [InlineData(15)]
    [InlineData(16)]
    [InlineData(17)]
    [InlineData(64)]
    [InlineData(100)]
    [InlineData(1000)]
    public void One_thread_makes_no_object_after_the_first_round(int budget)
    {
        using SimpleObjectPool<Gadget> pool = new(new() { Budget = budget });
        for (int round = 0; round < 20; round++)
        {
            RentAndReturn(pool, budget);
            Assert.Equal((budget, 0), (pool.GetStatistics().Missed, pool.GetStatistics().Dropped));
        }

        pool.Validate();
    }

    [Fact]
    public void What_is_beyond_the_budget_is_dropped_and_no_more()
    {
        using SimpleObjectPool<Gadget> pool = new(new() { Budget = 50 });
        RentAndReturn(pool, 70);
        Assert.Equal((50, 20), (pool.GetStatistics().Idle, pool.GetStatistics().Dropped));
        pool.Validate();
    }

    [Theory]
    [InlineData(2, 2, 4)]
    [InlineData(2, 2, 16)]
    [InlineData(4, 2, 16)]
    [InlineData(4, 4, 16)]
    [InlineData(8, 2, 16)]
    [InlineData(4, 4, 32)]
    [InlineData(8, 4, 32)]
    [InlineData(8, 8, 64)]
    public void Threads_that_hold_as_many_as_the_budget_make_next_to_none_once_all_exist(int threads, int held, int budget)
    {
        using SimpleObjectPool<Gadget> pool = new(new() { Budget = budget });
        RentAndReturn(pool, budget);
        using var all = new Barrier(threads);
        Threads.RunAll(threads, _ => RentAndReturn(pool, held, all.SignalAndWait));
        PoolStatistics warm = pool.GetStatistics();
        Threads.RunAll(threads, _ => Repeat(Rounds, () => RentAndReturn(pool, held)));
        PoolStatistics statistics = pool.GetStatistics();
        long made = statistics.Missed - warm.Missed;
        output.WriteLine(
            $"{warm.Missed} made and {warm.Dropped} dropped at first, {made} and {statistics.Dropped - warm.Dropped} in "
                + $"{threads * Rounds * held} rentals");
        Assert.InRange(made, 0, threads * Rounds * held / 10_000);
        pool.Validate();
    }

    [Fact]
    public void Buffers_of_many_sizes_share_a_budget_that_is_many_times_what_is_out()
    {
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Budget = 4 << 20 });
        Threads.RunAll(2, thread => RentSizes(pool, new Random(thread), 5000));
        long warm = pool.GetStatistics().Missed;
        Threads.RunAll(2, thread => RentSizes(pool, new Random(thread + 2), 5000));
        PoolStatistics statistics = pool.GetStatistics();
        output.WriteLine($"{statistics.Missed - warm} made for 20,000 rentals, {statistics.BytesIdle >> 10} KiB idle");
        Assert.InRange(statistics.Missed - warm, 0, 200);
        Assert.InRange(statistics.BytesIdle, 0, 4 << 20);
        pool.Validate();
    }

    [Fact]
    public void Threads_keep_no_objects_while_the_budget_is_tight_and_keep_them_again_when_it_has_room()
    {
        using SimpleObjectPool<Gadget> pool = new(new() { Budget = 16 });
        RentAndReturn(pool, 16);
        Assert.True(pool.Core.IsTight);
        Assert.Equal((TieredPool.NoId, TieredPool.NoId), (pool.Core.LeaseId, pool.Core.RawId));
        RentAndReturn(pool, 1);
        Assert.Equal(16, pool.Core.Buckets().Sum(static bucket => bucket.Shared.Count().Idle));
        Trimmer.Epoch(all: true);
        Assert.False(pool.Core.IsTight);
        Assert.DoesNotContain(TieredPool.NoId, new[] { pool.Core.LeaseId, pool.Core.RawId });
        RentAndReturn(pool, 1);
        Assert.Equal((1, 0), (pool.GetStatistics().Idle, pool.Core.Buckets().Sum(static bucket => bucket.Shared.Count().Idle)));
        pool.Validate();
    }

    [Fact]
    public void A_tight_pool_that_has_ended_never_opens_its_fast_path()
    {
        SimpleObjectPool<Gadget> pool = new(new() { Budget = 16 });
        RentAndReturn(pool, 16);
        Assert.True(pool.Core.IsTight);
        pool.Dispose();
        pool.Core.EndEpoch(); // an epoch that saw the pool before its end
        Assert.False(pool.Core.IsTight);
        Assert.Equal((TieredPool.NoId, TieredPool.NoId), (pool.Core.LeaseId, pool.Core.RawId));
    }

    private static void RentSizes(BufferPool<byte> pool, Random random, int rounds)
    {
        for (int i = 0; i < rounds; i++)
        {
            using BufferLease<byte> one = pool.Rent(random.Next(1024, 65536));
            using BufferLease<byte> other = pool.Rent(random.Next(1024, 65536));
        }
    }

    private static void RentAndReturn(ObjectPool<Gadget> pool, int count, Action? between = null)
    {
        var leases = new ObjectLease<Gadget>[count];
        for (int i = 0; i < count; i++)
        {
            leases[i] = pool.Rent();
        }

        between?.Invoke();
        foreach (ObjectLease<Gadget> lease in leases)
        {
            lease.Return();
        }
    }

    private static void Repeat(int count, Action action)
    {
        for (int i = 0; i < count; i++)
        {
            action();
        }
    }
}

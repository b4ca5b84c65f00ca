using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Memory;

[Collection(SharedPoolsCollection.Name)]
public sealed class ManyPoolsTests
{
    [Fact]
    public void Ten_thousand_pools_made_and_disposed_on_a_hundred_threads_keep_bounded_memory()
    {
        Grow(dispose: true, pools: 2000); // warm: tables reach their size
        long before = Settled();
        Grow(dispose: true, pools: 10_000);
        long after = Settled();
        Assert.True(after - before < 8 << 20, $"{(after - before) / 1024:N0} KiB more after 10,000 disposed pools.");
        Assert.InRange(Trimmer.Snapshot().Length, 0, 200);
    }

    [Fact]
    public void Ten_thousand_pools_made_and_dropped_on_a_hundred_threads_keep_bounded_memory()
    {
        Grow(dispose: false, pools: 2000);
        long before = Settled();
        Grow(dispose: false, pools: 10_000);
        long after = Settled();
        Assert.True(after - before < 8 << 20, $"{(after - before) / 1024:N0} KiB more after 10,000 dropped pools.");
        Eventually.TrueAfterCollections(() => Trimmer.Snapshot().Length < 200, "the dropped pools to leave the list of the trimmer");
    }

    [Fact]
    public void Pools_that_come_and_go_use_their_places_in_the_threads_tables_again()
    {
        Grow(dispose: true, pools: 500);
        int before = ThreadTier.IdCount;
        Grow(dispose: true, pools: 3000);
        // A hundred threads may hold one pool each at a time, with one or two buckets.
        Assert.InRange(ThreadTier.IdCount - before, 0, 2000);
    }

    [Fact]
    public void A_new_pool_gets_the_lowest_place_that_is_free()
    {
        BufferPool<byte>[] pools = [.. Enumerable.Range(0, 1000).Select(_ => BufferPool<byte>.Create())];
        Array.ForEach(pools, static pool => pool.Rent(1000).Return());
        int highest = ThreadTier.IdCount;
        Array.ForEach(pools, static pool => pool.Dispose()); // the last one that gives its place back has the highest
        using BufferPool<byte> next = BufferPool<byte>.Create();
        next.Rent(1000).Return();
        Assert.InRange(next.Core.Buckets().Single().Id, 0, highest - 900);
    }

    [Fact]
    public void A_new_pool_in_the_place_of_a_dead_one_never_serves_the_dead_one_s_buffers()
    {
        using ParkedThread other = new();
        for (int round = 0; round < 200; round++)
        {
            byte[] dead;
            using (BufferPool<byte> first = BufferPool<byte>.Create(new() { Name = $"dead {round}" }))
            {
                dead = other.Run(() =>
                {
                    BufferLease<byte> lease = first.Rent(100);
                    byte[] array = lease.Segment.Array!;
                    lease.Return();
                    return array;
                });
                first.Rent(100).Return();
            }

            using BufferPool<byte> second = BufferPool<byte>.Create(new() { Name = $"new {round}" });
            other.Run(() =>
            {
                BufferLease<byte> lease = second.Rent(100);
                Assert.NotSame(dead, lease.Segment.Array);
                lease.Return();
            });
            Assert.Equal((1, 1), (second.GetStatistics().Rented, second.GetStatistics().Returned));
            second.Validate();
        }
    }

    private static void Grow(bool dispose, int pools)
    {
        const int Count = 100;
        Threads.RunAll(Count, thread =>
        {
            for (int i = 0; i < pools / Count; i++)
            {
                MakeAndUse(dispose);
            }
        });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void MakeAndUse(bool dispose)
    {
        BufferPool<byte> pool = BufferPool<byte>.Create();
        BufferLease<byte> first = pool.Rent(1000);
        BufferLease<byte> second = pool.Rent(5000);
        first.Return();
        second.Return();
        if (dispose)
        {
            pool.Dispose();
        }
    }

    private static long Settled()
    {
        for (int i = 0; i < 5; i++)
        {
            Eventually.Collect();
            Trimmer.Epoch(all: true);
        }

        return GC.GetTotalMemory(forceFullCollection: true);
    }
}

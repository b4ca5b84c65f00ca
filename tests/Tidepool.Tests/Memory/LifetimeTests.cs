using System.Buffers;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Memory;

[Collection(SharedPoolsCollection.Name)]
public sealed class LifetimeTests
{
    public static TheoryData<bool, bool> Ways => new() { { false, false }, { false, true }, { true, false }, { true, true } };

    [Theory]
    [MemberData(nameof(Ways))]
    public void No_timer_and_no_static_holds_a_pool(bool dispose, bool parkedThreadHasUsedIt)
    {
        using ParkedThread parked = new();
        WeakReference[] parts = Use(dispose, parkedThreadHasUsedIt ? parked : null);
        Eventually.TrueAfterCollections(() => !parts[0].IsAlive, "the pool to be collected");
    }

    [Fact]
    public void The_buffers_of_a_dropped_pool_are_collected_though_a_parked_thread_has_used_it()
    {
        using ParkedThread parked = new();
        WeakReference[] parts = Use(dispose: false, parked);
        Eventually.TrueAfterCollections(
            () =>
            {
                Trimmer.Epoch(all: false);
                return Array.TrueForAll(parts, p => !p.IsAlive);
            },
            "the pool and its buffers to be collected");
    }

    [Fact]
    public void The_buffers_of_a_disposed_pool_are_collected_at_once()
    {
        using ParkedThread parked = new();
        WeakReference[] parts = Use(dispose: true, parked);
        Eventually.TrueAfterCollections(() => Array.TrueForAll(parts, p => !p.IsAlive), "the pool and its buffers to be collected");
    }

    [Fact]
    public void A_dropped_pool_gives_its_idle_buffers_to_its_source()
    {
        using NativeTestSource<byte> source = new();
        Drop(source);
        Eventually.TrueAfterCollections(() => source.Live == 0, "the native buffers of a dropped pool to be freed");

        static void Drop(NativeTestSource<byte> source)
        {
            BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source });
            for (int i = 1; i < 20; i++)
            {
                pool.Rent(i * 50).Return();
            }

            Assert.NotEqual(0, source.Live);
        }
    }

    [Fact]
    public void A_lease_that_is_out_keeps_its_pool_working()
    {
        using NativeTestSource<byte> source = new();
        BufferLease<byte> lease = RentAndForgetThePool(source);
        for (int i = 0; i < 3; i++)
        {
            Eventually.Collect();
            Assert.Equal(-1, lease.Span.IndexOfAnyExcept((byte)9));
        }

        lease.Return();
        Eventually.TrueAfterCollections(() => source.Live == 0, "the last buffer to be freed");
    }

    [Fact]
    public void A_dropped_lease_is_collected_with_its_buffer()
    {
        BufferPool<byte> pool = BufferPool<byte>.Create(new() { Name = "leaky" });
        WeakReference buffer = Leak(pool);
        Eventually.TrueAfterCollections(() => !buffer.IsAlive, "the buffer of a dropped lease to be collected");
        Assert.Equal(1, pool.GetStatistics().Leased);
        pool.Dispose();

        static WeakReference Leak(BufferPool<byte> pool) => new(pool.Rent(5000).Segment.Array);
    }

    [Fact]
    public void Memory_pools_are_collected_when_they_are_dropped()
    {
        WeakReference[] pools = Make();
        Eventually.TrueAfterCollections(() => Array.TrueForAll(pools, p => !p.IsAlive), "the dropped memory pools to be collected");

        static WeakReference[] Make()
        {
            MemoryPool<byte>[] pools =
            [
                BufferPool<byte>.Create().AsMemoryPool(),
                new PooledMemoryPool<byte>(BufferPool<byte>.Create(), OwnerReuse.Guarded),
                new SlabMemoryPool<byte>(),
                new PinnedMemoryPool<byte>(),
            ];
            foreach (MemoryPool<byte> pool in pools)
            {
                pool.Rent().Dispose();
            }

            return [.. pools.Select(p => new WeakReference(p))];
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static BufferLease<byte> RentAndForgetThePool(NativeTestSource<byte> source)
    {
        BufferLease<byte> lease = BufferPool<byte>.Create(new() { Source = source }).Rent(500);
        lease.Span.Fill(9);
        return lease;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] Use(bool dispose, ParkedThread? parked)
    {
        BufferPool<byte> pool = BufferPool<byte>.Create(new() { Name = "short-lived" });
        List<WeakReference> parts = [new WeakReference(pool)];
        Rent(pool, parts);
        parked?.Run(() => Rent(pool, parts));
        if (dispose)
        {
            pool.Dispose();
        }

        return [.. parts];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Rent(BufferPool<byte> pool, List<WeakReference> parts)
    {
        BufferLease<byte> lease = pool.Rent(1000);
        byte[] raw = pool.AsArrayPool().Rent(1000);
        parts.Add(new WeakReference(lease.Segment.Array));
        parts.Add(new WeakReference(raw));
        pool.AsMemoryPool().Rent(1000).Dispose();
        pool.AsArrayPool().Return(raw);
        lease.Return();
    }
}

using System.Buffers;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Memory;

/// <summary>Native memory that a renter dropped: no collector frees it, so the pool must, and exactly once.</summary>
public sealed class NativeLifetimeTests
{
    public static TheoryData<int, PoolChecks> Modes => new()
    {
        { 64, PoolChecks.Default },
        { 0, PoolChecks.Default },
        { 64, PoolChecks.Off },
        { 64, PoolChecks.Full },
    };

    [Theory]
    [MemberData(nameof(Modes))]
    public void Every_dropped_lease_is_freed_and_reported(int sampling, PoolChecks checks)
    {
        using NativeTestSource<byte> source = new();
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source, LeakSampling = sampling, Checks = checks });
        Drop(pool, 100);
        Eventually.TrueAfterCollections(() => source.Live == 0, "a hundred dropped native buffers to be freed");
        Assert.Equal(100, pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned));
    }

    [Fact]
    public void A_dropped_owner_and_a_dropped_unkept_buffer_are_freed_too()
    {
        using NativeTestSource<byte> source = new();
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source, MaxLength = 1000 });
        DropOwners(pool);
        Eventually.TrueAfterCollections(() => source.Live == 0, "dropped owners to be freed");
        Assert.Equal(3, pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned));
    }

    [Fact]
    public void A_lease_dropped_after_its_pool_was_disposed_is_freed_and_not_reported()
    {
        using NativeTestSource<byte> source = new();
        BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source });
        DropAndDispose(pool);
        Eventually.TrueAfterCollections(() => source.Live == 0, "the buffer to be freed");
        Assert.Equal(0, pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned));

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropAndDispose(BufferPool<byte> pool)
        {
            pool.Rent(100).Span[0] = 1;
            pool.Dispose();
        }
    }

    [Fact]
    public void A_buffer_that_a_finalizer_returns_stays_in_its_pool_and_is_not_freed()
    {
        using NativeTestSource<byte> source = new();
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source });
        for (int round = 1; round <= 3; round++)
        {
            DropRenter(pool);
            Eventually.TrueAfterCollections(() => pool.GetStatistics().Leased == 0, "the finalizer of the renter");
            Eventually.Collect();
            Eventually.Collect();
            Assert.Equal(1, source.Live);
            Assert.Equal(1, source.Made);
            Assert.Equal(0, pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned));
        }

        Drop(pool, 1);
        Eventually.TrueAfterCollections(
            () =>
            {
                pool.Trim(); // clears what stale places of a magazine refer to, as each epoch does
                return source.Live == 0;
            },
            "a real leak after that to be freed");
        Assert.Equal(1, pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned));
    }

    [Fact]
    public void The_stock_of_a_thread_handle_that_was_never_disposed_is_freed()
    {
        using NativeTestSource<byte> source = new();
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source });
        Threads.Run(() => DropHandle(pool));
        Assert.Equal(5, source.Made);
        Eventually.TrueAfterCollections(
            () =>
            {
                pool.Trim(); // the stock goes back to the pool
                return source.Live == 0;
            },
            "the stock of the handle to be freed");
        Assert.Equal(0, pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned));

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void DropHandle(BufferPool<byte> pool)
        {
            ThreadHandle<byte> handle = pool.GetThreadHandle(100);
            BufferLease<byte>[] leases = new BufferLease<byte>[5];
            for (int i = 0; i < leases.Length; i++)
            {
                leases[i] = handle.Rent(100);
            }

            foreach (BufferLease<byte> lease in leases)
            {
                handle.Return(lease);
            }
        }
    }

    [Fact]
    public void A_memory_keeps_its_buffer_alive_without_the_lease()
    {
        using NativeTestSource<byte> source = new();
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Source = source });
        HoldMemory(source, pool);
        Eventually.TrueAfterCollections(() => source.Live == 0, "the buffer to be freed with its memory");

        [MethodImpl(MethodImplOptions.NoInlining)]
        static Memory<byte> MemoryOfDroppedLease(BufferPool<byte> pool)
        {
            BufferLease<byte> lease = pool.Rent(100);
            lease.Span.Fill(7);
            return lease.Memory;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void HoldMemory(NativeTestSource<byte> source, BufferPool<byte> pool)
        {
            Memory<byte> memory = MemoryOfDroppedLease(pool);
            Eventually.Collect();
            Eventually.Collect();
            Assert.Equal(1, source.Live);
            Assert.Equal(-1, memory.Span.IndexOfAnyExcept((byte)7));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(BufferPool<byte> pool, int count)
    {
        for (int i = 0; i < count; i++)
        {
            pool.Rent(100).Span.Fill(1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropOwners(BufferPool<byte> pool)
    {
        pool.AsMemoryPool().Rent(100).Memory.Span.Fill(1);
        pool.Rent(100).ToOwner().Memory.Span.Fill(1);
        pool.Rent(5000).Span.Fill(1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DropRenter(BufferPool<byte> pool) => _ = new Renter(pool.Rent(100));

    private sealed class Renter(BufferLease<byte> lease)
    {
        ~Renter() => lease.Return();
    }
}

using System.Buffers;

namespace Tidepool.Native.Tests;

/// <summary>
/// Leases of native memory behave as leases of managed memory do, and cost no call of the library once a tier serves them.
/// </summary>
public sealed class NativeLeaseTests : PoolTest
{
    [Theory]
    [InlineData(16)]
    [InlineData(64)]
    [InlineData(512)]
    [InlineData(4096)]
    [InlineData(65_536)]
    public unsafe void Every_lease_of_an_aligned_pool_is_aligned(int alignment)
    {
        BufferPool<float> pool = NewPool<float>(new() { Source = NativeSource<float>.Instance, Alignment = alignment });
        List<BufferLease<float>> leases = [];
        foreach (int length in (int[])[1, 16, 17, 1000, 5000, 100_000])
        {
            for (int i = 0; i < 3; i++)
            {
                BufferLease<float> lease = pool.Rent(length);
                Assert.Equal(length, lease.Span.Length);
                fixed (float* first = lease.Span)
                {
                    Assert.Equal(0, (nint)first % alignment);
                }

                leases.Add(lease);
            }
        }

        leases.ForEach(l => l.Return());
    }

    [Theory]
    [InlineData(64)]
    [InlineData(4096)]
    [InlineData(100_000)]
    public void A_rental_that_a_tier_serves_allocates_nothing_and_makes_nothing(int length)
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = NativeSource<byte>.Instance, Checks = PoolChecks.Default });
        Assert.Equal(0, Allocations.Each(() =>
        {
            BufferLease<byte> lease = pool.Rent(length);
            lease.Span[length - 1] = 1;
            lease.Return();
        }));
        Assert.Equal(1, pool.GetStatistics().Missed);
    }

    [Fact]
    public void Native_leases_cannot_become_arrays()
    {
        BufferPool<int> pool = NewPool<int>(new() { Source = NativeSource<int>.Instance });
        using BufferLease<int> lease = pool.Rent(10);
        Assert.Throws<NotSupportedException>(() => lease.Segment);
        Assert.Throws<NotSupportedException>(() => lease.Detach());
        Assert.Throws<NotSupportedException>(() => pool.AsArrayPool());
        Assert.True(lease.IsActive);
    }

    [Fact]
    public void Idle_native_memory_goes_back_with_a_trim_and_from_the_library_to_the_system()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = NativeSource<byte>.Instance });
        long live = TidepoolNative.GetStatistics().LiveBytes;
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 200).Select(i => pool.Rent(i % 2 == 0 ? 5000 : 400_000))];
        Array.ForEach(leases, l => l.Span.Fill(1));
        Assert.True(TidepoolNative.GetStatistics().LiveBytes >= live + 40_000_000);
        Array.ForEach(leases, l => l.Return());
        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
        Assert.InRange(TidepoolNative.GetStatistics().LiveBytes, 0, live + 100_000);
        TidepoolNative.Trim();
        Assert.InRange(TidepoolNative.GetStatistics().CommittedBytes, 0, 30_000_000);
    }

    [Fact]
    public void Idle_native_memory_is_bounded_by_the_pools_budget()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = NativeSource<byte>.Instance, Budget = 1 << 20 });
        BufferLease<byte>[] leases = [.. Enumerable.Range(0, 1000).Select(_ => pool.Rent(10_000))];
        Array.ForEach(leases, l => l.Return());
        Assert.InRange(pool.GetStatistics().BytesIdle, 0, 1 << 20);
        Assert.True(pool.GetStatistics().Dropped > 800);
    }

    [Fact]
    public void Leases_that_cross_threads_come_home_with_their_content_whole()
    {
        BufferPool<int> pool = NewPool<int>(new() { Source = NativeSource<int>.Instance });
        for (int round = 0; round < 20; round++)
        {
            BufferLease<int>[] leases = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent(100))];
            for (int i = 0; i < leases.Length; i++)
            {
                leases[i].Span.Fill(i);
            }

            Threads.RunAll(2, thread =>
            {
                for (int i = thread; i < leases.Length; i += 2)
                {
                    Assert.Equal(-1, leases[i].Span.IndexOfAnyExcept(i));
                    leases[i].Return();
                }
            });
        }
    }

    [Fact]
    public void A_thread_that_ends_leaves_its_native_memory_to_others()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = NativeSource<byte>.Instance });
        for (int i = 0; i < 50; i++)
        {
            Threads.Run(() =>
            {
                BufferLease<byte>[] leases = [.. Enumerable.Range(0, 10).Select(_ => pool.Rent(20_000))];
                Array.ForEach(leases, l => l.Return());
            });
        }

        Assert.InRange(pool.GetStatistics().Missed, 10, 200);
        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public unsafe void A_native_memory_can_be_pinned_for_native_code()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = NativeSource<byte>.Instance });
        using BufferLease<byte> lease = pool.Rent(100);
        using MemoryHandle pin = lease.Memory[10..].Pin();
        fixed (byte* first = lease.Span)
        {
            Assert.True(pin.Pointer == first + 10);
        }
    }
}

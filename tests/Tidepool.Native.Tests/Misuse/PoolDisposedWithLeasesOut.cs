namespace Tidepool.Native.Tests.Misuse;

public sealed class PoolDisposedWithLeasesOut : NativeMisuseTest
{
    [Fact]
    public void The_memory_of_a_lease_outlives_its_pool_and_is_freed_on_its_return()
    {
        long live = NativePressure.Live;
        BufferPool<int> pool = BufferPool<int>.Create(new() { Source = NativeSource<int>.Instance });
        BufferLease<int> lease = pool.Rent(100_000);
        Memory<int> memory = lease.Memory;
        pool.Rent(50_000).Return();
        pool.Dispose();
        lease.Span.Fill(3);
        Assert.Equal(-1, memory.Span.IndexOfAnyExcept(3));
        Assert.Throws<ObjectDisposedException>(() => pool.Rent(1));
        lease.Return();
        Assert.Equal(live, NativePressure.Live);
        Assert.Throws<ObjectDisposedException>(() => memory.Span.Length);
    }
}

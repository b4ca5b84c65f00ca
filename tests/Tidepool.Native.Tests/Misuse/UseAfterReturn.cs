namespace Tidepool.Native.Tests.Misuse;

public sealed class UseAfterReturn : NativeMisuseTest
{
    [Fact]
    public void Span_memory_and_owner_of_a_returned_lease_throw()
    {
        BufferLease<int> lease = Pool.Rent(100);
        Memory<int> memory = lease.Memory;
        lease.Return();
        Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => lease.Memory);
        Assert.Throws<ObjectDisposedException>(() => lease.ToOwner());
        Assert.Throws<ObjectDisposedException>(() => memory.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => memory.Pin());
        Assert.Equal(5, Count(MisuseKind.UseAfterReturn));
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_lease_of_memory_that_went_back_to_the_library_throws_and_reads_nothing()
    {
        BufferLease<int> lease = Pool.Rent(100_000);
        Memory<int> memory = lease.Memory;
        lease.Return();
        Pool.Trim();
        TidepoolNative.Trim();
        Assert.Throws<ObjectDisposedException>(() => lease.Span.Length);
        Assert.Throws<ObjectDisposedException>(() => memory.Span.Length);
        Assert.Equal(0, Pool.GetStatistics().BytesIdle);
    }
}

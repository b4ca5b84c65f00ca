using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourceLeaseUsedAfterDispose : ResourceMisuseTest
{
    [Fact]
    public void Everything_throws_also_when_the_resource_has_a_new_renter_or_is_gone()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        lease.Dispose();
        AssertThrows(lease);
        ResourceLease<FakeResource> current = Rent(pool);
        AssertThrows(lease);
        Assert.Equal(0, current.Value.Ends);
        current.MarkBroken();
        current.Dispose();
        AssertThrows(lease);
        AssertThrows(default, "never rented");
        Assert.Equal((0L, 0), (pool.GetStatistics().Detached, pool.GetStatistics().Total));
        AssertOneRenterEach(pool);
    }

    private static void AssertThrows(ResourceLease<FakeResource> lease, string because = "disposed or detached")
    {
        Assert.Contains(because, Assert.Throws<ObjectDisposedException>(() => lease.Value).Message, StringComparison.Ordinal);
        Assert.Throws<ObjectDisposedException>(() => lease.Info);
        Assert.Throws<ObjectDisposedException>(() => lease.MarkBroken());
        Assert.Throws<ObjectDisposedException>(() => lease.Detach());
    }
}

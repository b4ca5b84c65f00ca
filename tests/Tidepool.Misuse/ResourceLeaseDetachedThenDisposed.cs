using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourceLeaseDetachedThenDisposed : ResourceMisuseTest
{
    [Fact]
    public void The_resource_is_the_callers_and_is_neither_returned_nor_ended()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        ResourceLease<FakeResource> copy = lease;
        FakeResource detached = lease.Detach();
        lease.Dispose();
        copy.Dispose();
        Assert.Throws<ObjectDisposedException>(() => copy.Detach());
        Assert.Throws<ObjectDisposedException>(() => copy.MarkBroken());
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((0, 1L, 2L), (statistics.Total, statistics.Detached, statistics.StaleDisposes));
        detached.Enter();
        using (ResourceLease<FakeResource> next = Rent(pool))
        {
            Assert.NotSame(detached, next.Value);
            lease.Dispose();
            Assert.True(next.IsActive);
        }

        AssertOneRenterEach(pool);
        Assert.Equal(0, detached.Ends);
    }
}

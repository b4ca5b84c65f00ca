using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourceLeaseMarkedBrokenAfterItsReturn : ResourceMisuseTest
{
    [Fact]
    public void It_throws_and_the_resource_of_the_new_renter_is_not_ended()
    {
        using var events = new Events();
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> old = Rent(pool);
        old.Dispose();
        Assert.Throws<ObjectDisposedException>(() => old.MarkBroken(new IOException("late")));
        ResourceLease<FakeResource> current = Rent(pool);
        Assert.Throws<ObjectDisposedException>(() => old.MarkBroken(new IOException("late")));
        FakeResource resource = current.Value;
        current.Dispose();
        Assert.Equal((0, 1, 0L), (resource.Ends, pool.GetStatistics().Idle, pool.GetStatistics().GetDestroyed(DestroyReason.Broken)));
        Assert.Empty(events.Of("ResourceMarkedBroken", pool.Name));
        AssertOneRenterEach(pool);
    }

    [Fact]
    public void A_mark_ends_with_its_rental_and_is_not_inherited_by_the_next_resource_of_the_place()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        lease.MarkBroken();
        lease.MarkBroken();
        lease.Dispose();
        Rent(pool).Dispose();
        Assert.Equal((1, 1L), (pool.GetStatistics().Idle, pool.GetStatistics().GetDestroyed(DestroyReason.Broken)));
        AssertOneRenterEach(pool);
    }
}

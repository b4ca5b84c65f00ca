using System.Runtime.CompilerServices;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

/// <summary>
/// The slot of one resource lease with the ticket of another, as a thread reads them out of a field that another thread is replacing.
/// </summary>
public sealed class TornResourceLeaseTests : ResourceTest
{
    [Fact]
    public void It_is_no_lease_of_either_resource()
    {
        ResourcePool<FakeResource> pool = NewPool();
        ResourceLease<FakeResource> first = pool.Rent(Second);
        ResourceLease<FakeResource> second = pool.Rent(Second);
        var torn = new ResourceLease<FakeResource>(first.Slot!, second.Ticket);
        Assert.False(torn.IsActive);
        Assert.Throws<ObjectDisposedException>(() => torn.Value);
        Assert.Throws<ObjectDisposedException>(() => torn.Info);
        Assert.Throws<ObjectDisposedException>(() => torn.MarkBroken());
        Assert.Throws<ObjectDisposedException>(() => torn.Detach());
        torn.Dispose();
        Assert.Equal(1, pool.GetStatistics().StaleDisposes);
        Assert.True(first.IsActive && second.IsActive);
        first.Dispose();
        second.Dispose();
    }

    [Fact]
    public void Its_disposal_does_not_end_the_watch_over_a_lease_that_is_dropped_later()
    {
        ResourcePool<FakeResource> pool = NewPool(new() { MaxSize = 2, ReclaimLeaks = true });
        DisposeTornAndDrop(pool);
        Eventually.TrueAfterCollections(() => pool.GetStatistics().Reclaimed == 1, "the dropped lease to be found");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void DisposeTornAndDrop(ResourcePool<FakeResource> pool)
    {
        ResourceLease<FakeResource> dropped = pool.Rent(Eventually.Limit);
        using ResourceLease<FakeResource> other = pool.Rent(Eventually.Limit);
        ResourceLease<FakeResource> torn = other;
        Unsafe.As<ResourceLease<FakeResource>, object>(ref torn) = Unsafe.As<ResourceLease<FakeResource>, object>(ref dropped);
        torn.Dispose();
        Assert.True(dropped.IsActive && other.IsActive);
    }
}

using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourceLeaseNeverReturned : ResourceMisuseTest
{
    [Fact]
    public async Task It_is_reported_once_with_the_place_of_its_rental_and_a_late_return_is_told()
    {
        using var events = new Events();
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, capture: LeakCapture.CallSite, leakAfter: 1000));
        ResourceLease<FakeResource> lease = RentAtThisPlace(pool);
        Time.Advance(100_000);
        Time.Advance(100_000);
        Assert.Contains(
            nameof(RentAtThisPlace),
            (string)Assert.Single(events.Of("LeaseOverdue", pool.Name)).Payload![2]!,
            StringComparison.Ordinal);
        ResourcePoolTimeoutException timeout =
            await Assert.ThrowsAsync<ResourcePoolTimeoutException>(async () => await pool.RentAsync(TimeSpan.Zero));
        Assert.Contains(nameof(RentAtThisPlace), Assert.Single(timeout.OldestHolders), StringComparison.Ordinal);
        Assert.Equal(TimeSpan.FromSeconds(200), timeout.OldestLeaseAge);
        Assert.Empty(events.Of("LeaseRecovered", pool.Name));
        lease.Dispose();
        Assert.Single(events.Of("LeaseRecovered", pool.Name));
        Assert.Equal(1, pool.GetStatistics().Overdue);
        AssertOneRenterEach(pool);
    }

    [Fact]
    public void With_reclaim_the_place_comes_back_and_the_resource_is_ended_and_not_rented_again()
    {
        using var events = new Events();
        ResourcePool<FakeResource> pool = NewPool(
            new() { Name = "dropped", MaxSize = 1, ReclaimLeaks = true, LeakCapture = LeakCapture.CallSite });
        Drop(pool);
        Eventually.TrueAfterCollections(() => pool.GetStatistics().Reclaimed == 1, "the dropped lease to be found");
        using (ResourceLease<FakeResource> next = pool.Rent(Eventually.Limit))
        {
            Assert.Equal((2, 1), (next.Value.Number, Policy.Made.First().Ends));
        }

        Eventually.True(() => events.Of("LeaseReclaimed", "dropped").Count == 1, "the report");
        Assert.Contains(nameof(Drop), (string)events.Of("LeaseReclaimed", "dropped")[0].Payload![1]!, StringComparison.Ordinal);
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Leaked));
    }

    [Fact]
    public void With_reclaim_a_lease_that_is_held_or_was_returned_is_never_reclaimed()
    {
        ResourcePool<FakeResource> pool = NewPool(new() { MaxSize = 2, ReclaimLeaks = true });
        ResourceLease<FakeResource> held = pool.Rent(Eventually.Limit);
        UseAndReturn(pool);
        Eventually.Collect();
        Eventually.Collect();
        Assert.Equal((0L, 1), (pool.GetStatistics().Reclaimed, pool.GetStatistics().Leased));
        held.Value.Enter();
        held.Value.Leave();
        held.Dispose();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(ResourcePool<FakeResource> pool) => pool.Rent(Eventually.Limit);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void UseAndReturn(ResourcePool<FakeResource> pool) => pool.Rent(Eventually.Limit).Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ResourceLease<FakeResource> RentAtThisPlace(ResourcePool<FakeResource> pool) =>
        pool.RentAsync().AsTask().GetAwaiter().GetResult();
}

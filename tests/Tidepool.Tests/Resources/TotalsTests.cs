using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

/// <summary>The totals of times: how long leases were held, and how long rentals waited.</summary>
public sealed class TotalsTests : ResourceTest
{
    [Theory]
    [InlineData(ResetMode.None)]
    [InlineData(ResetMode.OnReturn)]
    [InlineData(ResetMode.OnRent)]
    [InlineData(ResetMode.Background)]
    public void Held_time_is_that_of_all_leases_that_ended_by_whatever_way(ResetMode reset)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3, reset: reset, validateAfter: 1_000_000));
        for (int i = 0; i < 5; i++)
        {
            ResourceLease<FakeResource> lease = Rent(pool); // the second and later ones from the hot slot
            Time.Advance(TimeSpan.FromMilliseconds(30));
            lease.Dispose();
            Time.Advance(TimeSpan.FromMilliseconds(7)); // idle
        }

        Assert.Equal(TimeSpan.FromMilliseconds(150), pool.GetStatistics().HeldTime);
        ResourceLease<FakeResource> broken = Rent(pool);
        ResourceLease<FakeResource> detached = Rent(pool);
        ResourceLease<FakeResource> held = Rent(pool);
        Time.Advance(TimeSpan.FromMilliseconds(100));
        broken.MarkBroken();
        broken.Dispose();
        detached.Detach();
        Assert.Equal(TimeSpan.FromMilliseconds(350), pool.GetStatistics().HeldTime); // not that of the one that is out
        held.Dispose();
        Assert.Equal(TimeSpan.FromMilliseconds(450), pool.GetStatistics().HeldTime);
    }

    [Fact]
    public async Task Waits_are_those_of_rentals_that_stood_in_the_queue_and_got_one()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>> first = Wait(pool);
        Time.Advance(TimeSpan.FromMilliseconds(20));
        Task<ResourceLease<FakeResource>> second = Wait(pool);
        using var cancellation = new CancellationTokenSource();
        Task<ResourceLease<FakeResource>> third = pool.RentAsync(cancellation.Token).AsTask();
        Time.Advance(TimeSpan.FromMilliseconds(30));
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => third);
        long before = pool.GetStatistics().Waited;
        lease.Dispose();
        lease = await Soon(first);
        Time.Advance(TimeSpan.FromMilliseconds(50));
        lease.Dispose();
        lease = await Soon(second);
        lease.Dispose();
        ResourcePoolStatistics end = pool.GetStatistics();
        Assert.Equal((before + 2, TimeSpan.FromMilliseconds(50 + 80)), (end.Waited, end.WaitTime));
        PoolLoad load = PoolLoad.Between(default, end, TimeSpan.FromSeconds(2));
        Assert.Equal(2, load.RentalsPerSecond); // the one that was cancelled asked, too
    }

    [Fact]
    public async Task Rentals_that_were_told_of_a_failed_creation_are_counted_as_asked_for()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Rent(pool).Dispose();
        ResourceLease<FakeResource> lease = Rent(pool);
        lease.MarkBroken();
        lease.Dispose();
        Policy.CreateError = new IOException();
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());

        ResourcePoolStatistics end = pool.GetStatistics();
        Assert.Equal((2L, 1L), (end.Rented, end.Failed));
        Assert.Equal(3, PoolLoad.Between(default, end, Second).RentalsPerSecond);
    }
}

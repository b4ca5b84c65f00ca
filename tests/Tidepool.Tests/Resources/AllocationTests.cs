using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

public sealed class AllocationTests : ResourceTest
{
    [Fact]
    public async Task Renting_an_idle_resource_and_returning_it_allocates_nothing()
    {
        var pool = new ResourcePool<FakeResource>(
            Policy, new ResourcePoolOptions { MaxSize = 2, ValidateAfterIdle = Timeout.InfiniteTimeSpan });
        Watch(pool);
        (await pool.RentAsync()).Dispose();
        Assert.Equal(0, Allocations.Each(() =>
        {
            ValueTask<ResourceLease<FakeResource>> rental = pool.RentAsync();
            if (!rental.IsCompletedSuccessfully)
            {
                throw new InvalidOperationException("an idle resource had to be waited for");
            }

#pragma warning disable CA2012 // it has completed
            rental.Result.Dispose();
#pragma warning restore CA2012
            pool.Rent(Second).Dispose();
            pool.TryRent(out ResourceLease<FakeResource> lease);
            lease.Dispose();
        }));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Renting_an_idle_resource_and_returning_it_takes_no_lock(bool isForEver)
    {
        var options = new ResourcePoolOptions { MaxSize = 2, ValidateAfterIdle = TimeSpan.FromHours(1) };
        if (isForEver)
        {
            options = new()
            {
                MaxSize = 2,
                ValidateAfterIdle = Timeout.InfiniteTimeSpan,
                IdleTimeout = Timeout.InfiniteTimeSpan,
                MaxLifetime = Timeout.InfiniteTimeSpan,
            };
        }

        var pool = new ResourcePool<FakeResource>(Policy, options);
        Watch(pool);
        (await pool.RentAsync()).Dispose();
        (await pool.RentAsync()).Dispose();
        int rentals = 0;
        var renter = new Thread(() =>
        {
            for (; rentals < 10 && pool.TryRent(out ResourceLease<FakeResource> lease); rentals++)
            {
                lease.Dispose();
            }
        });
        bool hasEnded;
        using (pool.Core.Gate.Enter())
        {
            renter.Start();
            hasEnded = renter.Join(TimeSpan.FromSeconds(20)); // who needs the lock waits for it until then
        }

        renter.Join();
        Assert.True(hasEnded, "a rental waited for the lock");
        Assert.Equal(10, rentals);
    }

    [Fact]
    public async Task A_rental_that_waits_uses_the_same_node_again()
    {
        var pool = new ResourcePool<FakeResource>(
            Policy, new ResourcePoolOptions { MaxSize = 1, ValidateAfterIdle = Timeout.InfiniteTimeSpan });
        Watch(pool);
        ResourceLease<FakeResource> lease = await pool.RentAsync();
        double bytes = Allocations.Each(() =>
        {
#pragma warning disable CA2012 // taken once, when it has completed
            ValueTask<ResourceLease<FakeResource>> rental = pool.RentAsync();
            lease.Dispose();
            lease = rental.Result;
#pragma warning restore CA2012
        });
        lease.Dispose();
        Assert.Equal(0, bytes);
    }
}

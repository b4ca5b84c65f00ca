using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

public sealed class AllocationTests : ResourceTest
{
    [Fact]
    public async Task Renting_an_idle_resource_and_returning_it_allocates_nothing()
    {
        var pool = new ResourcePool<FakeResource>(Policy, new ResourcePoolOptions<FakeResource> { MaxSize = 2, ValidateAfterIdle = Timeout.InfiniteTimeSpan });
        Watch(pool);
        (await pool.RentAsync()).Dispose();
        long bytes = 0;
        for (int round = 0; round < 3; round++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 1000; i++)
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
            }

            bytes = GC.GetAllocatedBytesForCurrentThread() - before;
        }

        Assert.Equal(0, bytes);
    }

    [Fact]
    public async Task A_rental_that_waits_uses_the_same_node_again()
    {
        var pool = new ResourcePool<FakeResource>(Policy, new ResourcePoolOptions<FakeResource> { MaxSize = 1, ValidateAfterIdle = Timeout.InfiniteTimeSpan });
        Watch(pool);
        ResourceLease<FakeResource> lease = await pool.RentAsync();
        long bytes = 0;
        for (int round = 0; round < 3; round++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 1000; i++)
            {
#pragma warning disable CA2012 // taken once, when it has completed
                ValueTask<ResourceLease<FakeResource>> rental = pool.RentAsync();
                lease.Dispose();
                lease = rental.Result;
#pragma warning restore CA2012
            }

            bytes = GC.GetAllocatedBytesForCurrentThread() - before;
        }

        lease.Dispose();
        Assert.Equal(0, bytes);
    }
}

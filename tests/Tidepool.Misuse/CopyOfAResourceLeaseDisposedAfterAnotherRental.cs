using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class CopyOfAResourceLeaseDisposedAfterAnotherRental : ResourceMisuseTest
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_new_renter_keeps_the_resource_and_who_waits_goes_on_waiting(bool reclaims)
    {
        ResourcePool<FakeResource> pool = NewPool(new()
        {
            MaxSize = 1,
            ReclaimLeaks = reclaims,
            ResetMode = ResetMode.None,
            TimeProvider = Time,
            Executor = static item => item.Execute(),
        });
        ResourceLease<FakeResource> old = Rent(pool);
        ResourceLease<FakeResource> copy = old;
        old.Dispose();
        ResourceLease<FakeResource> current = Rent(pool);
        current.Value.Enter();
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        copy.Dispose();
        await copy.DisposeAsync();
        Assert.NotEqual(copy, current);
        Assert.Equal((false, true, false), (copy.IsActive, current.IsActive, waiting.IsCompleted));
        Assert.Equal(2, pool.GetStatistics().StaleDisposes);
        current.Value.Leave();
        current.Dispose();
        copy.Dispose();
        ResourceLease<FakeResource> next = await Soon(waiting);
        copy.Dispose();
        Assert.True(next.IsActive);
        next.Dispose();
        AssertOneRenterEach(pool);
    }
}

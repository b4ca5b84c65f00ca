using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourceLeaseDisposedTwice : ResourceMisuseTest
{
    [Theory]
    [InlineData(ResetMode.None)]
    [InlineData(ResetMode.Background)]
    [InlineData(ResetMode.OnReturn)]
    [InlineData(ResetMode.OnRent)]
    public async Task The_second_disposal_is_counted_and_the_resource_is_returned_and_reset_once(ResetMode reset)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2, reset: reset));
        ResourceLease<FakeResource> lease = Rent(pool);
        FakeResource resource = lease.Value;
        await lease.DisposeAsync();
        lease.Dispose();
        await lease.DisposeAsync();
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((2, 1, 1, 0), (statistics.StaleDisposes, statistics.Returned, statistics.Idle, statistics.Leased));
        Assert.Equal((reset is ResetMode.Background or ResetMode.OnReturn ? 1 : 0, 0), (resource.Resets, resource.Ends));
        AssertOneRenterEach(pool);
    }

    [Fact]
    public async Task A_default_lease_is_over_from_the_start()
    {
        default(ResourceLease<FakeResource>).Dispose();
        await default(ResourceLease<FakeResource>).DisposeAsync();
        Assert.False(default(ResourceLease<FakeResource>).IsActive);
    }
}

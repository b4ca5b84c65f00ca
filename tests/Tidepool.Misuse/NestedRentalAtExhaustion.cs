using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class NestedRentalAtExhaustion : ResourceMisuseTest
{
    [Fact]
    public async Task It_ends_by_timeout_says_so_and_leaves_the_pool_as_it_was()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2));
        ResourceLease<FakeResource> outer = Rent(pool);
        ResourceLease<FakeResource> other = Rent(pool);
        Task<ResourceLease<FakeResource>> nested = Wait(pool, Second);
        Time.Advance(1000);
        ResourcePoolTimeoutException timeout = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(nested));
        Assert.Contains("a nested rental) may be waiting for itself", timeout.Message, StringComparison.Ordinal);
        Assert.Equal((2, 0), (timeout.Statistics.Leased, pool.GetStatistics().Waiting));
        outer.Dispose();
        other.Dispose();
        AssertOneRenterEach(pool);
    }

    [Fact]
    public void A_parked_thread_ends_the_same_way()
    {
        ResourcePool<FakeResource> pool = NewPool(new() { MaxSize = 1 });
        using ResourceLease<FakeResource> outer = pool.Rent(Eventually.Limit);
        ResourcePoolTimeoutException timeout = Assert.Throws<ResourcePoolTimeoutException>(() => pool.Rent(TimeSpan.FromMilliseconds(20)));
        Assert.Contains("nested rental", timeout.Message, StringComparison.Ordinal);
        Assert.Throws<ResourcePoolTimeoutException>(() => pool.Rent(TimeSpan.Zero));
    }

    [Fact]
    public async Task Over_keys_it_names_the_limit_of_all()
    {
        await using KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        using KeyedResourceLease<string, FakeResource> outer = await pool.RentAsync("a");
        Task<KeyedResourceLease<string, FakeResource>> nested = pool.RentAsync("b", Second).AsTask();
        Time.Advance(1000);
        ResourcePoolTimeoutException timeout = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(nested));
        Assert.Contains("MaxTotal = 1", timeout.Message, StringComparison.Ordinal);
    }
}

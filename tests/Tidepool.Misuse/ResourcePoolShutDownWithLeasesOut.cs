using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourcePoolShutDownWithLeasesOut : ResourceMisuseTest
{
    [Fact]
    public async Task They_stay_usable_and_the_shutdown_says_that_they_are_out()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool), Rent(pool)];
        FakeResource[] resources = [.. leases.Select(static l => l.Value)];
        leases[2].Dispose();
        Task<bool> shutdown = pool.ShutdownAsync(Second);
        Assert.Equal((1, 2), (resources[2].Ends, pool.GetStatistics().Leased));
        Time.Advance(1000);
        Assert.False(await Soon(shutdown));
        Assert.All(leases[..2], static l => l.Value.Enter());
        Assert.All(leases[..2], static l => l.Value.Leave());
        FakeResource detached = leases[0].Detach();
        Assert.False(await Soon(pool.ShutdownAsync(TimeSpan.Zero)));
        leases[1].Dispose();
        Assert.True(await Soon(pool.ShutdownAsync(TimeSpan.Zero)));
        Assert.Equal((0, 1), (detached.Ends, resources[1].Ends));
    }
}

using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ResourceLeaseDisposedAfterShutdown : ResourceMisuseTest
{
    [Theory]
    [InlineData(ResetMode.None)]
    [InlineData(ResetMode.Background)]
    [InlineData(ResetMode.OnReturn)]
    public async Task The_resource_is_ended_once_and_nothing_is_left(ResetMode reset)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2, reset: reset));
        ResourceLease<FakeResource> lease = Rent(pool);
        FakeResource resource = lease.Value;
        await pool.DisposeAsync();
        Assert.Equal(0, resource.Ends);
        lease.Dispose();
        await lease.DisposeAsync();
        Assert.Equal((1, DestroyReason.Shutdown), (resource.Ends, Policy.Destroyed.Single().Reason));
        Assert.Equal((0, 1L), (pool.GetStatistics().Total, pool.GetStatistics().StaleDisposes));
        Assert.Throws<ResourcePoolShutdownException>(() => pool.TryRent(out _));
        Assert.Equal(0, Time.Timers);
    }

    [Fact]
    public async Task A_reset_that_is_still_under_way_is_told_to_stop_and_ends_with_its_resource()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.Background));
        CancellationToken stop = default;
        TaskCompletionSource<bool> hang = new();
        Policy.OnReset = (_, token) =>
        {
            stop = token;
            return new(hang.Task);
        };
        Rent(pool).Dispose();
        Task<bool> shutdown = pool.ShutdownAsync(TimeSpan.Zero);
        Assert.True(stop.IsCancellationRequested);
        FakePolicy.Open(hang);
        Assert.True(await Soon(shutdown));
        Assert.Equal(1, Policy.Made.Single().Ends);
    }
}

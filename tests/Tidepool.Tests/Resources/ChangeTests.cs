using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

public sealed class ChangeTests : ResourceTest
{
    [Fact]
    public async Task Nothing_made_before_a_clear_is_rented_after_it()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
        leases[1].Dispose();
        Policy.CreateGate = FakePolicy.DirectGate();
        Task<ResourceLease<FakeResource>>[] waiting = [Task.FromResult(Rent(pool)), Wait(pool)];
        await pool.ClearAsync().WaitAsync(Eventually.Limit);
        leases[0].Dispose();
        waiting[0].Result.Dispose();
        TaskCompletionSource gate = Policy.CreateGate;
        Policy.CreateGate = null;
        FakePolicy.Open(gate);
        ResourceLease<FakeResource> fresh = await Soon(waiting[1]);
        Assert.Equal(1, fresh.Info.Generation);
        fresh.Dispose();
        Assert.Equal(3, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared));
        Assert.Equal(0, pool.GetStatistics().CreateFailures);
        Assert.Equal(1, pool.GetStatistics().Total);
    }

    [Fact]
    public async Task A_clear_ends_when_the_idle_ones_are_gone()
    {
        TaskCompletionSource end = new();
        Policy.OnDestroy = _ => new(end.Task);
        ResourcePool<FakeResource> pool = NewPool();
        Rent(pool).Dispose();
        Task clear = pool.ClearAsync();
        Assert.False(clear.IsCompleted);
        FakePolicy.Open(end);
        await clear.WaitAsync(Eventually.Limit);
        await pool.ClearAsync().WaitAsync(Eventually.Limit);
    }

    [Fact]
    public async Task A_clear_of_one_pool_does_not_touch_another()
    {
        ResourcePool<FakeResource> one = NewPool();
        ResourcePool<FakeResource> other = NewPool();
        Rent(one).Dispose();
        Rent(other).Dispose();
        await one.ClearAsync();
        Assert.Equal((0, 1), (one.GetStatistics().Idle, other.GetStatistics().Idle));
    }

    [Fact]
    public async Task A_renewal_replaces_all_over_its_interval()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 10));
        ResourceLease<FakeResource>[] leases = [.. Enumerable.Range(0, 10).Select(_ => Rent(pool))];
        Array.ForEach(leases, static l => l.Dispose());
        Task renewal = pool.RenewAsync(TimeSpan.FromSeconds(100));
        Time.Advance(TimeSpan.FromSeconds(51));
        Assert.Equal(5, pool.GetStatistics().GetDestroyed(DestroyReason.Lifetime));
        Assert.False(renewal.IsCompleted);
        Time.Advance(TimeSpan.FromSeconds(49));
        await renewal.WaitAsync(Eventually.Limit);
        Assert.Equal(10, pool.GetStatistics().GetDestroyed(DestroyReason.Lifetime));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => pool.RenewAsync(TimeSpan.Zero));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => pool.RenewAsync(Timeout.InfiniteTimeSpan));
    }

    [Fact]
    public async Task A_smaller_pool_ends_idle_ones_at_once_and_leased_ones_on_return_and_a_larger_one_serves_at_once()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 4));
        ResourceLease<FakeResource>[] leases = [.. Enumerable.Range(0, 4).Select(_ => Rent(pool))];
        leases[3].Dispose();
        pool.Resize(0, 1);
        Assert.Equal((3, 3), (pool.GetStatistics().Total, pool.GetStatistics().Leased));
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        leases[0].Dispose();
        leases[1].Dispose();
        Assert.False(waiting.IsCompleted);
        Assert.Equal(3, pool.GetStatistics().GetDestroyed(DestroyReason.Resized));
        pool.Resize(0, 2);
        (await Soon(waiting)).Dispose();
        leases[2].Dispose();
        pool.Resize(2, 2);
        Assert.Equal(2, pool.GetStatistics().Total);
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Resize(0, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Resize(3, 2));
        Assert.Equal((2, 2), (pool.GetStatistics().MinSize, pool.GetStatistics().MaxSize));
    }

    [Theory]
    [InlineData(ResetMode.None)]
    [InlineData(ResetMode.Background)]
    public async Task The_invariants_hold_while_a_smaller_pool_has_more_leases_out_than_places_and_when_they_are_back(ResetMode reset)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 6, creators: 6, reset: reset));
        ResourceLease<FakeResource>[] leases = [.. Enumerable.Range(0, 5).Select(_ => Rent(pool))];
        leases[4].Dispose();
        TaskCompletionSource gate = Policy.CreateGate = FakePolicy.DirectGate();
        Task<ResourceLease<FakeResource>>[] waiting = [Task.FromResult(Rent(pool)), Wait(pool)];
        pool.Resize(0, 2);
        pool.Validate();
        Assert.Equal((5, 1), (pool.GetStatistics().Total, pool.GetStatistics().Creating));
        for (int i = 0; i < 4; i++)
        {
            leases[i].Dispose();
            pool.Validate();
        }

        FakePolicy.Open(gate);
        pool.Validate();
        Array.ForEach(await Task.WhenAll(waiting).WaitAsync(Eventually.Limit), static l => l.Dispose());
        pool.Validate();
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.InRange(statistics.Total, 1, 2);
        Assert.Equal(statistics.Idle, statistics.Total);
        Assert.Equal(statistics.Total, Policy.Alive);
        pool.Resize(0, 1);
        pool.Validate();
        Assert.Equal((1, 1), (pool.GetStatistics().Total, pool.GetStatistics().Idle));
    }

    [Fact]
    public async Task A_warm_up_grows_the_pool_and_fails_with_the_first_failure()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 5));
        await pool.WarmUpAsync(3).WaitAsync(Eventually.Limit);
        Assert.Equal(3, pool.GetStatistics().Idle);
        Policy.CreateError = new IOException("down");
        await Assert.ThrowsAsync<ResourceCreateException>(() => pool.WarmUpAsync(5).WaitAsync(Eventually.Limit));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => pool.WarmUpAsync(6));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => pool.WarmUpAsync(-1));
    }

    [Fact]
    public async Task After_a_shutdown_nothing_lives_and_every_rental_fails_with_that_reason()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        Task<bool> shutdown = pool.ShutdownAsync(Second);
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => Soon(waiting));
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(async () => await pool.RentAsync());
        Assert.Throws<ResourcePoolShutdownException>(() => pool.Rent(Second));
        Assert.Throws<ResourcePoolShutdownException>(() => pool.TryRent(out _));
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => pool.ClearAsync());
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => pool.WarmUpAsync(1));
        Assert.False(shutdown.IsCompleted);
        leases[0].Dispose();
        Time.Advance(999);
        leases[1].Dispose();
        Assert.True(await Soon(shutdown));
        Assert.Equal(0, pool.GetStatistics().Total);
        Assert.Equal(0, Time.Timers);
        Assert.True(await Soon(pool.ShutdownAsync(TimeSpan.Zero)));
        await pool.DisposeAsync();
    }

    [Fact]
    public async Task A_shutdown_from_inside_a_lease_says_that_a_lease_is_out_and_the_return_ends_the_rest()
    {
        ResourcePool<FakeResource> pool = NewPool();
        ResourceLease<FakeResource> lease = Rent(pool);
        await pool.DisposeAsync();
        Task<bool> shutdown = pool.ShutdownAsync(Second);
        Time.Advance(1000);
        Assert.False(await Soon(shutdown));
        lease.Value.Enter();
        lease.Value.Leave();
        lease.Dispose();
        Assert.Equal(1, Policy.Made.Single().Ends);
        Assert.True(await Soon(pool.ShutdownAsync(TimeSpan.Zero)));
        Assert.Equal(0, Time.Timers);
    }

    [Fact]
    public async Task A_shutdown_stops_creations_and_is_not_stuck_behind_one_that_hangs()
    {
        Policy.HonoursTokens = false;
        Policy.CreateGate = FakePolicy.DirectGate();
        ResourcePool<FakeResource> pool = NewPool();
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        Task<bool> shutdown = pool.ShutdownAsync(Second);
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => Soon(waiting));
        Assert.False(shutdown.IsCompleted);
        Time.Advance(5000);
        Assert.True(await Soon(shutdown));
        FakePolicy.Open(Policy.CreateGate);
        Assert.Equal(1, Policy.Made.Single().Ends);
    }

    [Fact]
    public async Task What_a_return_racing_with_a_change_does_happens_once()
    {
        for (int round = 0; round < 200; round++)
        {
            ResourcePool<FakeResource> pool = new(Policy, Options(max: 2));
            ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
            Task change = (round % 3) switch
            {
                0 => Task.Run(pool.ClearAsync),
                1 => Task.Run(() => pool.Resize(0, 1)),
                _ => Task.Run(() => pool.ShutdownAsync(TimeSpan.FromMinutes(1))),
            };
            leases[0].Dispose();
            leases[1].Dispose();
            await change.WaitAsync(Eventually.Limit);
            pool.Validate();
            await pool.DisposeAsync();
            Assert.Equal(0, Policy.Alive);
        }
    }

    [Fact]
    public async Task A_shutdown_ends_when_the_last_lease_is_detached()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<bool> shutdown = pool.ShutdownAsync(Timeout.InfiniteTimeSpan);
        Assert.False(shutdown.IsCompleted);
        lease.Detach();
        Assert.True(await Soon(shutdown));
        Assert.Equal(0, Time.Timers);
    }

    [Fact]
    public async Task A_shutdown_waits_for_leases_within_the_grace_and_for_ends_that_are_slow_beyond_it()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        TaskCompletionSource end = FakePolicy.DirectGate();
        Policy.OnDestroy = _ => new(end.Task);
        Task<bool> shutdown = pool.ShutdownAsync(Second);
        lease.Dispose();
        Time.Advance(1500);
        pool.Core.Close(out Task drained, out Task ended);
        Assert.Equal((true, false), (drained.IsCompleted, ended.IsCompleted));
        FakePolicy.Open(end);
        Assert.True(await Soon(shutdown));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    public async Task A_warm_up_beyond_what_the_pool_was_resized_to_ends_when_it_is_full(int before)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 10));
        await pool.WarmUpAsync(before).WaitAsync(Eventually.Limit);
        Policy.CreateGate = FakePolicy.DirectGate();
        Task warm = pool.WarmUpAsync(8);
        Assert.False(warm.IsCompleted);
        pool.Resize(0, 2);
        FakePolicy.Open(Policy.CreateGate);
        Policy.CreateGate = null;
        await warm.WaitAsync(Eventually.Limit);
        Assert.Equal(2, pool.GetStatistics().Total);
    }

    [Fact]
    public void A_smaller_pool_rents_no_more_than_its_size_while_others_are_still_out()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
        pool.Resize(0, 1);
        leases[0].Dispose();
        Assert.False(pool.TryRent(out ResourceLease<FakeResource> more), "two leases of a pool of one");
        more.Dispose();
        leases[1].Dispose();
        for (int i = 0; i < 3; i++)
        {
            Rent(pool).Dispose();
        }

        Assert.Equal((2, 1L), (Policy.Made.Count, pool.GetStatistics().GetDestroyed(DestroyReason.Resized)));
        Rent(pool).Dispose();
        Assert.True(pool.Core.State.Hot.IsReady, "the hot slot is not used again");
    }
}

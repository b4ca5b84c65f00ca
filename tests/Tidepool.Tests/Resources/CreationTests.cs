using System.Net.Sockets;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

public sealed class CreationTests : ResourceTest
{
    [Fact]
    public async Task Cancelling_the_requester_neither_cancels_nor_loses_the_creation()
    {
        Policy.CreateGate = FakePolicy.DirectGate();
        ResourcePool<FakeResource> pool = NewPool();
        using var cancellation = new CancellationTokenSource();
        Task<ResourceLease<FakeResource>> rental = Wait(pool, Second, cancellation.Token);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Soon(rental));
        Assert.Equal(1, pool.GetStatistics().Creating);
        FakePolicy.Open(Policy.CreateGate);
        Assert.Equal(1, pool.GetStatistics().Idle);
        Rent(pool).Dispose();
        Assert.Equal(1, Policy.Attempts);
    }

    [Fact]
    public async Task A_creation_serves_the_first_in_the_queue_whoever_asked_for_it()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2));
        ResourceLease<FakeResource> lease = Rent(pool);
        Policy.CreateGate = FakePolicy.DirectGate();
        Task<ResourceLease<FakeResource>> asked = Wait(pool);
        Task<ResourceLease<FakeResource>> second = Wait(pool);
        lease.Dispose();
        lease = await Soon(asked);
        Assert.False(second.IsCompleted);
        FakePolicy.Open(Policy.CreateGate);
        (await Soon(second)).Dispose();
        lease.Dispose();
    }

    [Fact]
    public async Task No_more_creations_run_at_a_time_than_allowed_for_renters_and_warm_up_together()
    {
        Policy.CreateGate = FakePolicy.DirectGate();
        ResourcePool<FakeResource> pool = NewPool(Options(max: 20, creators: 3));
        Task warm = pool.WarmUpAsync(10);
        Task<ResourceLease<FakeResource>>[] rentals = [.. Enumerable.Range(0, 12).Select(_ => Wait(pool))];
        Assert.Equal(3, Policy.Creating);
        TaskCompletionSource first = Policy.CreateGate;
        Policy.CreateGate = null;
        FakePolicy.Open(first);
        await Soon(Task.WhenAll(rentals));
        await warm.WaitAsync(Eventually.Limit);
        Assert.InRange(Policy.MostCreating, 1, 3);
        Array.ForEach(rentals, static r => r.Result.Dispose());
    }

    [Fact]
    public async Task No_more_is_created_than_the_demand_needed()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 10));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
        Policy.CreateGate = FakePolicy.DirectGate();
        Task<ResourceLease<FakeResource>>[] waiting = [Wait(pool), Wait(pool)];
        Assert.Equal(2, Policy.Creating);
        leases[0].Dispose();
        leases[1].Dispose();
        (await Soon(waiting[0])).Dispose();
        (await Soon(waiting[1])).Dispose();
        for (int i = 0; i < 5; i++)
        {
            Rent(pool).Dispose();
        }

        Assert.Equal(4, Policy.Attempts);
        FakePolicy.Open(Policy.CreateGate);
        Eventually.True(() => pool.GetStatistics().Idle == 4, "what was being created to lie idle");
    }

    [Fact]
    public async Task A_failed_creation_fails_exactly_one_waiter_and_says_why()
    {
        Policy.CreateGate = FakePolicy.DirectGate();
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Task<ResourceLease<FakeResource>> first = Wait(pool);
        Task<ResourceLease<FakeResource>> second = Wait(pool);
        Policy.CreateError = new SocketException((int)SocketError.ConnectionRefused);
        FakePolicy.Open(Policy.CreateGate);
        ResourceCreateException failure = await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(first));
        Assert.Same(Policy.CreateError, failure.InnerException);
        Assert.False(second.IsCompleted);
        Assert.Equal((1L, 0), (pool.GetStatistics().CreateFailures, pool.GetStatistics().Creating));
        Policy.CreateError = null;
        Time.Advance(1000);
        (await Soon(second)).Dispose();
    }

    [Fact]
    public async Task With_a_dead_factory_attempts_are_bounded_and_the_others_wait_with_the_last_error()
    {
        Policy.CreateError = new SocketException((int)SocketError.ConnectionRefused);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 4));
        List<Task<ResourceLease<FakeResource>>> waiting = [];
        ResourceCreateException first = await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Assert.Same(Policy.CreateError, first.InnerException);
        for (int i = 0; i < 50; i++)
        {
            waiting.Add(Wait(pool, TimeSpan.FromSeconds(60)));
        }

        Time.Advance(TimeSpan.FromSeconds(59));
        Assert.InRange(Policy.Attempts, 60, 130); // 38 ms apart at first, then 7.5 % of the time, then 750 ms with this draw
        Assert.InRange(50 - pool.GetStatistics().Waiting, 8, 13); // after 100, 200, 400 ... 10,000 ms
        Assert.All(waiting.Where(static w => w.IsFaulted), static w => Assert.IsType<ResourceCreateException>(w.Exception!.InnerException));
        Time.Advance(TimeSpan.FromSeconds(1));
        Eventually.True(() => waiting.TrueForAll(static w => w.IsFaulted), "all others to time out");
        ResourcePoolTimeoutException late = Assert.IsType<ResourcePoolTimeoutException>(waiting[^1].Exception!.InnerException);
        Assert.Same(Policy.CreateError, late.InnerException);
        Assert.Contains("SocketException", late.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Recovery_is_found_within_the_longest_wait_and_no_old_error_is_served_after_it()
    {
        Policy.CreateError = new IOException("down");
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        for (int i = 0; i < 10; i++)
        {
            Time.Advance(10_000);
            await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        }

        Policy.CreateError = null;
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, TimeSpan.FromSeconds(20));
        Time.Advance(10_000);
        ResourceLease<FakeResource> lease = await Soon(waiting);
        Task<ResourceLease<FakeResource>> full = Wait(pool, Second);
        Time.Advance(1000);
        Assert.Null((await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(full))).InnerException);
        lease.Dispose();
    }

    [Fact]
    public async Task A_creation_that_hangs_gives_its_place_back_and_what_it_still_makes_is_ended()
    {
        Policy.HonoursTokens = false;
        TaskCompletionSource gate = FakePolicy.DirectGate();
        Policy.CreateGate = gate;
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Task<ResourceLease<FakeResource>> rental = Wait(pool, TimeSpan.FromSeconds(60));
        Time.Advance(TimeSpan.FromSeconds(15));
        ResourceCreateException failure = await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(rental));
        Assert.IsType<TimeoutException>(failure.InnerException);
        Policy.CreateGate = null;
        Time.Advance(1000);
        Rent(pool).Dispose();
        FakePolicy.Open(gate);
        Assert.Equal(DestroyReason.Abandoned, Assert.Single(Policy.Destroyed).Reason);
        Assert.Equal((1, 2L), (pool.GetStatistics().Total, pool.GetStatistics().Created));
    }

    [Fact]
    public async Task A_policy_that_throws_at_once_or_gives_null_is_a_failed_creation()
    {
        ResourcePool<FakeResource> pool = new(new NullPolicy(), Options(max: 1));
        ResourceCreateException failure = await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Assert.Contains("null", failure.Message, StringComparison.Ordinal);
        pool.Validate();
        await pool.DisposeAsync();
    }

    [Fact]
    public async Task A_creation_runs_without_the_context_of_the_renter()
    {
        var local = new AsyncLocal<string?> { Value = "renter" };
        string? seen = "nothing";
        var policy = new ContextPolicy(() => seen = local.Value);
        var pool = new ResourcePool<object>(policy, new ResourcePoolOptions { MaxSize = 1 });
        using (await pool.RentAsync())
        {
            Assert.Null(seen);
        }

        await pool.DisposeAsync();
    }

    private sealed class NullPolicy : ResourcePolicy<FakeResource>
    {
        public override ValueTask<FakeResource> CreateAsync(CancellationToken cancellationToken) => new((FakeResource)null!);
    }

    private sealed class ContextPolicy(Action look) : ResourcePolicy<object>
    {
        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken)
        {
            look();
            return new(new object());
        }
    }

    [Fact]
    public async Task A_creation_that_is_not_supported_fails_an_awaiting_caller_as_any_other()
    {
        Policy.CreateError = new PlatformNotSupportedException("no such protocol");
        ResourcePool<FakeResource> pool = NewPool();
        ResourceCreateException failure = await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Assert.Same(Policy.CreateError, failure.InnerException);
        Assert.Equal(1, pool.GetStatistics().CreateFailures);
    }
}

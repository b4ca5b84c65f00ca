using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

public sealed class CheckTests : ResourceTest
{
    [Fact]
    public void Validation_is_skipped_inside_the_time_and_done_after_it()
    {
        ResourcePool<FakeResource> pool = NewPool();
        Rent(pool).Dispose();
        Time.Advance(999);
        Rent(pool).Dispose();
        Assert.Equal(0, Policy.Made.Single().Validations);
        Time.Advance(1000);
        Rent(pool).Dispose();
        Rent(pool).Dispose();
        Assert.Equal(1, Policy.Made.Single().Validations);
    }

    [Fact]
    public async Task A_policy_with_nothing_to_do_between_two_renters_is_known_by_what_it_overrides()
    {
        Assert.Equal(
            new PolicyTraits(CreatesInline: true, LooksForBroken: true, Validates: true, Resets: true, WaitsInReset: true),
            Policy.Traits);
        Assert.Equal(default(PolicyTraits) with { LooksForBroken = true }, new LookingPolicy().Traits);
        var plain = new PlainPolicy();
        Assert.Equal(default, plain.Traits);
        await using var pool = new ResourcePool<FakeResource>(plain, new ResourcePoolOptions { MaxSize = 1, ResetMode = ResetMode.OnRent });
        FakeResource first = await UseAsync(false);
        Assert.Same(first, await UseAsync(false));
        Assert.Same(first, await UseAsync(isBroken: true));
        Assert.NotSame(first, await UseAsync(false));
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Broken));
        Assert.Equal((4L, 4L), (pool.GetStatistics().Rented, pool.GetStatistics().Returned));
        pool.Validate();

        async Task<FakeResource> UseAsync(bool isBroken)
        {
            using ResourceLease<FakeResource> lease = await pool.RentAsync();
            if (isBroken)
            {
                lease.MarkBroken();
            }

            return lease.Value;
        }
    }

    [Fact]
    public async Task A_renter_is_not_held_up_by_what_its_check_does_when_it_is_stopped()
    {
        var policy = new FakePolicy();
        await using var pool = new ResourcePool<FakeResource>(
            policy, new() { MaxSize = 1, ValidateAfterIdle = TimeSpan.Zero, PolicyTimeout = TimeSpan.FromHours(1) });
        (await pool.RentAsync()).Dispose();
        using var isCalled = new ManualResetEventSlim();
        using var goesOn = new ManualResetEventSlim();
        using var isOver = new ManualResetEventSlim();
        policy.OnValidate = (_, token) =>
        {
            isCalled.Set();
            Assert.True(goesOn.Wait(Eventually.Limit, CancellationToken.None));
            token.Register(() => isOver.Wait(CancellationToken.None)); // a provider that asks its server to stop, and waits for the answer
            return new(Task.Run(() =>
            {
                isOver.Wait(CancellationToken.None);
                return true;
            }));
        };
        Task renting = Task.Run(async () => await pool.RentAsync());
        Assert.True(isCalled.Wait(Eventually.Limit));
        Task<bool> shutdown = pool.ShutdownAsync(TimeSpan.FromHours(1));
        goesOn.Set();

        try
        {
            await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => renting.WaitAsync(Eventually.Limit));
        }
        finally
        {
            isOver.Set();
            Assert.True(await shutdown);
        }
    }

    [Fact]
    public async Task A_check_that_keeps_its_thread_is_stopped_when_its_place_is_given_up()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Rent(pool).Dispose();
        Time.Advance(1000);
        using var isCalled = new ManualResetEventSlim();
        bool isStopped = false;
        Policy.OnValidate = (_, token) =>
        {
            isCalled.Set();
            isStopped = token.WaitHandle.WaitOne(Eventually.Limit); // gives its task when it is over
            return new(false);
        };
        Task<ResourceLease<FakeResource>> renting = Task.Run(async () => await pool.RentAsync());
        Assert.True(isCalled.Wait(Eventually.Limit));
        Time.Advance(5000);
        (await Soon(renting)).Dispose();
        Assert.True(isStopped);
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Abandoned));
    }

    [Fact]
    public void The_failure_of_one_validates_the_next()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool), Rent(pool)];
        FakeResource[] values = [.. leases.Select(static l => l.Value)];
        Array.ForEach(leases, static l => l.Dispose());
        Time.Advance(2000);
        Policy.Broken = static _ => false;
        values[2].IsDead = values[1].IsDead = true;
        using ResourceLease<FakeResource> lease = Rent(pool);
        Assert.Same(values[0], lease.Value);
        Assert.Equal(2, pool.GetStatistics().GetDestroyed(DestroyReason.ValidationFailed));
    }

    [Fact]
    public void When_all_idle_ones_are_dead_a_new_one_is_made()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool), Rent(pool)];
        Array.ForEach(leases, static l => l.Dispose());
        Array.ForEach([.. Policy.Made], static r => r.IsDead = true);
        Time.Advance(2000);
        using ResourceLease<FakeResource> lease = Rent(pool);
        Assert.Equal(4, lease.Value.Number);
    }

    public static TheoryData<string> Operations => ["validate", "reset", "keep alive", "destroy"];

    [Theory]
    [MemberData(nameof(Operations))]
    public void An_operation_that_throws_costs_its_resource_and_nothing_else(string operation)
    {
        static Exception Fault() => new InvalidOperationException("as asked");
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.Background, keepAlive: 500));
        Policy.OnValidate = (_, _) => operation == "validate" ? throw Fault() : new(true);
        Policy.OnReset = (_, _) => operation == "reset" ? throw Fault() : new(true);
        Policy.OnKeepAlive = (_, _) => operation == "keep alive" ? throw Fault() : default;
        Policy.OnDestroy = _ => operation == "destroy" ? throw Fault() : default;
        Rent(pool).Dispose();
        Time.Advance(operation == "validate" ? 499 : 600);
        Time.Advance(TimeSpan.FromMinutes(40)); // whatever is left has grown too old
        Rent(pool).Dispose();
        Assert.All(Policy.Made.SkipLast(1), static r => Assert.Equal(1, r.Ends));
        Assert.Equal(operation == "destroy" ? 1 : 0, pool.GetStatistics().DestroyFailures);
        Assert.InRange(pool.GetStatistics().Total, 0, 1);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_quick_look_that_throws_means_broken(bool onReturn)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        if (!onReturn)
        {
            lease.Dispose();
        }

        Policy.Broken = r => r.Number == 1 ? throw new InvalidOperationException("as asked") : false;
        if (onReturn)
        {
            lease.Dispose();
        }

        Rent(pool).Dispose();
        Assert.Equal((1, DestroyReason.Broken), (Policy.Destroyed.Single().Resource.Number, Policy.Destroyed.Single().Reason));
    }

    [Theory]
    [MemberData(nameof(Operations))]
    public async Task An_operation_that_hangs_gives_its_place_back_and_its_resource_is_ended_when_it_returns(string operation)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.Background, keepAlive: 500));
        TaskCompletionSource<bool> hang = new();
        ResourceLease<FakeResource> lease = Rent(pool);
        FakeResource resource = lease.Value;
        Policy.OnValidate = (r, _) => operation == "validate" && r == resource ? new(hang.Task) : new(true);
        Policy.OnReset = (r, _) => operation == "reset" && r == resource ? new(hang.Task) : new(true);
        Policy.OnKeepAlive = (r, _) => operation == "keep alive" && r == resource ? new(hang.Task) : default;
        Policy.OnDestroy = r => operation == "destroy" && r == resource ? new(hang.Task) : default;
        resource.IsDead = operation == "destroy";
        lease.Dispose();
        Task<ResourceLease<FakeResource>>? rental = null;
        switch (operation)
        {
            case "validate":
                Policy.OnKeepAlive = static (_, _) => default;
                // No keep-alive may refresh it before the rental comes.
                lease = default;
                await using (ResourcePool<FakeResource> own = new(Policy, Options(max: 1)))
                {
                    await Hangs(own, hang);
                }

                return;
            case "keep alive":
                Time.Advance(500);
                break;
        }

        rental = Wait(pool, TimeSpan.FromSeconds(30));
        Time.Advance(4999);
        Assert.False(rental.IsCompleted);
        Time.Advance(1);
        lease = await Soon(rental);
        Assert.NotSame(resource, lease.Value);
        lease.Dispose();
        FakePolicy.Open(hang);
        Eventually.True(() => resource.Ends == 1, "the late resource to be destroyed");
        Assert.Equal(1, pool.GetStatistics().Total);
    }

    private async Task Hangs(ResourcePool<FakeResource> pool, TaskCompletionSource<bool> hang)
    {
        ResourceLease<FakeResource> lease = Rent(pool);
        FakeResource resource = lease.Value;
        Policy.OnValidate = (r, _) => r == resource ? new(hang.Task) : new(true);
        lease.Dispose();
        Time.Advance(2000);
        Task<ResourceLease<FakeResource>> rental = Wait(pool, TimeSpan.FromSeconds(30));
        Time.Advance(5000);
        lease = await Soon(rental);
        Assert.NotSame(resource, lease.Value);
        lease.Dispose();
        FakePolicy.Open(hang);
        Assert.Equal(1, resource.Ends);
        pool.Validate();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_a_policy_does_when_its_token_is_cancelled_holds_up_neither_the_timer_nor_a_shutdown(bool isShutdown)
    {
        TaskCompletionSource<bool> hang = new();
        TaskCompletionSource<int> called = new();
        Policy.OnValidate = (_, token) =>
        {
            token.Register(() => called.TrySetResult(Environment.CurrentManagedThreadId));
            return new(hang.Task);
        };
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, isInline: false));
        using (pool.Rent(Second))
        {
        }

        Time.Advance(2000);
        Task<ResourceLease<FakeResource>> rental = Wait(pool, TimeSpan.FromMinutes(1));
        Eventually.True(() => pool.GetStatistics().Checking == 1, "the validation to begin");
        if (isShutdown)
        {
            pool.ShutdownAsync(TimeSpan.Zero);
        }
        else
        {
            Time.Advance(6000); // calls back on this thread
        }

        // This thread is blocked until the callback was called, so it was called by another.
        Assert.True(called.Task.Wait(Eventually.Limit));
        Assert.NotEqual(Environment.CurrentManagedThreadId, called.Task.Result);
        FakePolicy.Open(hang);
        if (!isShutdown)
        {
            rental.GetAwaiter().GetResult().Dispose();
        }
    }

    [Fact]
    public async Task A_reset_in_the_background_does_not_hold_up_the_returner()
    {
        TaskCompletionSource<bool> reset = new();
        Policy.OnReset = (_, _) => new(reset.Task);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.Background));
        Rent(pool).Dispose();
        Assert.Equal((1, 0, 0), (pool.GetStatistics().Checking, pool.GetStatistics().Leased, pool.GetStatistics().Idle));
        Task<ResourceLease<FakeResource>> next = Wait(pool);
        FakePolicy.Open(reset);
        Policy.OnReset = static (_, _) => new(true);
        (await Soon(next)).Dispose();
        Assert.Single(Policy.Made);
    }

    [Fact]
    public async Task A_reset_on_return_is_awaited_by_DisposeAsync_and_done_here_by_Dispose()
    {
        TaskCompletionSource<bool> reset = new();
        Policy.OnReset = (_, _) => new(reset.Task);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.OnReturn));
        ValueTask returning = Rent(pool).DisposeAsync();
        Assert.False(returning.IsCompleted);
        FakePolicy.Open(reset);
        await returning;
        int here = 0;
        Policy.OnResetHere = _ => ++here > 0;
        Rent(pool).Dispose();
        Assert.Equal(1, here);
        Policy.OnResetHere = static _ => false;
        Rent(pool).Dispose();
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.ResetFailed));
        Policy.OnResetHere = static _ => null;
        Rent(pool).Dispose();
        Assert.Equal(2, Policy.Made.Sum(static r => r.Resets));
    }

    [Fact]
    public async Task DisposeAsync_does_not_wait_for_a_reset_that_hangs()
    {
        TaskCompletionSource<bool> reset = new();
        Policy.OnReset = (_, _) => new(reset.Task);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.OnReturn));
        Task returning = Rent(pool).DisposeAsync().AsTask();
        Time.Advance(5000);
        await returning.WaitAsync(Eventually.Limit);
        Assert.Equal(0, pool.GetStatistics().Total);
        FakePolicy.Open(reset);
    }

    [Fact]
    public async Task A_reset_on_rent_comes_before_every_further_renter_also_one_that_waits()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.OnRent));
        ResourceLease<FakeResource> lease = Rent(pool);
        Assert.Equal(0, lease.Value.Resets);
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        lease.Dispose();
        lease = await Soon(waiting);
        Assert.Equal(1, lease.Value.Resets);
        lease.Dispose();
        lease = Rent(pool);
        Assert.Equal(2, lease.Value.Resets);
        lease.Dispose();
        Policy.OnReset = static (_, _) => new(false);
        Rent(pool).Dispose();
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.ResetFailed));
    }

    [Fact]
    public void Keep_alive_visits_idle_resources_and_ends_those_that_throw()
    {
        Policy.OnKeepAlive = static (r, _) => r.Number == 2 ? throw new IOException("gone") : default;
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2, keepAlive: 500));
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
        Array.ForEach(leases, static l => l.Dispose());
        Time.Advance(1600);
        Assert.Equal(3, Policy.Made.First().KeepAlives);
        Assert.Equal((1, 1L), (pool.GetStatistics().Idle, pool.GetStatistics().GetDestroyed(DestroyReason.KeepAliveFailed)));
        Rent(pool).Dispose();
        Assert.Equal(0, Policy.Made.First().Validations);
    }

    [Fact]
    public void A_leased_resource_is_not_kept_alive_by_the_pool()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, keepAlive: 500));
        using ResourceLease<FakeResource> lease = Rent(pool);
        Time.Advance(5000);
        Assert.Equal(0, lease.Value.KeepAlives);
    }

    [Theory]
    [InlineData(ResetMode.Background, -1.0)]
    [InlineData(ResetMode.OnReturn, -1.0)]
    [InlineData(ResetMode.OnReturn, 60_000.0)]
    public void A_reset_that_is_still_to_be_done_is_done_after_a_second_without_a_renter(ResetMode mode, double keepAlive)
    {
        bool isPending = false;
        Policy.IsResetPending = _ => isPending;
        Policy.OnReset = (_, _) => new(isPending = true);
        Policy.OnResetHere = _ => isPending = true;
        Policy.OnKeepAlive = (_, _) =>
        {
            isPending = false;
            return default;
        };
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: mode, keepAlive: keepAlive, validateAfter: 100_000));
        FakeResource resource;
        using (ResourceLease<FakeResource> lease = Rent(pool))
        {
            resource = lease.Value;
        }

        for (int i = 0; i < 5; i++)
        {
            Time.Advance(999);
            Rent(pool).Dispose();
        }

        Time.Advance(999);
        Assert.Equal(0, resource.KeepAlives);
        Time.Advance(1);
        Assert.Equal(1, resource.KeepAlives);
        Time.Advance(50_000); // nothing is pending, so only the interval counts
        Assert.Equal(1, resource.KeepAlives);
        pool.Validate();
    }

    [Theory]
    [InlineData(ResetMode.OnRent)]
    [InlineData(ResetMode.None)]
    public void Nothing_is_pending_where_resources_are_not_reset_after_the_return(ResetMode mode)
    {
        Policy.IsResetPending = static _ => true;
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: mode));
        Rent(pool).Dispose();
        Time.Advance(5000);
        Assert.Equal(0, Policy.Made.First().KeepAlives);
    }

    private class PlainPolicy : ResourcePolicy<FakeResource>
    {
        private int _made;

        public override ValueTask<FakeResource> CreateAsync(CancellationToken cancellationToken) => new(new FakeResource(++_made));
    }

    private sealed class LookingPolicy : PlainPolicy
    {
        public override bool IsBroken(FakeResource resource) => base.IsBroken(resource);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_look_that_takes_too_long_and_then_leaves_it_to_the_asynchronous_one_ends_its_resource(bool waits)
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Rent(pool).Dispose();
        Time.Advance(2000);
        Policy.OnValidateHere = _ =>
        {
            Time.Advance(6000);
            return null;
        };
        if (waits)
        {
            pool.Rent(TimeSpan.FromMinutes(1)).Dispose();
        }
        else
        {
            Assert.False(pool.TryRent(out _));
        }

        Assert.Equal(1, Policy.Made.First().Ends);
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Abandoned));
    }

    [Fact]
    public void Every_idle_resource_is_kept_alive_in_each_interval_a_few_at_a_time()
    {
        int most = 0;
        int now = 0;
        var ends = new Queue<TaskCompletionSource>();
        Policy.OnKeepAlive = (_, _) =>
        {
            most = Math.Max(most, ++now);
            ends.Enqueue(FakePolicy.DirectGate());
            return new(ends.Last().Task);
        };
        ResourcePool<FakeResource> pool = NewPool(Options(max: 7, creators: 2, keepAlive: 1000));
        ResourceLease<FakeResource>[] leases = [.. Enumerable.Range(0, 7).Select(_ => Rent(pool))];
        Array.ForEach(leases, static l => l.Dispose());
        for (int milliseconds = 0; milliseconds < 1500; milliseconds += 100)
        {
            Time.Advance(100);
            while (ends.TryDequeue(out TaskCompletionSource? end))
            {
                now--;
                FakePolicy.Open(end);
            }
        }

        Assert.All(Policy.Made, static r => Assert.Equal(1, r.KeepAlives));
        Assert.Equal(2, most);
    }

    [Fact]
    public async Task A_policy_without_validation_has_what_was_idle_for_long_rented_at_once()
    {
        await using var pool = new ResourcePool<FakeResource>(new PlainPolicy(), Options(max: 1));
        await using var keyed = new KeyedResourcePool<int, FakeResource>(
            static _ => new PlainPolicy(), new() { MaxTotal = 1, PerKey = Options(max: 1) });
        Rent(pool).Dispose();
        (await keyed.RentAsync(1)).Dispose();
        Time.Advance(2000);
        Assert.True(pool.TryRent(out ResourceLease<FakeResource> lease));
        lease.Dispose();
        Time.Advance(2000);
        (await pool.RentAsync(TimeSpan.Zero)).Dispose();
        (await keyed.RentAsync(1, TimeSpan.Zero)).Dispose();
    }

    [Theory]
    [InlineData(ResetMode.Background)]
    [InlineData(ResetMode.OnReturn)]
    [InlineData(ResetMode.OnRent)]
    public async Task A_policy_with_synchronous_ways_only_is_asked_also_for_awaiting_callers(ResetMode mode)
    {
        var policy = new SynchronousPolicy();
        await using var pool = new ResourcePool<FakeResource>(policy, Options(max: 1, reset: mode));
        for (int i = 0; i < 3; i++)
        {
            await using ResourceLease<FakeResource> lease = await pool.RentAsync();
            Assert.Equal((i, i), (policy.Resets, policy.Validations));
            Time.Advance(2000);
            await lease.DisposeAsync();
            Time.Advance(2000);
        }
    }

    private sealed class SynchronousPolicy : PlainPolicy
    {
        public int Resets { get; private set; }

        public int Validations { get; private set; }

        public override bool? Reset(FakeResource resource) => ++Resets > 0;

        public override bool? Validate(FakeResource resource) => ++Validations > 0;
    }

    [Fact]
    public void A_timer_that_throws_in_a_return_does_not_return_the_resource_twice()
    {
        var time = new MoodyTime();
        var pool = new ResourcePool<FakeResource>(
            Policy, new ResourcePoolOptions { MaxSize = 1, TimeProvider = time, Executor = static item => item.Execute() });
        ResourceLease<FakeResource> lease = Rent(pool);
        time.Advance(TimeSpan.FromMinutes(1)); // no timer is set any more
        time.Throws = true;
        Assert.Throws<InvalidOperationException>(lease.Dispose);
        time.Throws = false;
        pool.Validate();
        Assert.Equal((1, 0, 0L), (pool.GetStatistics().Idle, pool.GetStatistics().Leased, pool.GetStatistics().Destroyed));
        Assert.True(pool.ShutdownAsync(TimeSpan.Zero).IsCompletedSuccessfully);
    }

    /// <summary>Its timers throw, when asked to, instead of being set.</summary>
    private sealed class MoodyTime : TimeProvider
    {
        private readonly ManualTime _time = new();

        public bool Throws { get; set; }

        public override long TimestampFrequency => _time.TimestampFrequency;

        public void Advance(TimeSpan time) => _time.Advance(time);

        public override long GetTimestamp() => _time.GetTimestamp();

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            new MoodyTimer(this, _time.CreateTimer(callback, state, dueTime, period));

        private sealed class MoodyTimer(MoodyTime time, ITimer timer) : ITimer
        {
            public bool Change(TimeSpan dueTime, TimeSpan period) =>
                time.Throws ? throw new InvalidOperationException("as asked") : timer.Change(dueTime, period);

            public void Dispose() => timer.Dispose();

            public ValueTask DisposeAsync() => timer.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_failure_whose_own_text_throws_reaches_its_renter_and_a_destruction_frees_its_place()
    {
        Policy.CreateError = new MuteException();
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceCreateException failure = await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Assert.Contains(nameof(MuteException), failure.Message, StringComparison.Ordinal);
        Policy.CreateError = null;
        Policy.OnDestroy = static _ => throw new MuteException();
        Time.Advance(1000);
        Rent(pool).Dispose();
        await pool.ClearAsync().WaitAsync(Eventually.Limit);
        Assert.Equal((0, 1L), (pool.GetStatistics().Destroying, pool.GetStatistics().DestroyFailures));
    }

    [Fact]
    public void A_validation_that_blocks_its_renter_holds_up_no_other_work()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(isInline: false));
        ResourceLease<FakeResource>[] leases = [pool.Rent(Second), pool.Rent(Second)];
        leases[1].Dispose();
        leases[0].Dispose();
        _ = pool.RenewAsync(TimeSpan.FromSeconds(10));
        Time.Starve(6000); // the first one is over, and is looked at before the other
        using var end = new ManualResetEventSlim();
        Policy.OnValidate = (_, _) =>
        {
            end.Wait(CancellationToken.None);
            return new(true);
        };
        var renter = new Parked(() => pool.RentAsync().AsTask().GetAwaiter().GetResult().Dispose());
        try
        {
            Eventually.True(() => !Policy.Destroyed.IsEmpty, "the resource that is over to be destroyed");
        }
        finally
        {
            end.Set();
            renter.End();
        }
    }

    private sealed class MuteException : Exception
    {
        public override string Message => throw new InvalidOperationException("not even this");
    }
}

using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Resources;

public sealed class KeyedTests(ITestOutputHelper output) : IAsyncLifetime
{
    private readonly ManualTime _time = new();
    private readonly Policies _policy = new();
    private readonly List<KeyedResourcePool<string, FakeResource>> _pools = [];

    public Task InitializeAsync() => Task.CompletedTask;

    public async Task DisposeAsync()
    {
        foreach (KeyedResourcePool<string, FakeResource> pool in _pools)
        {
            pool.Validate();
            Task<bool> shutdown = pool.ShutdownAsync(TimeSpan.Zero);
            _time.Advance(TimeSpan.FromMinutes(1));
            Assert.True(await shutdown.WaitAsync(Eventually.Limit));
            Assert.Equal(0, pool.GetTotal());
        }

        Assert.Equal(0, _time.Timers);
        Assert.All(_policy.Made, static r => Assert.Equal(1, r.Ends));
    }

    [Fact]
    public void Each_key_has_resources_of_its_own_and_one_is_cleared_without_the_other()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool();
        FakeResource a = Use(pool, "a");
        FakeResource b = Use(pool, "b");
        Assert.NotSame(a, b);
        Assert.Same(a, Use(pool, "a"));
        Assert.Equal(["a", "b"], pool.Keys.Order());
        Assert.True(pool.ClearAsync("a").IsCompletedSuccessfully);
        Assert.True(pool.ClearAsync("nobody").IsCompletedSuccessfully);
        Assert.Equal((1, 0), (a.Ends, b.Ends));
        Assert.Equal(["b"], pool.Keys);
        Assert.Null(pool.GetStatistics("a"));
        Assert.Equal(1, pool.GetStatistics("b")!.Value.Idle);
    }

    [Fact]
    public async Task A_null_key_is_refused_and_the_comparer_decides_what_is_equal()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(comparer: StringComparer.OrdinalIgnoreCase);
        Assert.Same(Use(pool, "host"), Use(pool, "HOST"));
        await Assert.ThrowsAsync<ArgumentNullException>(async () => await pool.RentAsync(null!));
        await Assert.ThrowsAsync<ArgumentNullException>(async () => await pool.RentSharedAsync(null!));
        await Assert.ThrowsAsync<ArgumentNullException>(() => pool.ClearAsync(null!));
        Assert.Throws<ArgumentNullException>(() => pool.GetStatistics(null!));
    }

    [Fact]
    public void The_common_limit_holds_and_the_oldest_idle_of_another_key_makes_room()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(total: 2);
        FakeResource a = Use(pool, "a");
        FakeResource b = Use(pool, "b");
        FakeResource c = Use(pool, "c");
        Assert.Equal((1, 0, 0), (a.Ends, b.Ends, c.Ends));
        Assert.Equal(2, pool.GetTotal());
        Assert.Equal(["b", "c"], pool.Keys.Order());
        Assert.Equal(DestroyReason.Stolen, _policy.Destroyed.Single().Reason);
    }

    [Fact]
    public void What_was_returned_last_makes_room_for_another_key_too_and_the_oldest_first()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(total: 3);
        FakeResource a = UseTwice(pool, "a");
        FakeResource b = UseTwice(pool, "b");
        FakeResource c = UseTwice(pool, "c");
        _time.Advance(1);
        Use(pool, "a");
        _time.Advance(1);
        Use(pool, "d");
        Assert.Equal((0, 1, 0), (a.Ends, b.Ends, c.Ends));
        pool.Validate();
        Use(pool, "e");
        Assert.Equal((0, 1, 1), (a.Ends, b.Ends, c.Ends));
        Assert.Equal(["a", "d", "e"], pool.Keys.Order());
    }

    [Fact]
    public async Task A_return_while_another_key_waits_serves_it()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(total: 1);
        UseTwice(pool, "a");
        KeyedResourceLease<string, FakeResource> lease = Rent(pool, "a");
        Task<KeyedResourceLease<string, FakeResource>> waiting = pool.RentAsync("b").AsTask();
        Assert.False(waiting.IsCompleted);
        lease.Dispose();
        Assert.Equal("b", (await waiting.WaitAsync(Eventually.Limit)).Key);
        (await waiting).Dispose();
    }

    [Fact]
    public void A_key_whose_resource_was_returned_last_is_counted_given_up_and_forgotten()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(keys: 2);
        FakeResource a = UseTwice(pool, "a");
        UseTwice(pool, "b");
        Assert.Equal((2, 0), (Read(ResourceGauge.Idle), Read(ResourceGauge.Used)));
        UseTwice(pool, "c");
        Assert.Equal(1, a.Ends);
        Assert.Equal(["b", "c"], pool.Keys.Order());
        _time.Advance(TimeSpan.FromMinutes(6));
        Assert.Empty(pool.Keys);
        Assert.Equal(0, pool.GetTotal());

        int Read(ResourceGauge gauge) => ((IMeteredResources)pool).Read(gauge).Sum(static one => one.Value);
    }

    [Fact]
    public async Task Only_idle_resources_are_taken_and_who_waits_is_served_by_arrival_whatever_the_key()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(total: 2);
        KeyedResourceLease<string, FakeResource>[] leases = [Rent(pool, "a"), Rent(pool, "b")];
        Task<KeyedResourceLease<string, FakeResource>> first = pool.RentAsync("c").AsTask();
        Task<KeyedResourceLease<string, FakeResource>> second = pool.RentAsync("d").AsTask();
        Task<KeyedResourceLease<string, FakeResource>> third = pool.RentAsync("c").AsTask();
        Assert.False(first.IsCompleted);
        leases[1].Dispose();
        using (KeyedResourceLease<string, FakeResource> one = await first.WaitAsync(Eventually.Limit))
        {
            Assert.Equal("c", one.Key);
            Assert.False(second.IsCompleted);
            leases[0].Dispose();
            (await second.WaitAsync(Eventually.Limit)).Dispose();
        }

        (await third.WaitAsync(Eventually.Limit)).Dispose();
        Assert.InRange(pool.GetTotal(), 1, 2);
    }

    [Fact]
    public async Task A_key_that_is_always_waited_for_does_not_keep_its_places_for_ever()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(total: 1);
        KeyedResourceLease<string, FakeResource> lease = Rent(pool, "busy");
        Task<KeyedResourceLease<string, FakeResource>> cold = pool.RentAsync("cold").AsTask();
        Task<KeyedResourceLease<string, FakeResource>> next = pool.RentAsync("busy").AsTask();
        int served = 0;
        while (!cold.IsCompleted && served < 100)
        {
            Task<KeyedResourceLease<string, FakeResource>> afterwards = pool.RentAsync("busy").AsTask();
            lease.Dispose();
            if (await Task.WhenAny(cold, next).WaitAsync(Eventually.Limit) == next)
            {
                served++;
                lease = await next;
                next = afterwards;
            }
            else
            {
                (await cold).Dispose();
                (await next.WaitAsync(Eventually.Limit)).Dispose();
                (await afterwards.WaitAsync(Eventually.Limit)).Dispose();
            }
        }

        Assert.Equal(16, served);
        Assert.Equal(2, _policy.Destroyed.Count(static d => d.Reason == DestroyReason.Stolen));
    }

    [Fact]
    public async Task Without_taking_from_others_a_key_waits_until_a_place_comes_free()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(total: 1, steals: false);
        Use(pool, "a");
        Task<KeyedResourceLease<string, FakeResource>> waiting = pool.RentAsync("b", TimeSpan.FromSeconds(1)).AsTask();
        _time.Advance(1000);
        ResourcePoolTimeoutException timeout = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(
            () => waiting.WaitAsync(Eventually.Limit));
        Assert.Contains("MaxTotal = 1", timeout.Message, StringComparison.Ordinal);
        waiting = pool.RentAsync("b", TimeSpan.FromMinutes(10)).AsTask();
        _time.Advance(TimeSpan.FromMinutes(5));
        (await waiting.WaitAsync(Eventually.Limit)).Dispose();
    }

    [Fact]
    public async Task A_key_whose_factory_fails_or_hangs_blocks_no_other_and_is_forgotten()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(total: 3);
        _policy.Dead.Add("dead");
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync("dead"));
        Task<KeyedResourceLease<string, FakeResource>> backingOff = pool.RentAsync("dead", TimeSpan.FromSeconds(1)).AsTask();
        _policy.Hanging.Add("slow");
        Task<KeyedResourceLease<string, FakeResource>> hanging = pool.RentAsync("slow", TimeSpan.FromSeconds(1)).AsTask();
        Use(pool, "good");
        Use(pool, "better");
        _time.Advance(TimeSpan.FromSeconds(1));
        await Assert.ThrowsAnyAsync<ResourcePoolException>(() => backingOff.WaitAsync(Eventually.Limit));
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => hanging.WaitAsync(Eventually.Limit));
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.DoesNotContain("dead", pool.Keys);
        Assert.DoesNotContain("slow", pool.Keys);
    }

    [Fact]
    public void A_key_without_anything_is_forgotten()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool();
        Use(pool, "a");
        _time.Advance(TimeSpan.FromMinutes(6));
        Assert.Empty(pool.Keys);
        Use(pool, "a");
        Assert.Single(pool.Keys);
    }

    [Fact]
    public async Task The_number_of_keys_is_bounded_and_the_longest_idle_key_goes_first()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(keys: 2);
        KeyedResourceLease<string, FakeResource> held = Rent(pool, "a");
        FakeResource b = Use(pool, "b");
        KeyedResourceLease<string, FakeResource> other = Rent(pool, "c");
        Assert.Equal(1, b.Ends);
        ResourcePoolRejectedException refused = await Assert.ThrowsAsync<ResourcePoolRejectedException>(
            async () => await pool.RentAsync("d"));
        Assert.Contains("MaxKeys = 2", refused.Message, StringComparison.Ordinal);
        Assert.Equal(["a", "c"], pool.Keys.Order());
        held.Dispose();
        other.Dispose();
    }

    [Fact]
    public async Task A_key_that_only_waits_after_a_failure_makes_room_for_another()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(keys: 1);
        _policy.Dead.Add("dead");
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync("dead"));
        Use(pool, "good");
        Assert.Equal(["good"], pool.Keys);
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync("dead"));
        using KeyedResourceLease<string, FakeResource> lease = Rent(pool, "good");
        await Assert.ThrowsAsync<ResourcePoolRejectedException>(async () => await pool.RentAsync("dead"));
    }

    [Fact]
    public void Single_keys_may_have_another_size()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool(sizeOf: static key => key == "small" ? 1 : null);
        using KeyedResourceLease<string, FakeResource> small = Rent(pool, "small");
        using KeyedResourceLease<string, FakeResource> large = Rent(pool, "large");
        Assert.Equal((1, 4), (pool.GetStatistics("small")!.Value.MaxSize, pool.GetStatistics("large")!.Value.MaxSize));
    }

    [Fact]
    public async Task Rentals_racing_with_the_forgetting_of_their_keys_get_live_ones()
    {
        var random = Seeds.New(output);
        int seed = random.Next();
        var pool = new KeyedResourcePool<string, FakeResource>(_policy.Of, new()
        {
            MaxTotal = 3,
            PerKey = new() { MaxSize = 2, IdleTimeout = TimeSpan.FromMilliseconds(1), TimeProvider = TimeProvider.System },
        });
        _pools.Add(pool);
        await Task.WhenAll(Enumerable.Range(0, 8).Select(i => Task.Run(async () =>
        {
            var mine = new Random(seed + i);
            for (int round = 0; round < 2000; round++)
            {
                using KeyedResourceLease<string, FakeResource> lease = await pool.RentAsync($"{mine.Next(6)}", TimeSpan.FromSeconds(60));
                lease.Value.Enter();
                if (mine.Next(20) == 0)
                {
                    lease.MarkBroken();
                }

                lease.Value.Leave();
            }
        }))).WaitAsync(Eventually.Limit * 2);
        pool.Validate();
        Eventually.True(() => pool.GetTotal() == 0 && pool.Keys.Count == 0, "all keys to be forgotten");
    }

    [Fact]
    public async Task A_shared_resource_serves_all_and_goes_back_with_the_last()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool();
        SharedLease<FakeResource>[] leases = [await Share(pool), await Share(pool), await Share(pool)];
        Assert.Single(leases.Select(static l => l.Value).Distinct());
        Assert.Equal(1, pool.GetStatistics("a")!.Value.Leased);
        SharedLease<FakeResource> copy = leases[0];
        leases[0].Dispose();
        copy.Dispose();
        copy.Dispose();
        Assert.Throws<ObjectDisposedException>(() => copy.Value);
        leases[1].Dispose();
        Assert.Equal(1, pool.GetStatistics("a")!.Value.Leased);
        leases[2].Dispose();
        Assert.Equal((0, 1), (pool.GetStatistics("a")!.Value.Leased, pool.GetStatistics("a")!.Value.Idle));
        using SharedLease<FakeResource> again = await Share(pool);
        Assert.Single(_policy.Made);
    }

    [Fact]
    public async Task A_shared_resource_is_renewed_by_its_lifetime_while_old_renters_keep_theirs()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool();
        SharedLease<FakeResource> old = await Share(pool);
        _time.Advance(TimeSpan.FromMinutes(31));
        using SharedLease<FakeResource> renewed = await Share(pool);
        Assert.NotSame(old.Value, renewed.Value);
        FakeResource first = old.Value;
        Assert.Equal(0, first.Ends);
        old.Dispose();
        Assert.Equal(1, first.Ends);
    }

    [Fact]
    public async Task A_shared_resource_that_was_marked_or_cleared_gets_no_new_renters()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool();
        SharedLease<FakeResource> marked = await Share(pool);
        marked.MarkBroken();
        SharedLease<FakeResource> second = await Share(pool);
        Assert.NotSame(marked.Value, second.Value);
        FakeResource broken = marked.Value;
        marked.Dispose();
        Assert.Equal(1, broken.Ends);
        _ = pool.ClearAsync();
        using SharedLease<FakeResource> third = await Share(pool);
        Assert.NotSame(second.Value, third.Value);
        second.Dispose();
        Assert.Equal(3, _policy.Made.Count);
    }

    [Fact]
    public async Task Who_shares_a_creation_shares_its_failure_and_a_cancelled_one_leaves_nothing_behind()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool();
        _policy.Dead.Add("a");
        await Assert.ThrowsAsync<ResourceCreateException>(() => Share(pool));
        _policy.Dead.Clear();
        _time.Advance(1000);
        var gate = _policy.Gate = new TaskCompletionSource();
        using var cancellation = new CancellationTokenSource();
        Task<SharedLease<FakeResource>> cancelled = pool.RentSharedAsync("a", cancellation.Token).AsTask();
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(Eventually.Limit));
        FakePolicy.Open(gate);
        Eventually.True(() => pool.GetStatistics("a") is { Leased: 0, Idle: 1 }, "the shared resource to go back");
    }

    [Fact]
    public void Who_comes_too_late_for_a_shared_resource_does_not_have_the_policy_look_at_its_slot()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool();
        KeyedResourceLease<string, FakeResource> exclusive = Rent(pool, "a");
        var shared = new SharedResource<FakeResource>(exclusive.Lease, static () => { });
        Assert.True(shared.TryJoin(out SharedLease<FakeResource> lease));
        Assert.Equal(0, _policy.Looks); // it was just rented
        Assert.True(shared.TryJoin(out SharedLease<FakeResource> second));
        Assert.Equal(1, _policy.Looks);
        second.Dispose();
        lease.MarkBroken();
        Assert.False(shared.TryJoin(out _));
        lease.Dispose();
        int looks = _policy.Looks;
        Assert.False(shared.TryJoin(out _));
        Assert.Equal(looks, _policy.Looks);
        exclusive = Rent(pool, "a");
        shared = new SharedResource<FakeResource>(exclusive.Lease, static () => { });
        Assert.True(shared.TryJoin(out lease));
        exclusive.Value.IsDead = true;
        Assert.False(shared.TryJoin(out _));
        lease.Dispose();
        Assert.Equal(0, pool.GetTotal());
    }

    [Fact]
    public async Task A_comparer_that_throws_keeps_no_shared_resource_and_lets_nobody_wait()
    {
        var comparer = new MoodyComparer();
        KeyedResourcePool<string, FakeResource> pool = NewPool(comparer: comparer);
        SharedLease<FakeResource> lease = await Share(pool);
        comparer.Throws = true;
        Assert.Throws<InvalidOperationException>(lease.Dispose);
        comparer.Throws = false;
        Assert.Equal((0, 1), (pool.GetStatistics("a")!.Value.Leased, pool.GetStatistics("a")!.Value.Idle));
        (await Share(pool)).Dispose();
        await pool.ClearAsync();

        _policy.Dead.Add("a");
        TaskCompletionSource gate = _policy.Gate = new TaskCompletionSource();
        Task<SharedLease<FakeResource>> failing = pool.RentSharedAsync("a").AsTask();
        comparer.Throws = true;
        FakePolicy.Open(gate);
        await Assert.ThrowsAsync<ResourceCreateException>(() => failing.WaitAsync(Eventually.Limit));
        comparer.Throws = false;
    }

    [Fact]
    public async Task A_comparer_that_throws_when_a_key_is_forgotten_does_not_end_the_thread_of_the_timer()
    {
        var comparer = new MoodyComparer();
        KeyedResourcePool<string, FakeResource> pool = NewPool(comparer: comparer);
        _policy.Dead.Add("a");
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync("a"));
        comparer.Throws = true;
        _time.Advance(1000);
        Assert.Equal(1, pool.Forgotten);
        comparer.Throws = false;
        _policy.Dead.Clear();
        Use(pool, "a");
        Assert.Equal(1, pool.GetStatistics("a")!.Value.Idle);
    }

    [Fact]
    public async Task Every_key_whose_creation_failed_is_forgotten_after_its_wait()
    {
        await using KeyedResourcePool<string, FakeResource> pool = new(_ => new FakePolicy { CreateError = new IOException("down") }, new()
        {
            MaxTotal = 10,
            PerKey = new() { MaxSize = 1, TimeProvider = _time, Executor = static item => item.Execute() },
        });
        for (int i = 0; i < 3; i++)
        {
            await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync($"{i}"));
            _time.Advance(10); // so that each has a moment of its own
        }

        _time.Advance(1000);
        Assert.Empty(pool.Keys);
    }

    private sealed class MoodyComparer : IEqualityComparer<string>
    {
        public volatile bool Throws;

        public bool Equals(string? x, string? y) => Throws ? throw new InvalidOperationException("as asked") : x == y;

        public int GetHashCode(string key) =>
            Throws ? throw new InvalidOperationException("as asked") : key.GetHashCode(StringComparison.Ordinal);
    }

    [Fact]
    public async Task Resources_in_creation_or_at_their_end_are_not_measured_as_used()
    {
        KeyedResourcePool<string, FakeResource> pool = NewPool();
        TaskCompletionSource gate = _policy.Gate = new TaskCompletionSource();
        Task<KeyedResourceLease<string, FakeResource>> waiting = pool.RentAsync("a").AsTask();
        Assert.Equal((0, 1), (Used(), pool.GetTotal()));
        FakePolicy.Open(gate);
        KeyedResourceLease<string, FakeResource> lease = await waiting.WaitAsync(Eventually.Limit);
        Assert.Equal(1, Used());
        lease.Dispose();

        int Used() => ((IMeteredResources)pool).Read(ResourceGauge.Used).Sum(static one => one.Value);
    }

    private static async Task<SharedLease<FakeResource>> Share(KeyedResourcePool<string, FakeResource> pool) =>
        await pool.RentSharedAsync("a").AsTask().WaitAsync(Eventually.Limit);

    private static KeyedResourceLease<string, FakeResource> Rent(KeyedResourcePool<string, FakeResource> pool, string key)
    {
        Task<KeyedResourceLease<string, FakeResource>> rental = pool.RentAsync(key).AsTask();
        Assert.True(rental.Wait(Eventually.Limit));
        return rental.Result;
    }

    private static FakeResource Use(KeyedResourcePool<string, FakeResource> pool, string key)
    {
        using KeyedResourceLease<string, FakeResource> lease = Rent(pool, key);
        return lease.Value;
    }

    /// <summary>The second rental finds its resource in the hot slot of the key, at the latest the second return lays it there.</summary>
    private FakeResource UseTwice(KeyedResourcePool<string, FakeResource> pool, string key)
    {
        Use(pool, key);
        _time.Advance(1);
        return Use(pool, key);
    }

    private KeyedResourcePool<string, FakeResource> NewPool(
        int total = 10,
        int keys = int.MaxValue,
        bool steals = true,
        IEqualityComparer<string>? comparer = null,
        Func<string, int?>? sizeOf = null)
    {
        var pool = new KeyedResourcePool<string, FakeResource>(_policy.Of, new()
        {
            MaxTotal = total,
            MaxKeys = keys,
            StealIdleAcrossKeys = steals,
            Comparer = comparer,
            MaxSizeOf = sizeOf,
            PerKey = new()
            {
                Name = "keyed",
                MaxSize = 4,
                ValidateAfterIdle = Timeout.InfiniteTimeSpan,
                TimeProvider = _time,
                NextRandom = static () => 0.5,
                Executor = static item => item.Execute(),
            },
        });
        _pools.Add(pool);
        return pool;
    }

    /// <summary>What the keys of a test do, and what they have made together.</summary>
    private sealed class Policies
    {
        private readonly List<FakeResource> _made = [];
        private int _number;

        internal HashSet<string> Dead { get; } = [];

        internal HashSet<string> Hanging { get; } = [];

        internal TaskCompletionSource? Gate { get; set; }

        internal int Looks { get; set; }

        /// <summary>The keys for which the pool has asked for a policy, in their order.</summary>
        internal List<string> Asked { get; } = [];

        internal List<(FakeResource Resource, DestroyReason Reason)> Destroyed { get; } = [];

        internal IReadOnlyList<FakeResource> Made
        {
            get
            {
                lock (_made)
                {
                    return [.. _made];
                }
            }
        }

        internal ResourcePolicy<FakeResource> Of(string key)
        {
            lock (Asked)
            {
                Asked.Add(key);
            }

            return new Policy(this, key);
        }

        private FakeResource Make()
        {
            var resource = new FakeResource(Interlocked.Increment(ref _number));
            lock (_made)
            {
                _made.Add(resource);
            }

            return resource;
        }

        private sealed class Policy(Policies all, string key) : ResourcePolicy<FakeResource>
        {
            public override async ValueTask<FakeResource> CreateAsync(CancellationToken cancellationToken)
            {
                if (all.Hanging.Contains(key))
                {
                    await Task.Delay(Timeout.Infinite, cancellationToken);
                }

                if (all.Gate is { } gate)
                {
                    await gate.Task;
                }

                return all.Dead.Contains(key) ? throw new IOException($"{key} is down") : all.Make();
            }

            public override bool IsBroken(FakeResource resource)
            {
                all.Looks++;
                return resource.IsDead;
            }

            public override ValueTask DestroyAsync(FakeResource resource, DestroyReason reason)
            {
                resource.End();
                lock (all._made)
                {
                    all.Destroyed.Add((resource, reason));
                }

                return default;
            }
        }
    }
}

using System.Collections.Concurrent;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

/// <summary>
/// Threads that park for a key. No thread of the thread pool comes unless the test says so, because all of them may be parked: what they
/// wait for they do themselves, whatever its key.
/// </summary>
public sealed class KeyedSyncTests : ResourceTest
{
    private readonly ConcurrentQueue<IThreadPoolWorkItem> _asked = [];
    private readonly List<KeyedResourcePool<string, FakeResource>> _keyed = [];
    private volatile bool _come;

    [Fact]
    public void A_key_is_rented_created_and_returned_on_the_calling_thread()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed();
        KeyedResourceLease<string, FakeResource> lease = pool.Rent("a");
        FakeResource first = lease.Value;
        Assert.Equal("a", lease.Key);
        lease.Dispose();
        Time.Advance(2000); // it is validated now
        using (KeyedResourceLease<string, FakeResource> again = pool.Rent("a", Second))
        {
            Assert.Same(first, again.Value);
            Assert.Equal(1, first.Validations);
        }

        using KeyedResourceLease<string, FakeResource> other = pool.Rent("b", Timeout.InfiniteTimeSpan);
        Assert.NotSame(first, other.Value);
        Assert.Throws<ArgumentNullException>("key", () => pool.Rent(null!));
        Assert.Throws<ArgumentOutOfRangeException>("timeout", () => pool.Rent("a", TimeSpan.FromSeconds(-3)));
    }

    [Fact]
    public void What_another_key_has_idle_is_ended_by_the_thread_that_needs_its_place()
    {
        int ender = 0;
        Policy.OnDestroy = _ =>
        {
            ender = Environment.CurrentManagedThreadId;
            return default;
        };
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        pool.Rent("a").Dispose();
        pool.Rent("b").Dispose();
        Assert.Equal(Environment.CurrentManagedThreadId, ender);
        Assert.Equal([DestroyReason.Stolen], Policy.Destroyed.Select(static d => d.Reason));
        Assert.Equal(["b"], pool.Keys);
    }

    [Fact]
    public void A_parked_thread_waits_for_the_place_of_another_key()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        KeyedResourceLease<string, FakeResource> held = pool.Rent("a");
        Parked parked = Park(pool, "b");
        held.Dispose();
        parked.End();
        Assert.Equal([DestroyReason.Stolen], Policy.Destroyed.Select(static d => d.Reason));
        Assert.Equal(["b"], pool.Keys);
    }

    [Fact]
    public void What_another_key_has_not_reset_yet_is_ended_without_a_reset()
    {
        int resets = 0;
        Policy.OnResetHere = _ => ++resets > 0;
        Policy.OnReset = static (_, _) => throw new InvalidOperationException("its end would need a thread");
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1, reset: ResetMode.Background);
        pool.Rent("a").Dispose();
        pool.Rent("b").Dispose();
        KeyedResourceLease<string, FakeResource> held = pool.Rent("b");
        Parked parked = Park(pool, "a");
        held.Dispose();
        parked.End();
        Assert.Equal(1, resets); // of what was rented again
        Assert.Equal([DestroyReason.Stolen, DestroyReason.Stolen], Policy.Destroyed.Select(static d => d.Reason));
    }

    [Fact]
    public async Task Once_a_thread_has_parked_no_key_begins_a_reset_that_needs_another_thread()
    {
        Policy.OnReset = static (_, _) => throw new InvalidOperationException("its end would need a thread");
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1, reset: ResetMode.Background);
        LetThreadsCome();
        KeyedResourceLease<string, FakeResource> held = await pool.RentAsync("a"); // of which no thread parks
        _come = false;
        Parked parked = Park(pool, "b");
        held.Dispose();
        parked.End();
        Assert.Equal([DestroyReason.Stolen], Policy.Destroyed.Select(static d => d.Reason));
    }

    [Fact]
    public void A_timer_that_is_found_late_at_one_key_is_that_of_all()
    {
        LetThreadsCome();
        KeyedResourcePool<string, FakeResource> pool = NewKeyed();
        pool.Rent("a").Dispose();
        using KeyedResourceLease<string, FakeResource> held = pool.Rent("b");
        Time.Starve(TimeSpan.FromMinutes(5).TotalMilliseconds);
        held.Lease.Slot!.Core.OnTimer(isLate: true); // as its parked thread does
        Assert.Equal([DestroyReason.Idle], Policy.Destroyed.Select(static d => d.Reason));
        Assert.Equal(["b"], pool.Keys);
    }

    [Fact]
    public async Task A_creation_that_no_thread_has_begun_and_nobody_waits_for_gives_its_place_away()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        using var cancellation = new CancellationTokenSource();
        Task<KeyedResourceLease<string, FakeResource>> gone = pool.RentAsync("a", cancellation.Token).AsTask();
        Parked parked = Park(pool, "b");
        await cancellation.CancelAsync();
        parked.End();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => gone);
        Assert.Equal(["b"], pool.Keys);
        Assert.Single(Policy.Made);
    }

    [Fact]
    public async Task Awaiting_and_parked_callers_of_all_keys_are_served_by_arrival()
    {
        LetThreadsCome();
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        ConcurrentQueue<string> order = [];
        KeyedResourceLease<string, FakeResource> held = pool.Rent("a");
        Task first = AwaitAsync("b");
        Parked second = Park(pool, "c", () => order.Enqueue("c"));
        Task third = AwaitAsync("d");
        Parked fourth = Park(pool, "e", () => order.Enqueue("e"));
        held.Dispose();
        await Task.WhenAll(first, third).WaitAsync(Eventually.Limit);
        second.End();
        fourth.End();
        Assert.Equal(["b", "c", "d", "e"], order);

        async Task AwaitAsync(string key)
        {
            using KeyedResourceLease<string, FakeResource> lease = await pool.RentAsync(key, Timeout.InfiniteTimeSpan);
            order.Enqueue(key);
        }
    }

    [Fact]
    public void A_thread_that_has_ended_a_resource_for_its_place_is_not_passed_over()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        KeyedResourceLease<string, FakeResource> held = pool.Rent("a");
        using var isEnding = new ManualResetEventSlim();
        using var goesOn = new ManualResetEventSlim();
        Policy.OnDestroy = _ =>
        {
            isEnding.Set();
            Assert.True(goesOn.Wait(Eventually.Limit));
            return default;
        };
        ConcurrentQueue<string> order = [];
        Parked first = Park(pool, "b", () => order.Enqueue("b"));
        held.Dispose();
        Assert.True(isEnding.Wait(Eventually.Limit)); // the first one, which is not in the line meanwhile
        Parked second = Park(pool, "c", () => order.Enqueue("c"));
        goesOn.Set();
        first.End();
        second.End();
        Assert.Equal(["b", "c"], order);
    }

    [Fact]
    public async Task A_key_lives_while_its_thread_works_for_another_place()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1, keys: 2);
        using var isEnding = new ManualResetEventSlim();
        using var goesOn = new ManualResetEventSlim();
        Policy.OnDestroy = _ =>
        {
            isEnding.Set();
            Assert.True(goesOn.Wait(Eventually.Limit));
            return default;
        };
        pool.Rent("a").Dispose();
        var parked = new Parked(() => pool.Rent("b", Timeout.InfiniteTimeSpan).Dispose());
        Assert.True(isEnding.Wait(Eventually.Limit));
        pool.Validate();
        await pool.ClearAsync("b"); // looks whether the key has anything
        Assert.Contains("b", pool.Keys);
        await Assert.ThrowsAsync<ResourcePoolRejectedException>(() => pool.RentAsync("c").AsTask());
        goesOn.Set();
        parked.End();
        Assert.Equal(["b"], pool.Keys);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_parked_thread_times_out_and_its_key_is_forgotten(bool hasOwnTime)
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        using KeyedResourceLease<string, FakeResource> held = pool.Rent("a");
        ResourcePoolTimeoutException? late = null;
        Parked parked = Park(pool, "b", rent: () => late = Assert.Throws<ResourcePoolTimeoutException>(
            () => hasOwnTime ? pool.Rent("b", Second) : pool.Rent("b")));
        Time.Advance(hasOwnTime ? 999 : 9_999);
        Assert.Equal(1, pool.GetStatistics("b")!.Value.Waiting);
        Time.Advance(1);
        parked.End();
        Assert.Equal(("b", TimeSpan.FromSeconds(hasOwnTime ? 1 : 10)), (late!.Key, late.WaitedFor));
        Assert.Contains("All keys together use 1 of MaxTotal = 1", late.Message, StringComparison.Ordinal);
        Assert.Equal(["a"], pool.Keys);
        Assert.Throws<ResourcePoolTimeoutException>(() => pool.Rent("b", TimeSpan.Zero));
        Assert.Equal(["a"], pool.Keys);
    }

    [Fact]
    public async Task A_parked_thread_that_is_cancelled_or_interrupted_leaves_the_queue_and_its_key()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        using KeyedResourceLease<string, FakeResource> held = pool.Rent("a");
        using var cancellation = new CancellationTokenSource();
        Parked cancelled = Park(
            pool,
            "b",
            rent: () => Assert.ThrowsAny<OperationCanceledException>(() => pool.Rent("b", Timeout.InfiniteTimeSpan, cancellation.Token)));
        await cancellation.CancelAsync();
        cancelled.End();
        Assert.Equal(["a"], pool.Keys);
        Assert.ThrowsAny<OperationCanceledException>(() => pool.Rent("b", cancellation.Token));
        Assert.Equal(["a"], pool.Keys);
        Parked interrupted = Park(
            pool, "c", rent: () => Assert.Throws<ThreadInterruptedException>(() => pool.Rent("c", Timeout.InfiniteTimeSpan)));
        interrupted.Interrupt();
        interrupted.End();
        Assert.Equal(["a"], pool.Keys);
    }

    [Fact]
    public async Task A_shutdown_fails_parked_threads_of_all_keys()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1);
        KeyedResourceLease<string, FakeResource> held = pool.Rent("a");
        Parked[] parked = [.. new[] { "a", "b", "c" }.Select(key => Park(pool, key, rent: () =>
        {
            ResourcePoolShutdownException refused = Assert.Throws<ResourcePoolShutdownException>(
                () => pool.Rent(key, Timeout.InfiniteTimeSpan));
            Assert.Equal(key, refused.Key);
        }))];
        Task<bool> shutdown = pool.ShutdownAsync(Timeout.InfiniteTimeSpan);
        Array.ForEach(parked, static p => p.End());
        held.Dispose();
        LetThreadsCome();
        Assert.True(await Soon(shutdown));
        Assert.Throws<ResourcePoolShutdownException>(() => pool.Rent("a"));
    }

    [Fact]
    public void A_key_that_is_cleared_serves_its_parked_threads_anew()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 2, max: 1);
        KeyedResourceLease<string, FakeResource> held = pool.Rent("a");
        FakeResource cleared = held.Value;
        FakeResource? next = null;
        Parked own = Park(pool, "a", rent: () =>
        {
            using KeyedResourceLease<string, FakeResource> lease = pool.Rent("a", Timeout.InfiniteTimeSpan);
            next = lease.Value;
        });
        _ = pool.ClearAsync("a");
        Assert.Equal(1, pool.GetStatistics("a")!.Value.Waiting);
        held.Dispose();
        own.End();
        Assert.NotSame(cleared, next);
        Assert.Equal([DestroyReason.Cleared], Policy.Destroyed.Select(static d => d.Reason));
    }

    [Fact]
    public async Task A_key_with_a_parked_thread_does_not_make_room_for_another_one()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1, keys: 2);
        KeyedResourceLease<string, FakeResource> held = pool.Rent("a");
        Parked parked = Park(pool, "b");
        await Assert.ThrowsAsync<ResourcePoolRejectedException>(() => pool.RentAsync("c").AsTask());
        Assert.Throws<ResourcePoolRejectedException>(() => pool.Rent("c"));
        held.Dispose();
        parked.End();
    }

    [Fact]
    public void Without_taking_from_others_a_parked_thread_ends_what_the_clock_says()
    {
        KeyedResourcePool<string, FakeResource> pool = NewKeyed(total: 1, steals: false);
        pool.Rent("a").Dispose();
        Parked parked = Park(pool, "b");
        Assert.Empty(Policy.Destroyed);
        Time.Advance(TimeSpan.FromMinutes(5));
        parked.End();
        Assert.Equal([DestroyReason.Idle], Policy.Destroyed.Select(static d => d.Reason));
    }

    [Fact]
    public void A_policy_that_creates_only_asynchronously_says_so()
    {
        Policy.OnCreateHere = static _ => throw new NotSupportedException("only asynchronously");
        KeyedResourcePool<string, FakeResource> pool = NewKeyed();
        Assert.Throws<NotSupportedException>(() => pool.Rent("a"));
        Assert.Empty(pool.Keys);
    }

    public override async Task DisposeAsync()
    {
        LetThreadsCome();
        foreach (KeyedResourcePool<string, FakeResource> pool in _keyed)
        {
            pool.Validate();
            Assert.True(await Soon(pool.ShutdownAsync(TimeSpan.Zero)));
            Assert.Equal(0, pool.GetTotal());
        }

        await base.DisposeAsync();
    }

    private KeyedResourcePool<string, FakeResource> NewKeyed(
        int total = 10, int keys = int.MaxValue, int max = 4, bool steals = true, ResetMode reset = ResetMode.None)
    {
        var pool = new KeyedResourcePool<string, FakeResource>(_ => Policy, new()
        {
            MaxTotal = total,
            MaxKeys = keys,
            StealIdleAcrossKeys = steals,
            PerKey = Options(max: max, reset: reset, executor: Come),
        });
        _keyed.Add(pool);
        return pool;
    }

    private void Come(IThreadPoolWorkItem item)
    {
        if (_come)
        {
            item.Execute();
        }
        else
        {
            _asked.Enqueue(item);
        }
    }

    private void LetThreadsCome()
    {
        _come = true;
        while (_asked.TryDequeue(out IThreadPoolWorkItem? item))
        {
            item.Execute();
        }
    }

    /// <summary>A thread that rents, perhaps does something, returns and ends; seen waiting before this returns.</summary>
    private static Parked Park(KeyedResourcePool<string, FakeResource> pool, string key, Action? use = null, Action? rent = null)
    {
        int before = pool.GetStatistics(key)?.Waiting ?? 0;
        var parked = new Parked(rent ?? (() =>
        {
            using KeyedResourceLease<string, FakeResource> lease = pool.Rent(key, Timeout.InfiniteTimeSpan);
            use?.Invoke();
        }));
        Eventually.True(() => pool.GetStatistics(key)?.Waiting > before || !parked.IsAlive, "the thread to wait");
        return parked;
    }
}

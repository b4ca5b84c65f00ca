using System.Collections.Concurrent;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

/// <summary>No thread of the thread pool comes, because all of them are parked: what they wait for they do themselves.</summary>
public sealed class SaturationTests : ResourceTest
{
    private readonly ConcurrentQueue<IThreadPoolWorkItem> _asked = [];
    private volatile bool _come;

    [Fact]
    public void A_parked_thread_resets_what_another_one_returns()
    {
        int resetter = 0;
        int resets = 0;
        Policy.OnReset = static (_, _) => throw new InvalidOperationException("its end would need a thread");
        Policy.OnResetHere = _ =>
        {
            resets++;
            resetter = Environment.CurrentManagedThreadId;
            return true;
        };
        ResourcePool<FakeResource> pool = NewPool(Saturated(reset: ResetMode.Background));
        ResourceLease<FakeResource> lease = pool.Rent(Second);
        Parked second = Park(pool);
        lease.Dispose();
        second.End();
        Assert.Equal(second.Id, resetter);
        Assert.Equal(1, resets);
        LetThreadsCome();
        Assert.Equal(2, resets);
    }

    [Fact]
    public void A_thread_that_comes_to_rent_resets_what_was_returned_before()
    {
        ResourcePool<FakeResource> pool = NewPool(Saturated(reset: ResetMode.Background));
        for (int i = 0; i < 100; i++)
        {
            pool.Rent(Second).Dispose();
            Assert.Equal(1, pool.GetStatistics().Checking);
        }

        Assert.Single(Policy.Made);
        Assert.Single(_asked); // one thread was asked for, however often
        LetThreadsCome();
        Assert.Equal(1, pool.GetStatistics().Idle);
    }

    [Fact]
    public void A_thread_that_comes_resets_and_what_it_finds_done_it_leaves()
    {
        int resets = 0;
        Policy.OnResetHere = _ => ++resets > 0;
        ResourcePool<FakeResource> pool = NewPool(Saturated(max: 2, reset: ResetMode.Background));
        ResourceLease<FakeResource> first = pool.Rent(Second);
        pool.Rent(Second).Dispose();
        first.Dispose();
        Assert.Equal((2, 2, 0), (_asked.Count, pool.GetStatistics().Checking, resets));
        ResourceLease<FakeResource> again = pool.Rent(Second);
        Assert.Equal(1, resets);
        LetThreadsCome();
        Assert.Equal((2, 1), (resets, pool.GetStatistics().Idle));
        again.Dispose();
    }

    [Fact]
    public void A_reset_that_fails_ends_the_resource_and_the_parked_thread_makes_another()
    {
        Policy.OnResetHere = static resource => resource.Number != 1;
        ResourcePool<FakeResource> pool = NewPool(Saturated(reset: ResetMode.Background));
        ResourceLease<FakeResource> lease = pool.Rent(Second);
        Parked second = Park(pool);
        lease.Dispose();
        second.End();
        Assert.Equal(2, Policy.Made.Count);
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.ResetFailed));
        LetThreadsCome();
    }

    [Fact]
    public void What_was_cleared_before_its_reset_is_ended_without_one_and_a_creation_that_has_not_begun_is_not_made_twice()
    {
        int resets = 0;
        Policy.OnResetHere = _ => ++resets > 0;
        ResourcePool<FakeResource> pool = NewPool(Saturated(max: 2, reset: ResetMode.Background));
        ResourceLease<FakeResource> lease = pool.Rent(Second);
        Task<ResourceLease<FakeResource>> awaited = pool.RentAsync().AsTask();
        lease.Dispose();
        Assert.Equal((1, 1), (pool.GetStatistics().Checking, pool.GetStatistics().Creating));
        Task clear = pool.ClearAsync();
        Assert.Equal((0, 1, 1), (pool.GetStatistics().Checking, pool.GetStatistics().Creating, pool.GetStatistics().Destroying));
        LetThreadsCome();
        Assert.True(clear.Wait(Eventually.Limit));
        Assert.True(awaited.Wait(Eventually.Limit));
        Assert.Equal(0, resets);
        Assert.Equal([1, 2], Policy.Made.Select(static resource => resource.Number));
        awaited.Result.Dispose();
        LetThreadsCome();
        Assert.Equal(1, pool.GetStatistics().Idle);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_parked_thread_ends_what_takes_its_place(bool isParkedBefore)
    {
        ResourcePool<FakeResource> pool = NewPool(Saturated(lifetime: 1000));
        ResourceLease<FakeResource> lease = pool.Rent(Second);
        Time.Advance(2000);
        Parked? second = isParkedBefore ? Park(pool) : null;
        lease.Dispose();
        (second ?? Park(pool)).End();
        Assert.Equal(2, Policy.Made.Count);
        Assert.Equal([DestroyReason.Lifetime], Policy.Destroyed.Select(static d => d.Reason));
        LetThreadsCome();
    }

    [Fact]
    public void What_a_parked_thread_ends_does_not_come_back_to_it()
    {
        // As of a user interface: what is posted to it waits until its thread is free.
        Policy.OnDestroy = static async _ => await Task.Yield();
        ResourcePool<FakeResource> pool = NewPool(Saturated(lifetime: 1000));
        ResourceLease<FakeResource> lease = pool.Rent(Second);
        Time.Advance(2000);
        var second = new Parked(() =>
        {
            SynchronizationContext.SetSynchronizationContext(new BusyContext());
            pool.Rent(Timeout.InfiniteTimeSpan).Dispose();
            Assert.IsType<BusyContext>(SynchronizationContext.Current);
        });
        Eventually.True(() => pool.GetStatistics().Waiting > 0, "the thread to wait");
        lease.Dispose();
        second.End();
        Assert.Equal(2, Policy.Made.Count);
        LetThreadsCome();
    }

    [Fact]
    public void A_parked_thread_that_hangs_in_an_end_keeps_no_other_resource_from_others()
    {
        using var isCalled = new ManualResetEventSlim();
        using var goesOn = new ManualResetEventSlim();
        Policy.OnDestroy = _ =>
        {
            isCalled.Set();
            goesOn.Wait();
            return default;
        };
        ResourcePool<FakeResource> pool = NewPool(Saturated(max: 2));
        ResourceLease<FakeResource> broken = pool.Rent(Second);
        ResourceLease<FakeResource> other = pool.Rent(Second);
        Parked third = Park(pool);
        broken.MarkBroken();
        broken.Dispose();
        Assert.True(isCalled.Wait(Eventually.Limit));
        other.Dispose();
        bool isRented = pool.TryRent(out ResourceLease<FakeResource> again);
        again.Dispose();
        goesOn.Set();
        third.End();
        Assert.True(isRented);
        LetThreadsCome();
    }

    [Fact]
    public void A_parked_thread_creates_what_was_to_be_kept_ready()
    {
        ResourcePool<FakeResource> pool = NewPool(Saturated(max: 1, min: 1));
        Assert.Equal(1, pool.GetStatistics().Creating);
        pool.Rent(Second).Dispose();
        Assert.Equal(1, pool.GetStatistics().Created);
        LetThreadsCome();
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Fact]
    public async Task A_parked_thread_creates_for_the_one_before_it()
    {
        ResourcePool<FakeResource> pool = NewPool(Saturated());
        Task<ResourceLease<FakeResource>> first = Wait(pool);
        Parked second = Park(pool);
        (await Soon(first)).Dispose();
        second.End();
        Assert.Single(Policy.Made);
        LetThreadsCome();
    }

    [Fact]
    public void What_has_only_an_asynchronous_way_waits_for_the_thread_pool()
    {
        Policy.OnResetHere = static _ => null;
        int resets = 0;
        Policy.OnReset = (_, _) => new(++resets > 0);
        ResourcePool<FakeResource> pool = NewPool(Saturated(reset: ResetMode.Background));
        ResourceLease<FakeResource> lease = pool.Rent(Second);
        Parked second = Park(pool);
        lease.Dispose();
        Eventually.True(() => !_asked.IsEmpty && pool.GetStatistics().Waiting == 1, "the parked thread to hand the reset over");
        LetThreadsCome();
        second.End();
        Assert.Equal(2, resets);
    }

    [Fact]
    public async Task An_asynchronous_return_begins_its_reset_at_once()
    {
        Policy.OnResetHere = static _ => throw new InvalidOperationException("not on this way");
        ResourcePool<FakeResource> pool = NewPool(Saturated(reset: ResetMode.Background));
        await pool.Rent(Second).DisposeAsync();
        Assert.Equal((1, 0), (pool.GetStatistics().Idle, _asked.Count));
        LetThreadsCome();
    }

    [Fact]
    public async Task The_time_of_an_operation_runs_from_its_beginning()
    {
        ResourcePool<FakeResource> pool = NewPool(Saturated(max: 2, reset: ResetMode.Background));
        pool.Rent(Second).Dispose();
        using var cancellation = new CancellationTokenSource();
        Task<ResourceLease<FakeResource>> gone = Wait(pool, cancellation: cancellation.Token);
        Task<ResourceLease<FakeResource>> next = Wait(pool, cancellation: cancellation.Token);
        await cancellation.CancelAsync();
        Time.Advance(60_000);
        ResourcePoolStatistics now = pool.GetStatistics();
        Assert.Equal((1, 1, 0L), (now.Checking, now.Creating, now.GetDestroyed(DestroyReason.Abandoned)));
        pool.Validate();
        LetThreadsCome();
        Assert.Equal((2, 2), (pool.GetStatistics().Idle, Policy.Made.Count));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => gone);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => next);
    }

    [Fact]
    public async Task A_shutdown_ends_what_no_thread_has_begun()
    {
        ResourcePool<FakeResource> pool = NewPool(Saturated(max: 2, reset: ResetMode.Background));
        pool.Rent(Second).Dispose();
        Task<ResourceLease<FakeResource>> other = Wait(pool);
        Task<ResourceLease<FakeResource>> refused = Wait(pool);
        Task<bool> shutdown = pool.ShutdownAsync(TimeSpan.Zero);
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => refused);
        Assert.Equal((0, 0, 1), (pool.GetStatistics().Checking, pool.GetStatistics().Creating, pool.GetStatistics().Destroying));
        LetThreadsCome();
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => other);
        Assert.True(await shutdown.WaitAsync(Eventually.Limit));
        Assert.Equal([DestroyReason.Shutdown], Policy.Destroyed.Select(static d => d.Reason));
    }

    private ResourcePoolOptions Saturated(
        int max = 1, int min = 0, ResetMode reset = ResetMode.None, double lifetime = 1_800_000) =>
        Options(max: max, min: min, reset: reset, lifetime: lifetime, executor: Come);

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

    /// <summary>A thread that rents, returns and ends; seen waiting before this returns.</summary>
    private static Parked Park(ResourcePool<FakeResource> pool)
    {
        var parked = new Parked(() => pool.Rent(Timeout.InfiniteTimeSpan).Dispose());
        Eventually.True(() => pool.GetStatistics().Waiting > 0 || !parked.IsAlive, "the thread to wait");
        return parked;
    }

    /// <summary>The context of a thread that is busy.</summary>
    private sealed class BusyContext : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state)
        {
            // Its thread never comes to it.
        }
    }
}

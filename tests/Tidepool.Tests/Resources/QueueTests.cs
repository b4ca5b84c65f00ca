using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Resources;

public sealed class QueueTests(ITestOutputHelper output) : ResourceTest
{
    [Fact]
    public async Task Grants_follow_arrival_and_a_newcomer_never_overtakes()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>>[] waiting = [.. Enumerable.Range(0, 20).Select(_ => Wait(pool))];
        foreach (Task<ResourceLease<FakeResource>> next in waiting)
        {
            Assert.False(pool.TryRent(out _));
            Assert.Throws<ResourcePoolTimeoutException>(() => pool.Rent(TimeSpan.Zero));
            lease.Dispose();
            lease = await Soon(next);
            Assert.Equal(waiting.Length - 1 - Array.IndexOf(waiting, next), pool.GetStatistics().Waiting);
        }

        lease.Dispose();
    }

    /// <summary>Each section reads the clock once, so the clock counts them.</summary>
    [Fact]
    public async Task A_rental_that_waits_and_the_return_that_serves_it_enter_the_gate_once_each()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        for (int i = 0; i < 3; i++)
        {
            int before = Time.Reads;
            Task<ResourceLease<FakeResource>> next = Wait(pool);
            Assert.Equal(before + 1, Time.Reads);

            lease.Dispose();
            Assert.Equal(before + 2, Time.Reads);
            lease = await Soon(next);
        }

        lease.Dispose();
    }

    [Fact]
    public async Task Parked_threads_and_awaiting_callers_stand_in_one_queue()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        var order = new List<int>();
        var tasks = new List<Task>();
        for (int i = 0; i < 8; i++)
        {
            int number = i;
            if (i % 2 == 0)
            {
                tasks.Add(Task.Run(async () =>
                {
                    ResourceLease<FakeResource> mine = await pool.RentAsync(Timeout.InfiniteTimeSpan);
                    order.Add(number);
                    mine.Dispose();
                }));
            }
            else
            {
                tasks.Add(Task.Factory.StartNew(
                    () =>
                    {
                        ResourceLease<FakeResource> mine = pool.Rent(Timeout.InfiniteTimeSpan);
                        order.Add(number);
                        mine.Dispose();
                    },
                    CancellationToken.None,
                    TaskCreationOptions.LongRunning,
                    TaskScheduler.Default));
            }

            Eventually.True(() => pool.GetStatistics().Waiting == number + 1, "the rental to wait");
        }

        lease.Dispose();
        await Task.WhenAll(tasks).WaitAsync(Eventually.Limit);
        Assert.Equal(Enumerable.Range(0, 8), order);
    }

    [Fact]
    public async Task A_cancelled_or_timed_out_waiter_never_owns_a_resource()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        using var cancellation = new CancellationTokenSource();
        Task<ResourceLease<FakeResource>> cancelled = Wait(pool, Second * 5, cancellation.Token);
        Task<ResourceLease<FakeResource>> timedOut = Wait(pool, Second);
        Task<ResourceLease<FakeResource>> patient = Wait(pool, Second * 5);
        await cancellation.CancelAsync();
        Time.Advance(1000);
        lease.Dispose();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Soon(cancelled));
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(timedOut));
        ResourceLease<FakeResource> mine = await Soon(patient);
        Assert.Equal(1, pool.GetStatistics().Leased);
        mine.Dispose();
        Assert.Equal(1, pool.GetStatistics().Idle);
    }

    [Fact]
    public void The_waiter_beyond_the_limit_is_rejected_at_once_and_changes_nothing()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, waiters: 2));
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>>[] waiting = [Wait(pool), Wait(pool)];
        ResourcePoolStatistics before = pool.GetStatistics();
        ValueTask<ResourceLease<FakeResource>> third = pool.RentAsync();
        Assert.True(third.IsFaulted);
        ResourcePoolRejectedException rejected = Assert.Throws<ResourcePoolRejectedException>(() => third.GetAwaiter().GetResult());
        Assert.Contains("MaxWaiters = 2", rejected.Message, StringComparison.Ordinal);
        Assert.Throws<ResourcePoolRejectedException>(() => pool.Rent(Second));
        Assert.Equal(before with { Rejected = 2 }, pool.GetStatistics());
        lease.Dispose();
        waiting[0].GetAwaiter().GetResult().Dispose();
        waiting[1].GetAwaiter().GetResult().Dispose();
    }

    [Fact]
    public async Task A_nested_rental_at_exhaustion_ends_by_timeout_and_is_told_so()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        using ResourceLease<FakeResource> outer = Rent(pool);
        Time.Advance(3000);
        Task<ResourceLease<FakeResource>> inner = Wait(pool, Second);
        Time.Advance(1000);
        ResourcePoolTimeoutException timeout = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(inner));
        Assert.Contains("nested rental", timeout.Message, StringComparison.Ordinal);
        Assert.Contains("1 leased of MaxSize = 1", timeout.Message, StringComparison.Ordinal);
        Assert.Equal(TimeSpan.FromSeconds(4), timeout.OldestLeaseAge);
        Assert.Equal(1, timeout.Statistics.Leased);
        Assert.Equal(pool.Name, timeout.PoolName);
        Assert.Null(timeout.InnerException);
    }

    [Fact]
    public async Task Cancelling_while_a_return_hands_over_is_one_or_the_other()
    {
        for (int round = 0; round < 300; round++)
        {
            ResourcePool<FakeResource> pool = new(Policy, Options(max: 1));
            ResourceLease<FakeResource> lease = Rent(pool);
            using var cancellation = new CancellationTokenSource();
            Task<ResourceLease<FakeResource>> waiting = Wait(pool, Timeout.InfiniteTimeSpan, cancellation.Token);
            Task cancel = Task.Run(cancellation.Cancel);
            lease.Dispose();
            await cancel;
            try
            {
                (await Soon(waiting)).Dispose();
            }
            catch (OperationCanceledException)
            {
            }

            Assert.Equal(1, pool.GetStatistics().Idle);
            pool.Validate();
            await pool.DisposeAsync();
        }
    }

    [Fact]
    public async Task A_node_that_served_before_is_not_reached_by_an_old_cancellation()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        using var first = new CancellationTokenSource();
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>> served = Wait(pool, Second, first.Token);
        lease.Dispose();
        lease = await Soon(served);
        Task<ResourceLease<FakeResource>> second = Wait(pool, Second);
        await first.CancelAsync();
        Assert.False(second.IsCompleted);
        lease.Dispose();
        (await Soon(second)).Dispose();
        Assert.Equal(0, pool.GetStatistics().Cancelled);
    }

    [Fact]
    public async Task A_waiter_never_goes_on_inside_the_return_or_under_the_lock()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        var local = new AsyncLocal<string> { Value = "renter" };
        int returner = Environment.CurrentManagedThreadId;
        bool isInReturn = false;
        Task<string?> waiting = Continue();
        local.Value = "returner";
        isInReturn = true;
        lease.Dispose();
        isInReturn = false;
        Assert.Equal("renter", await waiting.WaitAsync(Eventually.Limit));

        async Task<string?> Continue()
        {
            ResourceLease<FakeResource> mine = await pool.RentAsync(Second).ConfigureAwait(false);
            Assert.False(isInReturn && Environment.CurrentManagedThreadId == returner, "went on inside the return");
            Assert.False(pool.Core.Gate.IsHeldByCurrentThread);
            mine.Dispose();
            return local.Value;
        }
    }

    [Fact]
    public async Task A_thousand_renters_on_fifty_wait_for_the_same_number_of_turns()
    {
        const int Renters = 1000;
        const int Resources = 50;
        var random = Seeds.New(output);
        ResourcePool<FakeResource> pool = NewPool(Options(max: Resources));
        var held = new List<ResourceLease<FakeResource>>();
        var queue = new Queue<(Task<ResourceLease<FakeResource>> Rental, int Turn)>();
        for (int i = 0; i < Resources; i++)
        {
            held.Add(Rent(pool));
        }

        for (int i = Resources; i < Renters; i++)
        {
            queue.Enqueue((Wait(pool), 0));
        }

        var waits = new List<int>();
        for (int turn = 1; turn <= 10_000; turn++)
        {
            int which = random.Next(held.Count);
            held[which].Dispose();
            (Task<ResourceLease<FakeResource>> rental, int asked) = queue.Dequeue();
            held[which] = await Soon(rental);
            waits.Add(turn - asked);
            queue.Enqueue((Wait(pool), turn));
        }

        waits.Sort();
        Assert.InRange(waits[waits.Count * 999 / 1000], 1, 5 * waits[waits.Count / 2]);
        Assert.Equal(Renters - Resources, waits[^1]);
        Task[] rest = [.. queue.Select(async q => (await q.Rental).Dispose())];
        held.ForEach(static l => l.Dispose());
        await Task.WhenAll(rest).WaitAsync(Eventually.Limit);
    }

    [Fact]
    public async Task Asking_for_the_result_too_early_or_twice_throws_and_takes_nothing_from_the_queue()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        ValueTask<ResourceLease<FakeResource>> rental = pool.RentAsync();
        Assert.Throws<InvalidOperationException>(() => Result(rental));
        pool.Validate();
        lease.Dispose();
        lease = Result(rental);
        Task<ResourceLease<FakeResource>> next = Wait(pool);
        Assert.Throws<InvalidOperationException>(() => Result(rental));
        pool.Validate();
        lease.Dispose();
        (await Soon(next)).Dispose();

        static ResourceLease<FakeResource> Result(ValueTask<ResourceLease<FakeResource>> rental) => rental.GetAwaiter().GetResult();
    }

    [Fact]
    public async Task A_renter_whose_context_takes_nothing_more_costs_the_others_nothing()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        _ = RentIn(new GoneContext());
        Task<ResourceLease<FakeResource>> next = Wait(pool);
        lease.Dispose();
        lease = await Soon(next);
        _ = RentIn(new GoneContext());
        next = Wait(pool);
        Assert.False(await pool.ShutdownAsync(TimeSpan.Zero));
        await Assert.ThrowsAsync<ResourcePoolShutdownException>(() => Soon(next));
        lease.Dispose();

        async Task RentIn(SynchronizationContext context)
        {
            SynchronizationContext.SetSynchronizationContext(context);
            using ResourceLease<FakeResource> never = await pool.RentAsync();
            Assert.Fail("the context has resumed its renter");
        }
    }

    /// <summary>That of a window which was closed.</summary>
    private sealed class GoneContext : SynchronizationContext
    {
        public override void Post(SendOrPostCallback d, object? state) => throw new InvalidOperationException("the window has gone");
    }
}

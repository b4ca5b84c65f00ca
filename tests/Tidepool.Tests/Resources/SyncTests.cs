using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

public sealed class SyncTests : ResourceTest
{
    [Fact]
    public void A_parked_thread_creates_and_validates_by_itself()
    {
        int creator = 0;
        Policy.OnCreateHere = _ =>
        {
            creator = Environment.CurrentManagedThreadId;
            return Policy.Make();
        };
        ResourcePool<FakeResource> pool = NewPool(Options(isInline: false));
        pool.Rent(Second).Dispose();
        Assert.Equal(Environment.CurrentManagedThreadId, creator);
        Time.Advance(2000);
        Policy.OnValidate = static (_, _) => throw new InvalidOperationException("not on this way");
        pool.Rent(Second).Dispose();
        Assert.Equal(1, Policy.Made.Single().Validations);
        Time.Advance(2000);
        Policy.OnValidateHere = static _ => false;
        pool.Rent(Second).Dispose();
        Eventually.True(() => pool.GetStatistics().GetDestroyed(DestroyReason.ValidationFailed) == 1, "the failed one to go");
    }

    [Fact]
    public void Without_a_synchronous_validation_the_pool_validates_and_the_thread_waits()
    {
        Policy.OnValidateHere = static _ => null;
        ResourcePool<FakeResource> pool = NewPool(Options(isInline: false));
        pool.Rent(Second).Dispose();
        Time.Advance(2000);
        pool.Rent(Timeout.InfiniteTimeSpan).Dispose();
        Assert.Equal(2, Policy.Made.Single().Validations);
    }

    [Fact]
    public void A_policy_that_creates_only_asynchronously_says_so_and_is_not_blamed_for_it()
    {
        Policy.OnCreateHere = static _ => throw new NotSupportedException("only asynchronously");
        ResourcePool<FakeResource> pool = NewPool();
        Assert.Throws<NotSupportedException>(() => pool.Rent(Second));
        Assert.Equal(0, pool.GetStatistics().CreateFailures);
        Rent(pool).Dispose();
        pool.Rent(Second).Dispose();
    }

    [Fact]
    public void A_failed_creation_on_the_renters_thread_fails_that_renter()
    {
        Policy.CreateError = new IOException("down");
        ResourcePool<FakeResource> pool = NewPool();
        ResourceCreateException failure = Assert.Throws<ResourceCreateException>(() => pool.Rent(Second));
        Assert.Same(Policy.CreateError, failure.InnerException);
        Policy.CreateError = null;
        Time.Advance(1000);
        pool.Rent(Second).Dispose();
    }

    [Fact]
    public async Task A_creation_on_the_renters_thread_ends_with_its_token_and_its_time_and_is_no_failure()
    {
        ResourcePool<FakeResource> pool = NewPool();
        using var begun = new SemaphoreSlim(0);
        Policy.OnCreateHere = token =>
        {
            begun.Release();
            token.WaitHandle.WaitOne();
            throw new OperationCanceledException(token);
        };
        using var cancellation = new CancellationTokenSource();
        Task cancelled = Task.Factory.StartNew(
            () => pool.Rent(Second, cancellation.Token),
            CancellationToken.None,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        await begun.WaitAsync();
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.WaitAsync(Eventually.Limit));
        Task timedOut = Task.Factory.StartNew(
            () => pool.Rent(Second), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await begun.WaitAsync();
        Time.Advance(1000);
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => timedOut.WaitAsync(Eventually.Limit));
        Assert.Equal((0L, 0), (pool.GetStatistics().CreateFailures, pool.GetStatistics().Creating));
    }

    [Fact]
    public void A_parked_thread_times_out_on_the_systems_clock()
    {
        var pool = new ResourcePool<FakeResource>(Policy, new ResourcePoolOptions { MaxSize = 1 });
        Watch(pool);
        using ResourceLease<FakeResource> lease = pool.Rent(Eventually.Limit);
        Assert.Throws<ResourcePoolTimeoutException>(() => pool.Rent(TimeSpan.FromMilliseconds(20)));
    }

    [Fact]
    public void A_rental_without_a_time_of_its_own_waits_as_long_as_the_options_say()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = pool.Rent();
        ResourcePoolTimeoutException? late = null;
        var parked = new Parked(() => late = Assert.Throws<ResourcePoolTimeoutException>(() => pool.Rent()));
        Eventually.True(() => pool.GetStatistics().Waiting == 1, "the thread to wait");
        Time.Advance(9_999);
        Assert.Equal(1, pool.GetStatistics().Waiting);
        Time.Advance(1);
        parked.End();
        Assert.Equal(TimeSpan.FromSeconds(10), late!.WaitedFor);
        using var cancelled = new CancellationTokenSource();
        cancelled.Cancel();
        Assert.ThrowsAny<OperationCanceledException>(() => pool.Rent(cancelled.Token));
        lease.Dispose();
        pool.Rent().Dispose();
    }

    [Fact]
    public async Task Renting_synchronously_completes_while_every_thread_of_the_thread_pool_is_blocked()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, isInline: false));
        ThreadPool.GetMinThreads(out int workers, out _);
        ThreadPool.GetAvailableThreads(out int available, out _);
        using var release = new ManualResetEventSlim();
        int blockers = workers + 4;
        Task[] blocked = [.. Enumerable.Range(0, blockers).Select(_ => Task.Run(release.Wait))];
        Assert.True(available >= 0);
        var result = new TaskCompletionSource(TaskCreationOptions.None);
        var thread = new Thread(() =>
        {
            ResourceLease<FakeResource> first = pool.Rent(Timeout.InfiniteTimeSpan);
            var second = new Thread(() =>
            {
                pool.Rent(Timeout.InfiniteTimeSpan).Dispose();
                release.Set();
            });
            second.Start();
            while (pool.GetStatistics().Waiting == 0)
            {
                Thread.Yield();
            }

            first.Dispose();
            second.Join();
            result.SetResult();
        });
        thread.Start();
        await result.Task.WaitAsync(Eventually.Limit);
        await Task.WhenAll(blocked);
    }

    [Fact]
    public async Task A_parked_thread_that_is_interrupted_leaves_the_queue()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        Exception? caught = null;
        var thread = new Thread(() => caught = Record.Exception(() => pool.Rent(Timeout.InfiniteTimeSpan)));
        thread.Start();
        Eventually.True(() => pool.GetStatistics().Waiting == 1, "the thread to wait");
        Task<ResourceLease<FakeResource>> next = Wait(pool);
        thread.Interrupt();
        Assert.True(thread.Join(Eventually.Limit));
        Assert.IsType<ThreadInterruptedException>(caught);
        pool.Validate();
        Assert.Equal((1, 1L), (pool.GetStatistics().Waiting, pool.GetStatistics().Cancelled));
        lease.Dispose();
        (await Soon(next)).Dispose();
    }

    [Fact]
    public void An_interrupt_of_a_thread_that_returns_costs_no_resource_and_waits_for_the_next_wait()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(order: ReuseOrder.FirstIn)); // each return enters the gate
        ResourceLease<FakeResource> lease = Rent(pool);
        Exception? thrown = null;
        Exception? later = null;
        var thread = new Thread(() =>
        {
            Thread.CurrentThread.Interrupt();
            thrown = Record.Exception(lease.Dispose);
            later = Record.Exception(static () => Thread.Sleep(Timeout.Infinite));
        })
        {
            IsBackground = true,
        };
        using (PoolSection<FakeResource> section = pool.Core.Gate.Enter())
        {
            thread.Start();
            Eventually.True(
                () => (thread.ThreadState & (ThreadState.WaitSleepJoin | ThreadState.Stopped)) != 0, "the thread to wait for the gate");
        }

        Assert.True(thread.Join(Eventually.Limit));
        Assert.Null(thrown);
        Assert.IsType<ThreadInterruptedException>(later);
        Assert.Equal((0, 1), (pool.GetStatistics().Leased, pool.GetStatistics().Idle));
    }
}

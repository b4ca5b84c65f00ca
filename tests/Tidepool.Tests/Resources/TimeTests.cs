using System.Runtime.CompilerServices;
using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Resources;

public sealed class TimeTests(ITestOutputHelper output) : ResourceTest
{
    [Fact]
    public void Idle_resources_end_by_their_own_last_use_but_not_below_the_smallest_size()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 4, min: 1));
        ResourceLease<FakeResource>[] leases = [.. Enumerable.Range(0, 4).Select(_ => Rent(pool))];
        Array.ForEach(leases, static l => l.Dispose());
        Time.Advance(TimeSpan.FromMinutes(4));
        Rent(pool).Dispose();
        Time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal((1, 3L), (pool.GetStatistics().Total, pool.GetStatistics().GetDestroyed(DestroyReason.Idle)));
        Time.Advance(TimeSpan.FromMinutes(20));
        Assert.Equal(1, pool.GetStatistics().Total);
        Assert.Equal(3, pool.GetStatistics().GetDestroyed(DestroyReason.Idle));
    }

    [Fact]
    public void A_busy_pool_never_ends_its_working_set_and_lets_the_tail_go()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 4));
        ResourceLease<FakeResource>[] leases = [.. Enumerable.Range(0, 4).Select(_ => Rent(pool))];
        Array.ForEach(leases, static l => l.Dispose());
        for (int minute = 0; minute < 20; minute++)
        {
            using ResourceLease<FakeResource> first = Rent(pool);
            using ResourceLease<FakeResource> second = Rent(pool);
            Time.Advance(TimeSpan.FromMinutes(1));
        }

        Assert.Equal((2, 2L), (pool.GetStatistics().Total, pool.GetStatistics().GetDestroyed(DestroyReason.Idle)));
        Assert.Equal(4, Policy.Made.Count);
    }

    [Fact]
    public void A_lifetime_is_drawn_once_inside_its_range_and_never_interrupts_a_lease()
    {
        var random = Seeds.New(output);
        var ends = new List<double>();
        for (int i = 0; i < 40; i++)
        {
            double draw = random.NextDouble();
            ResourcePool<FakeResource> pool = new(Policy, new ResourcePoolOptions
            {
                MaxSize = 1,
                MaxLifetime = TimeSpan.FromSeconds(1000),
                LifetimeJitter = 0.2,
                IdleTimeout = Timeout.InfiniteTimeSpan,
                TimeProvider = Time,
                NextRandom = () => draw,
                Executor = static item => item.Execute(),
            });
            Watch(pool);
            ResourceLease<FakeResource> lease = Rent(pool);
            FakeResource resource = lease.Value;
            double age = 0;
            while (resource.Ends == 0)
            {
                lease.Dispose();
                Time.Advance(5000);
                age += 5;
                lease = Rent(pool);
            }

            ends.Add(age);
            Time.Advance(TimeSpan.FromSeconds(5000));
            Assert.Equal(0, lease.Value.Ends);
            lease.Dispose();
        }

        Assert.All(ends, static age => Assert.InRange(age, 800, 1005));
        Assert.True(ends.Distinct().Count() > 10);
        Assert.True(Policy.Destroyed.All(static d => d.Reason is DestroyReason.Lifetime or DestroyReason.Shutdown));
    }

    [Fact]
    public void The_smallest_size_and_idle_reserve_are_kept_and_restored_after_losses()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 5, min: 2, minIdle: 2));
        Assert.Equal(2, pool.GetStatistics().Idle);
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
        Assert.Equal((2, 4), (pool.GetStatistics().Idle, pool.GetStatistics().Total));
        ResourceLease<FakeResource> third = Rent(pool);
        Assert.Equal((2, 5), (pool.GetStatistics().Idle, pool.GetStatistics().Total));
        Array.ForEach([.. Policy.Made], static r => r.IsDead = true);
        Array.ForEach([.. leases, third], static l => l.Dispose());
        Assert.InRange(pool.GetStatistics().Idle, 2, 5);
        Time.Advance(TimeSpan.FromMinutes(60));
        Assert.InRange(pool.GetStatistics().Idle, 2, 5);
        Assert.All(Policy.Made.Take(5), static r => Assert.Equal(1, r.Ends));
    }

    [Fact]
    public void What_a_late_timer_finds_overdue_is_given_another_second()
    {
        var answer = new TaskCompletionSource<bool>();
        Policy.OnReset = (_, _) => new(answer.Task);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, reset: ResetMode.Background));
        Rent(pool).Dispose();
        Time.Starve(60_000); // no thread for the timer, nor for the answer
        Time.Advance(0);
        Assert.Equal(1, pool.GetStatistics().Checking);
        FakePolicy.Open(answer);
        Assert.Equal((1, 0L), (pool.GetStatistics().Idle, pool.GetStatistics().Destroyed));

        answer = new TaskCompletionSource<bool>();
        Rent(pool).Dispose();
        Time.Starve(60_000);
        Time.Advance(999);
        Assert.Equal(1, pool.GetStatistics().Checking);
        Time.Starve(60_000);
        Time.Advance(0);
        Assert.Equal((0, 1L), (pool.GetStatistics().Total, pool.GetStatistics().GetDestroyed(DestroyReason.Abandoned)));
        FakePolicy.Open(answer);
    }

    [Fact]
    public void The_smallest_size_is_restored_after_the_server_was_away()
    {
        Policy.CreateError = new IOException("down");
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3, min: 2));
        Time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(0, pool.GetStatistics().Total);
        Assert.InRange(Policy.Attempts, 3, 25);
        Policy.CreateError = null;
        Time.Advance(TimeSpan.FromSeconds(10));
        Assert.Equal(2, pool.GetStatistics().Idle);
    }

    [Fact]
    public async Task A_clock_of_the_wall_that_jumps_ends_nothing_and_hangs_nobody()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2, min: 1));
        Rent(pool).Dispose();
        Time.Wall += TimeSpan.FromDays(1000);
        Rent(pool).Dispose();
        Time.Wall -= TimeSpan.FromDays(3000);
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, Second);
        Time.Advance(1000);
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(waiting));
        Array.ForEach(leases, static l => l.Dispose());
        Assert.Equal(0, pool.GetStatistics().Destroyed);
        Time.Advance(TimeSpan.FromDays(10)); // a pause of the process
        Assert.Equal(1, pool.GetStatistics().Total);
    }

    [Fact]
    public void A_pool_that_was_dropped_is_collected_although_it_has_a_timer()
    {
        (WeakReference pool, WeakReference resource) = Drop();
        Eventually.TrueAfterCollections(() => !pool.IsAlive && !resource.IsAlive, "the dropped pool to be collected");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (WeakReference Pool, WeakReference Resource) Drop()
    {
        var policy = new FakePolicy();
        var pool = new ResourcePool<FakeResource>(policy, new ResourcePoolOptions { MaxSize = 2 });
        using ResourceLease<FakeResource> lease = pool.Rent(TimeSpan.FromSeconds(10));
        return (new WeakReference(pool), new WeakReference(lease.Value));
    }

    [Fact]
    public void Where_nothing_is_ever_due_the_last_one_returned_is_still_at_hand()
    {
        ResourcePool<FakeResource> pool = NewPool(
            Options(lifetime: -1, validateAfter: -1) with { IdleTimeout = Timeout.InfiniteTimeSpan });
        Rent(pool).Dispose();
        Time.Advance(TimeSpan.FromMinutes(1)); // past the timeout of the creation
        Assert.Equal(double.PositiveInfinity, Time.UntilNext);
        Rent(pool).Dispose();
        Assert.True(pool.Core.State.Hot.IsReady);
    }
}

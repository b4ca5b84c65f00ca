using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

/// <summary>What callers see of an outage: how soon they are served after it, how many hear of it, and what ends the wait.</summary>
public sealed class RecoveryTests : ResourceTest
{
    private const int Callers = 32;
    private const double Hour = 3_600_000;

    private static readonly IOException Down = new("down");
    private static readonly UnauthorizedAccessException Refusal = new("wrong password");

    public static TheoryData<int> Seeds => [.. Enumerable.Range(0, 12)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public async Task Callers_are_served_soon_after_an_outage_of_any_length(int seed)
    {
        var random = new Random(seed);
        int length = (int)(1000 * Math.Pow(60, random.NextDouble()));
        ResourcePool<FakeResource> pool = NewPool(Options(max: 16, draw: random.NextDouble));
        Task<ResourceLease<FakeResource>>[] waiting = FailTogether(pool);
        Time.Advance(length);
        int attempts = Policy.Attempts;
        int told = Callers - pool.GetStatistics().Waiting;
        Policy.CreateError = null;
        int late = 0;
        while (pool.GetStatistics().Leased == 0)
        {
            Time.Advance(1);
            late++;
        }

        Assert.InRange(late, 0, Math.Max(50, Math.Min(1000, length / 10)) + 1); // a timer rounds up
        Assert.InRange(attempts, 4, 4 + 22 + 62 + (length / 500));
        Assert.InRange(told, 4, 4 + 4 + (length / 10_000)); // 0.8, 1.6, 3.2, 6.4 s later, then each 10 s
        await Drain(waiting);
    }

    [Fact]
    public async Task Failures_of_one_moment_count_once()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 16));
        Task<ResourceLease<FakeResource>>[] waiting = FailTogether(pool);
        Assert.Equal(4, Policy.Attempts);
        Time.Advance(50);
        Assert.Equal(5, Policy.Attempts);
        Assert.Equal(Callers - 4, pool.GetStatistics().Waiting); // the attempt of all tells none of them
        Policy.CreateError = null;
        Time.Advance(50);
        await Drain(waiting);
    }

    [Fact]
    public async Task A_failure_of_the_same_moment_that_comes_late_does_not_put_off_the_next_attempt()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 16, creators: 2, draw: static () => 0));
        TaskCompletionSource first = Policy.CreateGate = FakePolicy.DirectGate();
        Task<ResourceLease<FakeResource>> one = Wait(pool);
        TaskCompletionSource second = Policy.CreateGate = FakePolicy.DirectGate();
        Task<ResourceLease<FakeResource>>[] others = [Wait(pool), Wait(pool)];
        (Policy.CreateError, Policy.CreateGate) = (Down, null);
        FakePolicy.Open(first);
        await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(one));
        Time.Advance(40);
        FakePolicy.Open(second);
        Policy.CreateError = null;
        Assert.Equal(2, Policy.Attempts);
        Time.Advance(11); // 50 after the first failure; a timer rounds up
        Assert.Equal((3, 1), (Policy.Attempts, pool.GetStatistics().Leased));
        await Drain(others);
    }

    [Fact]
    public async Task The_first_success_releases_the_others_at_once_as_many_at_a_time_as_may_create()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 16, creators: 3));
        Task<ResourceLease<FakeResource>>[] waiting = FailTogether(pool);
        (Policy.CreateError, Policy.CreateGate) = (null, FakePolicy.DirectGate());
        Time.Advance(60);
        Assert.Equal(1, Policy.Creating);
        TaskCompletionSource first = Policy.CreateGate;
        Policy.CreateGate = FakePolicy.DirectGate();
        FakePolicy.Open(first);
        Assert.Equal((1, 3), (pool.GetStatistics().Leased, Policy.Creating));
        TaskCompletionSource others = Policy.CreateGate;
        Policy.CreateGate = null;
        FakePolicy.Open(others);
        Assert.Equal(16, pool.GetStatistics().Leased);
        Assert.InRange(Policy.MostCreating, 1, 3);
        await Drain(waiting);
    }

    [Fact]
    public async Task Without_callers_attempts_grow_rare_and_the_next_caller_does_not_wait_for_them()
    {
        Policy.CreateError = Down;
        ResourcePool<FakeResource> pool = NewPool(Options(min: 1));
        Time.Advance(60_000);
        Assert.InRange(Policy.Attempts, 10, 20); // 38, 75, 132 ... then each 7.5 s with this draw
        int attempts = Policy.Attempts;
        Time.Advance(2000);
        Policy.CreateError = null;
        Task<ResourceLease<FakeResource>> waiting = pool.RentAsync(TimeSpan.FromMinutes(5)).AsTask();
        Time.Advance(1001);
        (await Soon(waiting)).Dispose();
        Assert.Equal(attempts + 1, Policy.Attempts);
    }

    [Fact]
    public async Task A_parked_caller_whose_thread_made_the_attempt_goes_on_waiting()
    {
        Policy.OnCreateHere = static _ => throw Down;
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Assert.Throws<ResourceCreateException>(() => pool.Rent(Second)); // the first failure is told
        Task<ResourceLease<FakeResource>> parked = Task.Factory.StartNew(
            () => pool.Rent(TimeSpan.FromHours(1)), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        Eventually.True(() => pool.GetStatistics().Waiting == 1 && Time.UntilNext <= 50, "the caller to wait for the second attempt");
        Time.Advance(50);
        Eventually.True(
            () => Policy.Attempts == 2 && pool.GetStatistics().Waiting == 1 && Time.UntilNext <= 100,
            "its attempt to fail and itself to wait for the third");
        Policy.OnCreateHere = null;
        Time.Advance(100);
        (await Soon(parked)).Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Clearing_ends_the_wait_after_any_failure(bool isPermanent)
    {
        (Policy.CreateError, Policy.Permanent) = (Down, _ => isPermanent);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, backoffMin: Hour, backoffMax: Hour));
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Policy.CreateError = null;
        Task<ResourceLease<FakeResource>>? waiting = isPermanent ? null : Wait(pool);
        if (isPermanent)
        {
            await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        }

        await Soon(Ended(pool.ClearAsync()));
        (waiting is null ? Rent(pool) : await Soon(waiting)).Dispose();
    }

    [Fact]
    public async Task After_clearing_a_timeout_blames_no_failure_of_before()
    {
        Policy.CreateError = Down;
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        await Soon(Ended(pool.ClearAsync()));
        (Policy.CreateError, Policy.CreateGate) = (null, FakePolicy.DirectGate());
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, Second);
        Time.Advance(Second);
        ResourcePoolTimeoutException timeout = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(waiting));
        Assert.Null(timeout.InnerException);
        Assert.DoesNotContain("failed", timeout.Message, StringComparison.Ordinal);
        FakePolicy.Open(Policy.CreateGate);
    }

    [Fact]
    public async Task Resizing_renewing_and_a_fault_of_a_session_do_not_end_the_wait()
    {
        Policy.CreateError = Down;
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, backoffMin: Hour, backoffMax: Hour));
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, TimeSpan.FromHours(2));
        pool.Resize(1, 4);
        Task renewed = pool.RenewAsync(Second);
        pool.Core.ClearOnce(pool.Core.Generation);
        Task warm = pool.WarmUpAsync(1);
        Assert.Equal(1, Policy.Attempts);
        await Soon(Ended(pool.ClearAsync()));
        Assert.Equal(2, Policy.Attempts);
        Policy.CreateError = null;
        Time.Advance(TimeSpan.FromHours(1));
        await Soon(Ended(renewed));
        await Assert.ThrowsAsync<ResourceCreateException>(() => warm);
        await Assert.ThrowsAsync<ResourceCreateException>(() => waiting);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Failures_that_no_caller_waited_for_leave_the_next_one_for_a_caller_to_hear(int more)
    {
        Policy.CreateError = Down;
        ResourcePool<FakeResource> pool = NewPool(Options(min: 1));
        Time.Advance(60_000);
        for (int attempts = Policy.Attempts + more; Policy.Attempts <= attempts;)
        {
            Time.Advance(100);
        }

        Task<ResourceLease<FakeResource>> waiting = Wait(pool, TimeSpan.FromMinutes(5));
        Time.Advance(1001);
        Assert.Same(Down, (await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(waiting))).InnerException);
    }

    [Fact]
    public async Task After_the_pause_of_a_failure_that_lasts_a_second_caller_waits_for_the_attempt_of_the_first()
    {
        (Policy.CreateError, Policy.Permanent) = (Refusal, static _ => true);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2));
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Time.Advance(51);
        (Policy.CreateError, Policy.CreateGate) = (null, FakePolicy.DirectGate());
        Task<ResourceLease<FakeResource>>[] waiting = [Wait(pool), Wait(pool)];
        Assert.Equal(1, Policy.Creating);
        TaskCompletionSource gate = Policy.CreateGate;
        Policy.CreateGate = null;
        FakePolicy.Open(gate);
        Array.ForEach(await Soon(Task.WhenAll(waiting)), static lease => lease.Dispose());
    }

    [Fact]
    public async Task A_caller_for_whom_a_resource_is_being_checked_hurries_no_attempt()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2, min: 1));
        Policy.CreateError = Down;
        pool.Resize(2, 2);
        Time.Advance(60_000);
        int before = Policy.Attempts;
        while (Policy.Attempts == before)
        {
            Time.Advance(100);
        }

        Time.Advance(2000); // longer than any pause while a caller waits
        TaskCompletionSource<bool> check = new();
        Policy.OnValidate = (_, _) => new(check.Task);
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        Assert.Equal((1, before + 1), (pool.GetStatistics().Checking, Policy.Attempts));
        FakePolicy.Open(check);
        (await Soon(waiting)).Dispose();
    }

    [Fact]
    public async Task Warming_up_waits_for_the_next_attempt_as_a_caller_does()
    {
        Policy.CreateError = Down;
        ResourcePool<FakeResource> pool = NewPool(Options(max: 2, min: 1));
        Time.Advance(60_000);
        int attempts = Policy.Attempts;
        Policy.CreateError = null;
        Task warm = pool.WarmUpAsync(2);
        Time.Advance(1001);
        await Soon(Ended(warm));
        Assert.Equal(attempts + 2, Policy.Attempts);
    }

    [Fact]
    public async Task A_timeout_says_for_how_long_creations_have_failed_and_when_the_next_one_begins()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 16));
        Task<ResourceLease<FakeResource>>[] waiting = FailTogether(pool);
        Task<ResourceLease<FakeResource>> early = Wait(pool, TimeSpan.FromMilliseconds(20_010));
        Time.Advance(20_010);
        ResourcePoolException failed = await Assert.ThrowsAnyAsync<ResourcePoolException>(() => Soon(early));
        string message = Assert.IsType<ResourcePoolTimeoutException>(failed).Message;
        Assert.Contains(
            "The last creation failed with IOException: down. Creations have failed for 20.01 s; the next attempt is in ",
            message,
            StringComparison.Ordinal);
        Policy.CreateGate = FakePolicy.DirectGate();
        Task<ResourceLease<FakeResource>> late = Wait(pool, TimeSpan.FromMilliseconds(1200));
        Time.Advance(1200);
        message = (await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(late))).Message;
        Assert.Contains("Creations have failed for 21.21 s; an attempt is under way.", message, StringComparison.Ordinal);
        Policy.CreateError = null;
        FakePolicy.Open(Policy.CreateGate);
        Policy.CreateGate = null;
        await Drain(waiting);
    }

    [Theory]
    [InlineData("down", "IOException: down. Creations")]
    [InlineData("down.", "IOException: down. Creations")]
    [InlineData("Is it down?\n", "IOException: Is it down? Creations")]
    [InlineData("(down)", "IOException: (down). Creations")]
    public async Task A_timeout_separates_the_message_of_the_failure_from_what_follows(string message, string expected)
    {
        Policy.CreateError = new IOException(message);
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1, backoffMin: Hour, backoffMax: Hour));
        await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, Second);
        Time.Advance(Second);
        string text = (await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(waiting))).Message;
        Assert.Contains(expected, text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_failure_that_lasts_says_when_the_next_attempt_is()
    {
        (Policy.CreateError, Policy.Permanent) = (Refusal, static _ => true);
        ResourcePool<FakeResource> pool = NewPool();
        ResourceCreateException first = await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Assert.DoesNotContain("have failed for", first.Message, StringComparison.Ordinal);
        Time.Advance(10);
        ResourceCreateException second = await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Assert.EndsWith(") Creations have failed for 10 ms; the next attempt is in 28 ms.", second.Message, StringComparison.Ordinal);
    }

    /// <summary>Callers whose first creations fail side by side.</summary>
    private Task<ResourceLease<FakeResource>>[] FailTogether(ResourcePool<FakeResource> pool)
    {
        TaskCompletionSource gate = FakePolicy.DirectGate();
        Policy.CreateGate = gate;
        Task<ResourceLease<FakeResource>>[] waiting = [.. Enumerable.Range(0, Callers).Select(_ => Wait(pool, TimeSpan.FromHours(1)))];
        Policy.CreateError = Down;
        Policy.CreateGate = null;
        FakePolicy.Open(gate);
        return waiting;
    }

    private static async Task Drain(Task<ResourceLease<FakeResource>>[] waiting)
    {
        foreach (Task<ResourceLease<FakeResource>> rental in waiting)
        {
            try
            {
                (await Soon(rental)).Dispose();
            }
            catch (ResourceCreateException)
            {
                // told
            }
        }
    }

    private static async Task<bool> Ended(Task task)
    {
        await task;
        return true;
    }
}

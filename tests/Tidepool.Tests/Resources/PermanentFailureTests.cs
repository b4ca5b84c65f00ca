using Tidepool.Tests.Resources.Support;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Resources;

/// <summary>
/// A creation that fails for a reason that lasts: who would need a new resource learns of it at once, the others are served as ever.
/// </summary>
public sealed class PermanentFailureTests : ResourceTest
{
    private static readonly UnauthorizedAccessException Refusal = new("wrong password");

    [Fact]
    public async Task Rentals_that_need_a_new_resource_fail_at_once_and_one_attempt_is_made_in_each_step()
    {
        ResourcePool<FakeResource> pool = NewRefusing(max: 4);
        await Refused(pool);
        for (int i = 0; i < 20; i++)
        {
            await Refused(pool);
        }

        Assert.Equal(1, Policy.Attempts);
        Time.Advance(1000);
        Assert.Equal(1, Policy.Attempts); // no caller waits, so none asks
        await Refused(pool);
        await Refused(pool);
        Assert.Equal(2, Policy.Attempts);
        Policy.CreateError = null;
        Time.Advance(10_000);
        Rent(pool).Dispose();
        Policy.CreateError = new IOException("down");
        ResourceLease<FakeResource>[] leases = [Rent(pool)];
        ResourceCreateException failed = await Assert.ThrowsAsync<ResourceCreateException>(async () => await pool.RentAsync());
        Assert.IsType<IOException>(failed.InnerException); // no old error
        leases[0].Dispose();
    }

    [Fact]
    public async Task Resources_that_live_go_on_serving_those_for_whom_there_is_no_place()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3));
        ResourceLease<FakeResource> one = Rent(pool);
        ResourceLease<FakeResource> two = Rent(pool);
        Policy.CreateGate = FakePolicy.DirectGate();
        Task<ResourceLease<FakeResource>>[] waiting = [Wait(pool), Wait(pool), Wait(pool)];
        Assert.Equal(1, Policy.Creating);
        (Policy.CreateError, Policy.Permanent) = (Refusal, static e => e is UnauthorizedAccessException);
        FakePolicy.Open(Policy.CreateGate);
        ResourceCreateException failure = await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(waiting[0]));
        Assert.Same(Refusal, failure.InnerException);
        Assert.False(waiting[1].IsCompleted || waiting[2].IsCompleted);
        one.Dispose();
        two.Dispose();
        (await Soon(waiting[1])).Dispose();
        (await Soon(waiting[2])).Dispose();
        Rent(pool).Dispose(); // idle: the factory is not called
    }

    [Fact]
    public async Task All_for_whom_places_were_free_learn_of_the_failure_in_their_order()
    {
        Policy.CreateGate = FakePolicy.DirectGate();
        ResourcePool<FakeResource> pool = NewPool(Options(max: 3, creators: 1));
        Task<ResourceLease<FakeResource>>[] waiting = [.. Enumerable.Range(0, 5).Select(_ => Wait(pool))];
        (Policy.CreateError, Policy.Permanent) = (Refusal, static e => e is UnauthorizedAccessException);
        FakePolicy.Open(Policy.CreateGate);
        for (int i = 0; i < 3; i++)
        {
            await Assert.ThrowsAsync<ResourceCreateException>(() => Soon(waiting[i]));
        }

        Assert.False(waiting[3].IsCompleted || waiting[4].IsCompleted);
        Policy.CreateError = null;
        Time.Advance(1000);
        (await Soon(waiting[3])).Dispose();
        (await Soon(waiting[4])).Dispose();
    }

    [Fact]
    public void Parked_threads_learn_of_it_too()
    {
        ResourcePool<FakeResource> pool = NewRefusing(max: 2);
        Assert.Throws<ResourceCreateException>(() => pool.Rent(Second));
        Assert.Throws<ResourceCreateException>(() => pool.Rent(Second));
        Assert.Equal(1, Policy.Attempts);
    }

    [Fact]
    public async Task A_policy_that_throws_when_it_is_asked_says_no()
    {
        ResourcePool<FakeResource> pool = NewRefusing(max: 2);
        Policy.Permanent = static _ => throw new InvalidOperationException();
        await Refused(pool);
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, TimeSpan.FromSeconds(20));
        Assert.False(waiting.IsCompleted);
        Policy.CreateError = null;
        Time.Advance(1000);
        (await Soon(waiting)).Dispose();
    }

    [Fact]
    public void Of_many_that_report_a_fault_of_the_same_time_one_clears()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 4));
        ResourceLease<FakeResource> one = Rent(pool);
        ResourceLease<FakeResource> two = Rent(pool);
        Rent(pool).Dispose();
        pool.Core.ClearOnce(one.Info.Generation);
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared));
        ResourceLease<FakeResource> fresh = Rent(pool);
        Assert.Equal(1, fresh.Info.Generation);
        fresh.Dispose();
        pool.Core.ClearOnce(two.Info.Generation); // of the time before
        Assert.Equal((1, 1L), (pool.GetStatistics().Idle, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared)));
        one.Dispose();
        two.Dispose();
        Assert.Equal((1, 3L), (pool.GetStatistics().Total, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared)));
    }

    [Fact]
    public async Task A_fault_reported_after_the_shutdown_changes_nothing()
    {
        ResourcePool<FakeResource> pool = NewPool();
        ResourceLease<FakeResource> lease = Rent(pool);
        await pool.DisposeAsync();
        pool.Core.ClearOnce(lease.Info.Generation);
        Assert.Equal(0, lease.Info.Generation);
        lease.Dispose();
    }

    private ResourcePool<FakeResource> NewRefusing(int max)
    {
        (Policy.CreateError, Policy.Permanent) = (Refusal, static e => e is UnauthorizedAccessException);
        return NewPool(Options(max: max));
    }

    private static async Task Refused(ResourcePool<FakeResource> pool)
    {
        ResourceCreateException failed = await Assert.ThrowsAsync<ResourceCreateException>(
            async () => await pool.RentAsync(TimeSpan.FromHours(1)));
        Assert.Same(Refusal, failed.InnerException);
    }
}

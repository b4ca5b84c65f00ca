using Tidepool.Tests.Resources.Support;

namespace Tidepool.Tests.Resources;

public sealed class RentTests : ResourceTest
{
    [Fact]
    public void The_first_rental_creates_and_the_next_one_reuses()
    {
        ResourcePool<FakeResource> pool = NewPool();
        FakeResource first;
        using (ResourceLease<FakeResource> lease = Rent(pool))
        {
            first = lease.Value;
            Assert.True(lease.IsActive);
        }

        using ResourceLease<FakeResource> again = Rent(pool);
        Assert.Same(first, again.Value);
        Assert.Equal(2, again.Info.UseCount);
        Assert.Equal(1, again.Info.Id);
        Assert.Equal(Time.GetUtcNow(), again.Info.CreatedAt);
        Assert.Single(Policy.Made);
    }

    [Fact]
    public void A_resource_that_was_returned_is_not_the_oldest_lease()
    {
        ResourcePool<FakeResource> pool = NewPool();
        ResourceLease<FakeResource> first = Rent(pool);
        Time.Advance(1000);
        Rent(pool).Dispose(); // to the hot slot, which nothing has drained since
        Assert.Equal(1000L, pool.Core.DescribeOldest()?.Milliseconds);
        first.Dispose();
        Assert.Null(pool.Core.DescribeOldest());
    }

    [Fact]
    public void Value_after_dispose_throws()
    {
        ResourcePool<FakeResource> pool = NewPool();
        ResourceLease<FakeResource> lease = Rent(pool);
        lease.Dispose();
        Assert.False(lease.IsActive);
        Assert.Throws<ObjectDisposedException>(() => lease.Value);
        Assert.Throws<ObjectDisposedException>(() => lease.Info);
        Assert.Throws<ObjectDisposedException>(() => lease.MarkBroken());
        Assert.Throws<ObjectDisposedException>(() => lease.Detach());
        Assert.Throws<ObjectDisposedException>(() => default(ResourceLease<FakeResource>).Value);
        default(ResourceLease<FakeResource>).Dispose();
    }

    [Fact]
    public void Disposing_twice_or_a_copy_after_the_resource_was_rented_again_never_returns_the_new_rental()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> old = Rent(pool);
        ResourceLease<FakeResource> copy = old;
        Assert.Equal(old, copy);
        old.Dispose();
        old.Dispose();
        using ResourceLease<FakeResource> current = Rent(pool);
        copy.Dispose();
        Assert.True(current.IsActive);
        Assert.NotEqual(old, current);
        Assert.False(pool.TryRent(out _));
        Assert.Equal(2, pool.GetStatistics().StaleDisposes);
    }

    [Fact]
    public void The_last_returned_is_rented_first_or_the_first_one_where_asked_for()
    {
        foreach ((ReuseOrder order, int expected) in new[] { (ReuseOrder.LastIn, 1), (ReuseOrder.FirstIn, 0) })
        {
            ResourcePool<FakeResource> pool = NewPool(Options(order: order));
            ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
            FakeResource[] values = [leases[0].Value, leases[1].Value];
            leases[0].Dispose();
            leases[1].Dispose();
            using ResourceLease<FakeResource> next = Rent(pool);
            Assert.Same(values[expected], next.Value);
        }
    }

    [Fact]
    public void TryRent_takes_what_is_idle_and_creates_nothing()
    {
        ResourcePool<FakeResource> pool = NewPool();
        Assert.False(pool.TryRent(out ResourceLease<FakeResource> none));
        Assert.False(none.IsActive);
        Assert.Empty(Policy.Made);
        Rent(pool).Dispose();
        Assert.True(pool.TryRent(out ResourceLease<FakeResource> lease));
        Assert.False(pool.TryRent(out _));
        lease.Dispose();
    }

    [Fact]
    public void TryRent_validates_what_was_idle_for_long_on_its_own_thread_and_passes_over_the_dead()
    {
        ResourcePool<FakeResource> pool = NewPool();
        ResourceLease<FakeResource>[] leases = [Rent(pool), Rent(pool)];
        FakeResource dead = leases[1].Value;
        FakeResource good = leases[0].Value;
        Array.ForEach(leases, static l => l.Dispose());
        Time.Advance(2000);
        dead.IsDead = true;
        Assert.True(pool.TryRent(out ResourceLease<FakeResource> lease));
        Assert.Same(good, lease.Value);
        Assert.Equal(1, dead.Ends);
        Assert.Equal(1, good.Validations);
        lease.Dispose();
    }

    [Fact]
    public void TryRent_leaves_what_only_the_asynchronous_validation_can_judge_to_the_next_one()
    {
        Policy.OnValidateHere = static _ => null;
        ResourcePool<FakeResource> pool = NewPool();
        Rent(pool).Dispose();
        Time.Advance(2000);
        Assert.False(pool.TryRent(out _));
        Assert.True(pool.TryRent(out ResourceLease<FakeResource> lease));
        lease.Dispose();
    }

    [Fact]
    public async Task A_timeout_of_zero_never_blocks()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourcePoolTimeoutException none = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(
            async () => await pool.RentAsync(TimeSpan.Zero));
        Assert.Equal(TimeSpan.Zero, none.WaitedFor);
        Assert.Throws<ResourcePoolTimeoutException>(() => pool.Rent(TimeSpan.Zero));
        Assert.Equal(0, Policy.Attempts);
        Rent(pool).Dispose();
        (await pool.RentAsync(TimeSpan.Zero)).Dispose();
        pool.Rent(TimeSpan.Zero).Dispose();
        Assert.Equal(2, pool.GetStatistics().TimedOut);
    }

    [Fact]
    public async Task A_timeout_of_zero_takes_what_is_idle_also_when_it_must_be_validated()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Rent(pool).Dispose();
        Time.Advance(2000);
        (await pool.RentAsync(TimeSpan.Zero)).Dispose();
        Time.Advance(2000);
        pool.Rent(TimeSpan.Zero).Dispose();
        Assert.Equal(2, Policy.Made.Single().Validations);
        Policy.OnValidateHere = static _ => null;
        Time.Advance(2000);
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(async () => await pool.RentAsync(TimeSpan.Zero));
        (await pool.RentAsync(TimeSpan.Zero)).Dispose();
        Assert.Equal(1, pool.GetStatistics().TimedOut);
    }

    [Fact]
    public async Task The_deadline_covers_the_wait_the_creation_and_the_validation()
    {
        Policy.CreateGate = FakePolicy.DirectGate();
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        Task<ResourceLease<FakeResource>> creating = Wait(pool, Second);
        Time.Advance(999);
        Assert.False(creating.IsCompleted);
        Time.Advance(1);
        ResourcePoolTimeoutException slow = await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(creating));
        Assert.Contains("1 in creation", slow.Message, StringComparison.Ordinal);
        FakePolicy.Open(Policy.CreateGate);
        Policy.CreateGate = null;

        TaskCompletionSource<bool> validation = new();
        Policy.OnValidate = (_, _) => new(validation.Task);
        Time.Advance(2000);
        Task<ResourceLease<FakeResource>> validating = Wait(pool, Second);
        Time.Advance(1000);
        await Assert.ThrowsAsync<ResourcePoolTimeoutException>(() => Soon(validating));
        FakePolicy.Open(validation);
        Assert.Equal(1, pool.GetStatistics().Idle);
    }

    [Fact]
    public async Task An_infinite_timeout_listens_to_the_token_only()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        using var cancellation = new CancellationTokenSource();
        Task<ResourceLease<FakeResource>> waiting = Wait(pool, Timeout.InfiniteTimeSpan, cancellation.Token);
        Time.Advance(TimeSpan.FromDays(40));
        Assert.False(waiting.IsCompleted);
        await cancellation.CancelAsync();
        OperationCanceledException cancelled = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => Soon(waiting));
        Assert.Equal(cancellation.Token, cancelled.CancellationToken);
        Assert.Equal(1, pool.GetStatistics().Cancelled);
        lease.Dispose();
    }

    [Fact]
    public async Task A_token_that_is_cancelled_already_rents_nothing()
    {
        ResourcePool<FakeResource> pool = NewPool();
        using var cancellation = new CancellationTokenSource();
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await pool.RentAsync(cancellation.Token));
        Assert.ThrowsAny<OperationCanceledException>(() => pool.Rent(Second, cancellation.Token));
        Assert.Equal(0, Policy.Attempts);
    }

    [Fact]
    public void A_broken_resource_is_ended_on_return_and_before_it_is_handed_out()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        FakeResource first = lease.Value;
        first.IsDead = true;
        lease.Dispose();
        Assert.Equal(1, first.Ends);
        Rent(pool).Dispose();
        Policy.Made.Last().IsDead = true;
        using ResourceLease<FakeResource> next = Rent(pool);
        Assert.Equal(3, next.Value.Number);
        Assert.Equal(2, pool.GetStatistics().GetDestroyed(DestroyReason.Broken));
        Assert.Equal(3, pool.GetStatistics().Rented);
    }

    [Fact]
    public void What_a_renter_marks_is_ended_and_what_it_detaches_is_not()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        FakeResource marked = lease.Value;
        lease.MarkBroken(new IOException("reset by peer"));
        lease.Dispose();
        Assert.Equal(1, marked.Ends);
        lease = Rent(pool);
        FakeResource detached = lease.Detach();
        lease.Dispose();
        Assert.Equal(0, detached.Ends);
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((0, 1, 2), (statistics.Total, (int)statistics.Detached, (int)statistics.Returned));
        Rent(pool).Dispose();
        Assert.False(Policy.Made.Last() == detached);
    }

    [Fact]
    public async Task Detaching_serves_who_waits_with_a_new_resource()
    {
        ResourcePool<FakeResource> pool = NewPool(Options(max: 1));
        ResourceLease<FakeResource> lease = Rent(pool);
        Task<ResourceLease<FakeResource>> waiting = Wait(pool);
        lease.Detach();
        (await Soon(waiting)).Dispose();
    }

    [Fact]
    public async Task AsyncLeaseScope_returns_resource_leases()
    {
        ResourcePool<FakeResource> pool = NewPool();
        await using (var scope = new AsyncLeaseScope())
        {
            scope.Add(Rent(pool));
            scope.Add(Rent(pool));
            Assert.Equal(2, pool.GetStatistics().Leased);
        }

        Assert.Equal(2, pool.GetStatistics().Idle);
    }
}

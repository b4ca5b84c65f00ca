using Tidepool.Tests.Support;

namespace Tidepool.Tests.Leases;

public sealed class LeaseScopeTests : PoolTest
{
    private readonly BufferPool<int> _ints;
    private readonly BufferPool<byte> _bytes;

    public LeaseScopeTests()
    {
        _ints = NewPool<int>(new() { Name = "ints" });
        _bytes = NewPool<byte>(new() { Name = "bytes" });
    }

    [Fact]
    public void All_leases_of_a_scope_are_returned_at_its_end()
    {
        BufferLease<int> first;
        BufferLease<byte> second;
        BufferLease<int> added = _ints.Rent(5);
        using (LeaseScope scope = new())
        {
            first = scope.Rent(_ints, 100);
            second = scope.Rent(_bytes, 200);
            scope.Add(added);
            first.Span.Fill(1);
            second.Span.Fill(2);
            Assert.Equal(100, first.Length);
            Assert.Equal(200, second.Length);
            Assert.Equal(2, _ints.GetStatistics().Leased);
            Assert.Equal(1, _bytes.GetStatistics().Leased);
        }

        Assert.False(first.IsActive);
        Assert.False(second.IsActive);
        Assert.False(added.IsActive);
        Assert.Equal(0, _ints.GetStatistics().Leased);
        Assert.Equal(0, _bytes.GetStatistics().Leased);
    }

    [Fact]
    public void A_scope_of_many_leases_returns_them_all()
    {
        using (LeaseScope scope = new())
        {
            for (int i = 0; i < 1000; i++)
            {
                scope.Rent(_ints, i).Span.Fill(i);
            }

            Assert.Equal(1000, _ints.GetStatistics().Leased);
        }

        Assert.Equal(0, _ints.GetStatistics().Leased);
    }

    [Fact]
    public void A_lease_that_was_returned_inside_the_scope_is_no_failure()
    {
        using (LeaseScope scope = new())
        {
            scope.Rent(_ints, 10);
            scope.Rent(_ints, 10).Return();
            scope.Rent(_ints, 10);
        }

        Assert.Equal(0, _ints.GetStatistics().Leased);
        Assert.Equal(0, _ints.GetStatistics().Misuses);
    }

    [Fact]
    public void A_scope_may_be_disposed_twice()
    {
        LeaseScope scope = new();
        scope.Rent(_ints, 10);
        scope.Dispose();
        scope.Dispose();
        Assert.Equal(1, _ints.GetStatistics().Returned);
    }

    [Fact]
    public void A_scope_can_be_used_again_after_its_end()
    {
        LeaseScope scope = new();
        scope.Rent(_ints, 10);
        scope.Dispose();
        BufferLease<int> second = scope.Rent(_ints, 10);
        Assert.True(second.IsActive);
        scope.Dispose();
        Assert.False(second.IsActive);
        Assert.Equal(2, _ints.GetStatistics().Returned);
    }

    [Fact]
    public void A_scope_counts_the_leases_that_wait()
    {
        LeaseScope scope = new();
        Assert.Equal(0, scope.Count);
        scope.Rent(_ints, 10);
        scope.Rent(_bytes, 10);
        Assert.Equal(2, scope.Count);
        scope.Dispose();
        Assert.Equal(0, scope.Count);
    }

    [Fact]
    public void A_scope_takes_no_lease_that_has_ended()
    {
        using LeaseScope scope = new();
        BufferLease<int> returned = _ints.Rent(10);
        returned.Return();
        Assert.Throws<ObjectDisposedException>(() => scope.Add(returned));
        Assert.Throws<ObjectDisposedException>(() => scope.Add(default(BufferLease<int>)));
        Assert.Equal(0, scope.Count);
    }

    [Fact]
    public void Every_lease_is_returned_even_if_some_returns_throw()
    {
        // No pool of ours fails a return; a ticket without a slot stands for one of elsewhere that does.
        BufferLease<int> first = _ints.Rent(10);
        BufferLease<byte> last = _bytes.Rent(10);
        List<Ticket> tickets = [LeaseTickets.Of(first), default, LeaseTickets.Of(_ints.Rent(10)), default, LeaseTickets.Of(last)];
        AggregateException failure = Assert.Throws<AggregateException>(() => LeaseTickets.DisposeAll(tickets));
        Assert.Equal(2, failure.InnerExceptions.Count);
        Assert.Empty(tickets);
        Assert.False(first.IsActive);
        Assert.False(last.IsActive);
        Assert.Equal(0, _ints.GetStatistics().Leased);
        Assert.Equal(0, _bytes.GetStatistics().Leased);
    }

    [Fact]
    public void No_scope_and_no_pool_are_refused()
    {
        using LeaseScope scope = new();
        Assert.Throws<ArgumentNullException>("pool", () => scope.Rent<int>(null!, 10));
        Assert.Throws<ArgumentNullException>("scope", () => ((LeaseScope)null!).Rent(_ints, 10));
        Assert.Throws<ArgumentOutOfRangeException>("length", () => scope.Rent(_ints, -1));
        Assert.Equal(0, scope.Count);
    }

    [Fact]
    public async Task All_leases_of_an_async_scope_are_returned_at_its_end_from_any_thread()
    {
        BufferLease<int> lease;
        await using (AsyncLeaseScope scope = new())
        {
            lease = scope.Rent(_ints, 100);
            scope.Add(_bytes.Rent(30));
            await Task.Run(() => lease.Span.Fill(1)).ConfigureAwait(true);
            await Task.Yield();
            Assert.True(lease.IsActive);
        }

        Assert.False(lease.IsActive);
        Assert.Equal(0, _ints.GetStatistics().Leased);
        Assert.Equal(0, _bytes.GetStatistics().Leased);
    }

    [Fact]
    public async Task An_async_scope_disposes_what_is_disposed_asynchronously_in_the_same_reverse_order()
    {
        List<string> order = [];
        AsyncLeaseScope scope = new();
        scope.Add(new Recorder(order, "first", null));
        BufferLease<int> lease = scope.Rent(_ints, 10);
        scope.Add(new Recorder(order, "second", () => Assert.True(lease.IsActive)));
        scope.Add(new Recorder(order, "third", () => throw new InvalidOperationException("third fails")));
        Assert.Equal(4, scope.Count);
        AggregateException failure = await Assert.ThrowsAsync<AggregateException>(async () => await scope.DisposeAsync());
        Assert.Equal("third fails", Assert.Single(failure.InnerExceptions).Message);
        Assert.Equal(["third", "second", "first"], order);
        Assert.False(lease.IsActive);
        Assert.Throws<ArgumentNullException>("lease", () => scope.Add(null!));
    }

    [Fact]
    public async Task An_async_scope_may_be_disposed_twice()
    {
        AsyncLeaseScope scope = new();
        scope.Rent(_ints, 10);
        await scope.DisposeAsync();
        await scope.DisposeAsync();
        Assert.Equal(1, _ints.GetStatistics().Returned);
    }

    private sealed class Recorder(List<string> order, string name, Action? then) : IAsyncDisposable
    {
        public async ValueTask DisposeAsync()
        {
            await Task.Yield();
            order.Add(name);
            then?.Invoke();
        }
    }
}

using Tidepool.Tests.Support;

namespace Tidepool.Tests.Leases;

public sealed class ObjectLeaseTests : PoolTest
{
    private readonly ObjectPool<Gadget> _pool = ObjectPool<Gadget>.Create(static () => new Gadget(), static i => i.TryReset());

    public ObjectLeaseTests() => Watch(_pool);

    [Fact]
    public void Copies_are_one_rental()
    {
        ObjectLease<Gadget> lease = _pool.Rent();
        ObjectLease<Gadget> copy = lease;
        Assert.True(lease == copy && lease.Equals((object)copy) && lease.GetHashCode() == copy.GetHashCode());
        Assert.True(copy.IsActive);
        copy.Dispose();
        Assert.False(lease.IsActive);
        Assert.Throws<ObjectDisposedException>(() => lease.Value);
        using ObjectLease<Gadget> next = _pool.Rent();
        Assert.True(next != lease);
    }

    [Fact]
    public void A_default_lease_was_never_rented()
    {
        ObjectLease<Gadget> none = default;
        none.Dispose();
        Assert.False(none.IsActive);
        Assert.Throws<ObjectDisposedException>(() => none.Value);
        Assert.Throws<ObjectDisposedException>(() => none.Return());
        Assert.Throws<ObjectDisposedException>(() => none.Detach());
    }

    [Fact]
    public void A_detached_object_is_the_renters()
    {
        ObjectLease<Gadget> lease = _pool.Rent();
        Gadget item = lease.Value;
        Assert.Same(item, lease.Detach());
        Assert.Equal((0, 0), (item.Resets, item.Disposals));
        Assert.Throws<ObjectDisposedException>(() => lease.Detach());
        lease.Dispose();
        Assert.Equal((0, 0, 1), (_pool.GetStatistics().Leased, _pool.GetStatistics().Idle, _pool.GetStatistics().StaleDisposes));
        using ObjectLease<Gadget> next = _pool.Rent();
        Assert.NotSame(item, next.Value);
    }

    [Fact]
    public void Scopes_return_object_leases_with_the_others()
    {
        BufferPool<byte> buffers = NewPool<byte>();
        using (var scope = new LeaseScope())
        {
            scope.Add(_pool.Rent());
            scope.Add(buffers.Rent(100));
            scope.Add(_pool.Rent());
            Assert.Equal((3, 2), (scope.Count, _pool.GetStatistics().Leased));
        }

        Assert.Equal((0, 2), (_pool.GetStatistics().Leased, _pool.GetStatistics().Idle));
    }

    [Fact]
    public async Task Asynchronous_scopes_do_too()
    {
        await using (var scope = new AsyncLeaseScope())
        {
            scope.Add(_pool.Rent());
            Assert.Equal(1, _pool.GetStatistics().Leased);
        }

        Assert.Equal(0, _pool.GetStatistics().Leased);
        ObjectLease<Gadget> over = _pool.Rent();
        over.Return();
        Assert.Throws<ObjectDisposedException>(() => new LeaseScope().Add(over));
    }

    [Fact]
    public void A_scope_returns_all_even_when_one_cannot_be_reset()
    {
        var scope = new LeaseScope();
        ObjectLease<Gadget> bad = _pool.Rent();
        bad.Value.ThrowsOnReset = new TimeoutException();
        scope.Add(_pool.Rent());
        scope.Add(bad);
        scope.Add(_pool.Rent());
        AggregateException failures = Assert.Throws<AggregateException>(scope.Dispose);
        Assert.IsType<TimeoutException>(Assert.Single(failures.InnerExceptions));
        Assert.Equal((0, 2, 1), (_pool.GetStatistics().Leased, _pool.GetStatistics().Idle, _pool.GetStatistics().Refused));
    }
}

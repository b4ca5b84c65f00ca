using Tidepool.Tests.Support;

namespace Tidepool.Tests.Objects;

public sealed class ObjectPoolTests : PoolTest
{
    [Fact]
    public void What_was_returned_last_is_rented_first_and_was_reset()
    {
        ObjectPool<Gadget> pool = NewPool();
        Gadget first = pool.RentRaw();
        Gadget second = pool.RentRaw();
        Assert.NotSame(first, second);
        pool.ReturnRaw(first);
        pool.ReturnRaw(second);
        Assert.Equal((1, 1), (first.Resets, second.Resets));
        Assert.Same(second, pool.RentRaw());
        Assert.Same(first, pool.RentRaw());
        pool.ReturnRaw(first);
        pool.ReturnRaw(second);
        using ObjectLease<Gadget> lease = pool.Rent();
        Assert.Equal(3, pool.GetStatistics().Missed); // leases have their own idle objects in this thread
    }

    [Fact]
    public void Many_objects_go_through_the_shared_tier_and_each_has_one_renter()
    {
        ObjectPool<Gadget> pool = NewPool();
        for (int round = 0; round < 3; round++)
        {
            List<ObjectLease<Gadget>> leases = [.. Enumerable.Range(0, 500).Select(_ => pool.Rent())];
            List<Gadget> raw = [.. Enumerable.Range(0, 500).Select(_ => pool.RentRaw())];
            Assert.Equal(1000, leases.Select(l => l.Value).Concat(raw).Distinct().Count());
            leases.ForEach(l => l.Return());
            raw.ForEach(pool.ReturnRaw);
            pool.Validate();
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((1000, 3000, 3000, 1000), (statistics.Missed, statistics.Rented, statistics.Returned, statistics.Idle));
        Assert.Equal(1000 * 1024, statistics.BytesIdle);
    }

    [Fact]
    public void What_one_thread_returned_another_one_rents()
    {
        ObjectPool<Gadget> pool = NewPool();
        Threads.Run(() => Enumerable.Range(0, 100).Select(_ => pool.Rent()).ToList().ForEach(l => l.Return()));
        pool.GetStatistics();
        List<ObjectLease<Gadget>> leases = [.. Enumerable.Range(0, 80).Select(_ => pool.Rent())];
        Assert.Equal(100, pool.GetStatistics().Missed);
        leases.ForEach(l => l.Return());
    }

    [Fact]
    public void Leased_and_raw_objects_help_each_other_out()
    {
        ObjectPool<Gadget> pool = NewPool();
        List<Gadget> raw = [.. Enumerable.Range(0, 60).Select(_ => pool.RentRaw())];
        raw.ForEach(pool.ReturnRaw);
        List<ObjectLease<Gadget>> leases = [.. Enumerable.Range(0, 40).Select(_ => pool.Rent())];
        Assert.All(leases, l => Assert.Contains(l.Value, raw));
        Assert.Equal(60, pool.GetStatistics().Missed);
        leases.ForEach(l => l.Return());
        pool.Validate();
        raw = [.. Enumerable.Range(0, 40).Select(_ => pool.RentRaw())];
        Assert.InRange(pool.GetStatistics().Missed, 60, 75); // what lies in this thread's magazine of leases stays there
        raw.ForEach(pool.ReturnRaw);
    }

    [Fact]
    public void A_lease_may_be_returned_on_any_thread_and_is_reset_there_at_once()
    {
        ObjectPool<Gadget> pool = NewPool();
        ObjectLease<Gadget> lease = pool.Rent();
        Gadget item = lease.Value;
        Threads.Run(() =>
        {
            lease.Return();
            Assert.Equal(1, item.Resets);
        });
        Assert.Throws<ObjectDisposedException>(() => lease.Value);
    }

    [Fact]
    public void An_object_that_cannot_be_reset_is_disposed_and_counted()
    {
        ObjectPool<Gadget> pool = NewPool();
        ObjectLease<Gadget> lease = pool.Rent();
        Gadget leased = lease.Value, raw = pool.RentRaw();
        leased.IsSpoiled = raw.IsSpoiled = true;
        lease.Return();
        pool.ReturnRaw(raw);
        Assert.Equal((1, 1), (leased.Disposals, raw.Disposals));
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((2, 0, 0, 0), (statistics.Refused, statistics.Idle, statistics.Leased, statistics.Failures));
    }

    [Fact]
    public void What_a_reset_throws_goes_to_whoever_returns_and_the_object_is_gone()
    {
        ObjectPool<Gadget> pool = NewPool();
        ObjectLease<Gadget> lease = pool.Rent();
        Gadget leased = lease.Value, raw = pool.RentRaw();
        leased.ThrowsOnReset = new TimeoutException("leased");
        raw.ThrowsOnReset = new TimeoutException("raw");
        Assert.Same(leased.ThrowsOnReset, Assert.Throws<TimeoutException>(() => lease.Return()));
        Assert.Same(raw.ThrowsOnReset, Assert.Throws<TimeoutException>(() => pool.ReturnRaw(raw)));
        lease.Dispose(); // the rental has ended
        Assert.Equal((1, 1), (leased.Disposals, raw.Disposals));
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((2, 0, 0), (statistics.Refused, statistics.Idle, statistics.Leased));
        Assert.NotSame(leased, pool.RentRaw());
        Forgive(pool, 1);
    }

    [Fact]
    public void What_making_throws_goes_to_the_renter_and_changes_nothing()
    {
        bool fails = true;
        ObjectPool<Gadget> pool = ObjectPool<Gadget>.Create(() => fails ? throw new TimeoutException() : new Gadget());
        Watch(pool);
        for (int i = 0; i < 5; i++)
        {
            Assert.Throws<TimeoutException>(() => pool.Rent());
            Assert.Throws<TimeoutException>(() => pool.RentRaw());
        }

        Assert.Equal(new PoolStatistics(), pool.GetStatistics());
        fails = false;
        pool.Rent().Return();
        pool.ReturnRaw(pool.RentRaw());
        Assert.Equal(2, pool.GetStatistics().Idle);
    }

    [Fact]
    public void Making_null_is_an_error_that_names_the_policy()
    {
        ObjectPool<Gadget> pool = ObjectPool<Gadget>.Create(() => null!, options: new() { Name = "nothing" });
        Watch(pool);
        InvalidOperationException failure = Assert.Throws<InvalidOperationException>(() => pool.Rent());
        Assert.Contains("'nothing'", failure.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => new ObjectPool<Gadget, FactoryPolicy<Gadget>>().RentRaw());
    }

    [Fact]
    public void Objects_beyond_the_budget_are_disposed()
    {
        ObjectPool<Gadget> pool = NewPool(new() { Budget = 40 });
        List<ObjectLease<Gadget>> leases = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent())];
        List<Gadget> items = [.. leases.Select(l => l.Value)];
        leases.ForEach(l => l.Return());
        PoolStatistics statistics = pool.GetStatistics();
        Assert.InRange(statistics.Idle, 20, 40);
        Assert.Equal(100 - statistics.Idle, statistics.Dropped);
        Assert.Equal(statistics.Dropped, items.Sum(i => i.Disposals));
        Assert.All(items, i => Assert.InRange(i.Disposals, 0, 1));
        pool.Validate();
    }

    [Fact]
    public void A_budget_of_nothing_keeps_nothing()
    {
        ObjectPool<Gadget> pool = NewPool(new() { Budget = 0 });
        for (int i = 0; i < 10; i++)
        {
            Gadget raw = pool.RentRaw();
            ObjectLease<Gadget> lease = pool.Rent();
            Gadget leased = lease.Value;
            pool.ReturnRaw(raw);
            lease.Return();
            Assert.Equal((1, 1), (raw.Disposals, leased.Disposals));
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((20, 20, 0, 0), (statistics.Missed, statistics.Dropped, statistics.Idle, statistics.Leased));
    }

    [Fact]
    public void Trim_disposes_every_idle_object_once_those_of_other_threads_included()
    {
        ObjectPool<Gadget> pool = NewPool();
        using ParkedThread other = new();
        List<Gadget> items = [];
        other.Run(() => RentMany(pool, items));
        RentMany(pool, items);
        int made = items.Distinct().Count();
        Assert.Equal(made, pool.GetStatistics().Idle);
        pool.Trim();
        Assert.All(items, i => Assert.Equal(1, i.Disposals));
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((made, 0), (statistics.Trimmed, statistics.Idle));
        pool.Rent().Return();
    }

    [Fact]
    public void A_disposed_pool_disposes_what_is_idle_and_then_what_comes_back()
    {
        ObjectPool<Gadget> pool = NewPool();
        List<Gadget> items = [];
        RentMany(pool, items);
        ObjectLease<Gadget> lease = pool.Rent();
        Gadget leased = lease.Value, raw = pool.RentRaw();
        pool.Dispose();
        pool.Dispose();
        Assert.All(items.Except([leased, raw]), i => Assert.Equal(1, i.Disposals));
        Assert.Same(leased, lease.Value);
        Assert.Equal((0, 0), (leased.Disposals, raw.Disposals));
        Assert.Contains($"'{pool.Name}'", Assert.Throws<ObjectDisposedException>(() => pool.Rent()).Message, StringComparison.Ordinal);
        Assert.Throws<ObjectDisposedException>(() => pool.RentRaw());
        lease.Return();
        pool.ReturnRaw(raw);
        Assert.Equal((1, 1), (leased.Disposals, raw.Disposals));
        Assert.Equal((0, 0), (pool.GetStatistics().Leased, pool.GetStatistics().Idle));
    }

    [Fact]
    public void A_disposal_that_throws_is_counted_and_keeps_no_other_object_from_its_end()
    {
        ObjectPool<Gadget> pool = NewPool();
        List<Gadget> items = [.. Enumerable.Range(0, 50).Select(_ => pool.RentRaw())];
        items.ForEach(i => i.ThrowsOnDispose = new TimeoutException());
        items.ForEach(pool.ReturnRaw);
        pool.Trim();
        Assert.All(items, i => Assert.Equal(1, i.Disposals));
        Assert.Equal((50, 50), (pool.GetStatistics().Failures, pool.GetStatistics().Trimmed));
    }

    [Fact]
    public void A_pool_that_nobody_holds_disposes_its_idle_objects()
    {
        List<Gadget> items = [];
        DropPool(items);
        Eventually.TrueAfterCollections(() => items.All(i => i.Disposals == 1), "the idle objects of a dropped pool to be disposed");
    }

    [Fact]
    public void Objects_that_are_idle_or_out_do_not_keep_a_pool_alive()
    {
        (WeakReference pool, ObjectLease<Gadget> lease) = DropPoolWithALease();
        Eventually.TrueAfterCollections(() => !pool.IsAlive, "the dropped pool to be collected");
        Gadget item = lease.Value;
        lease.Return();
        Assert.Equal(1, item.Disposals);
    }

    [Fact]
    public void Objects_of_ended_threads_are_found_again()
    {
        ObjectPool<Gadget> pool = NewPool();
        Threads.Run(() => Enumerable.Range(0, 10).Select(_ => pool.Rent()).ToList().ForEach(l => l.Return()));
        Assert.Equal(10, pool.GetStatistics().Missed);
        Eventually.True(
            () =>
            {
                long before = pool.GetStatistics().Missed;
                Threads.Run(() => pool.Rent().Return());
                return pool.GetStatistics().Missed == before;
            },
            "a thread that finds what an ended one had returned");
    }

    [Fact]
    public void Null_is_no_object_to_return()
    {
        ObjectPool<Gadget> pool = NewPool();
        Assert.Throws<ArgumentNullException>("item", () => pool.ReturnRaw(null!));
        pool.ReturnRaw(pool.RentRaw());
        Assert.Throws<ArgumentNullException>("item", () => pool.ReturnRaw(null!));
    }

    [Fact]
    public void A_policy_may_use_the_pool_that_calls_it()
    {
        ObjectPool<Gadget>? pool = null;
        int depth = 0;
        bool inside = false;
        pool = ObjectPool<Gadget>.Create(
            () =>
            {
                if (depth++ < 3)
                {
                    pool!.ReturnRaw(pool.RentRaw());
                }

                return new Gadget();
            },
            item =>
            {
                if (item.TryReset() && !inside)
                {
                    inside = true;
                    pool!.Rent().Return();
                    inside = false;
                }

                return true;
            });
        Watch(pool);
        for (int i = 0; i < 100; i++)
        {
            using ObjectLease<Gadget> lease = pool.Rent();
            pool.ReturnRaw(pool.RentRaw());
        }

        pool.Validate();
    }

    private static void RentMany(ObjectPool<Gadget> pool, List<Gadget> items)
    {
        List<ObjectLease<Gadget>> leases = [.. Enumerable.Range(0, 40).Select(_ => pool.Rent())];
        List<Gadget> raw = [.. Enumerable.Range(0, 40).Select(_ => pool.RentRaw())];
        items.AddRange(leases.Select(l => l.Value).Concat(raw));
        leases.ForEach(l => l.Return());
        raw.ForEach(pool.ReturnRaw);
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static void DropPool(List<Gadget> items) =>
        RentMany(ObjectPool<Gadget>.Create(static () => new Gadget(), static i => i.TryReset()), items);

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static (WeakReference Pool, ObjectLease<Gadget> Lease) DropPoolWithALease()
    {
        ObjectPool<Gadget> pool = ObjectPool<Gadget>.Create(static () => new Gadget());
        pool.ReturnRaw(pool.RentRaw());
        return (new WeakReference(pool), pool.Rent());
    }

    private ObjectPool<Gadget> NewPool(ObjectPoolOptions? options = null)
    {
        ObjectPool<Gadget> pool = ObjectPool<Gadget>.Create(static () => new Gadget(), static i => i.TryReset(), options);
        Watch(pool);
        return pool;
    }
}

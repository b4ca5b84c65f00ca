using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Objects;

/// <summary>Threads that go through objects by the hundred: their magazines grow, and exchange whole arrays with the shared tier.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class ManyObjectsTests(ITestOutputHelper output) : PoolTest
{
    [Fact]
    public void A_thread_that_goes_through_hundreds_keeps_more_of_them_and_is_charged_for_that()
    {
        SimpleObjectPool<Gadget> pool = NewPool(1000);
        using ParkedThread renter = new();
        renter.Run(() => RentAndReturn(pool, 100));
        Assert.InRange(Kept(pool), 1, 15);
        Assert.Equal((Shared(pool) + 15) * 1024, pool.Core.Budget.Used);
        renter.Run(() => RentAndReturn(pool, 400));
        Assert.InRange(Kept(pool), 16, 64);
        Assert.InRange(pool.Core.Budget.Used, (Shared(pool) + 64) * 1024, 1000 * 1024);
        renter.Run(() => RentAndReturn(pool, 400));
        Assert.Equal((400, 400), (pool.GetStatistics().Missed, pool.GetStatistics().Idle));
        pool.Dispose();
        Assert.Equal(0, pool.Core.Budget.Used);
    }

    [Fact]
    public void Where_half_of_the_budget_would_not_stay_free_it_keeps_no_more_than_others()
    {
        SimpleObjectPool<Gadget> pool = NewPool(100);
        using ParkedThread renter = new();
        for (int round = 0; round < 10; round++)
        {
            renter.Run(() => RentAndReturn(pool, 80));
            Assert.InRange(Kept(pool), 1, 15);
        }

        Assert.Equal((80, 80), (pool.GetStatistics().Missed, pool.GetStatistics().Idle));
    }

    [Fact]
    public void A_thread_with_few_takes_the_many_of_another_and_leaves_what_does_not_fit()
    {
        SimpleObjectPool<Gadget> pool = NewPool(1000);
        using ParkedThread many = new();
        using ParkedThread few = new();
        many.Run(() => RentAndReturn(pool, 400));
        many.Run(() => RentAndReturn(pool, 400));
        few.Run(() => RentAndReturn(pool, 1));
        Assert.Equal((400, 400), (pool.GetStatistics().Missed, pool.GetStatistics().Idle));
        pool.Validate();
        few.Run(() => RentAndReturn(pool, (int)Shared(pool)));
        Assert.Equal(400, pool.GetStatistics().Missed);
        many.Run(() => RentAndReturn(pool, 50));
        Assert.Equal(400, pool.GetStatistics().Missed);
    }

    [Fact]
    public void Objects_that_are_returned_in_any_order_are_all_rented_again_and_nobody_has_one_twice()
    {
        SimpleObjectPool<Gadget> pool = NewPool(4000);
        var random = Seeds.New(output);
        var held = new List<Gadget>();
        for (int round = 0; round < 200; round++)
        {
            int wanted = random.Next(600);
            while (held.Count < wanted)
            {
                held.Add(pool.RentRaw());
            }

            Assert.Equal(held.Count, held.Distinct().Count());
            while (held.Count > wanted)
            {
                int which = random.Next(held.Count);
                (held[which], held[^1]) = (held[^1], held[which]);
                pool.ReturnRaw(held[^1]);
                held.RemoveAt(held.Count - 1);
            }

            pool.Validate();
        }

        held.ForEach(pool.ReturnRaw);
        Assert.InRange(pool.GetStatistics().Missed, 1, 600);
    }

    [Fact]
    public void After_an_epoch_the_tiers_refer_to_nothing_that_renters_have_kept()
    {
        SimpleObjectPool<Gadget> pool = NewPool(4000);
        using ParkedThread renter = new();
        renter.Run(() => RentAndReturn(pool, 1000));
        renter.Run(() => RentAndReturn(pool, 1000));
        WeakReference[] kept = renter.Run(() => RentAndForget(pool, 1000));
        Trimmer.Epoch(all: false);
        Eventually.Collect();
        Assert.InRange(kept.Count(k => k.IsAlive), 0, 2); // what a stack may still show
        Forgive(pool, 1000);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] RentAndForget(ObjectPool<Gadget> pool, int count) =>
        [.. Enumerable.Range(0, count).Select(_ => new WeakReference(pool.RentRaw()))];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RentAndReturn(ObjectPool<Gadget> pool, int count)
    {
        List<Gadget> items = [.. Enumerable.Range(0, count).Select(_ => pool.RentRaw())];
        Assert.Equal(count, items.Distinct().Count());
        items.Reverse();
        items.ForEach(pool.ReturnRaw);
        pool.Validate();
    }

    private static long Shared(SimpleObjectPool<Gadget> pool) => pool.Core.Buckets().Sum(b => b.Shared.Count().Idle);

    /// <summary>What threads keep.</summary>
    private static long Kept(SimpleObjectPool<Gadget> pool) => pool.GetStatistics().Idle - Shared(pool);

    private SimpleObjectPool<Gadget> NewPool(int budget)
    {
        var pool = new SimpleObjectPool<Gadget>(new() { Budget = budget, ItemBytes = 1024 });
        Watch(pool);
        return pool;
    }
}

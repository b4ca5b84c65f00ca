using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class RawObjectReturnedTwice : ObjectMisuseTest
{
    [Fact]
    public void The_one_that_this_thread_returned_last_throws()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Default);
        Thing[] things = [.. Enumerable.Range(0, 15).Select(_ => pool.RentRaw())];
        foreach (Thing thing in things)
        {
            pool.ReturnRaw(thing);
            Throws(pool, MisuseKind.DoubleReturn, () => pool.ReturnRaw(thing));
        }

        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void With_checks_off_the_same_is_counted_and_changes_nothing()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Off);
        Thing thing = pool.RentRaw();
        pool.ReturnRaw(thing);
        pool.ReturnRaw(thing);
        Assert.Equal(1, pool.GetStatistics().GetMisuse(MisuseKind.DoubleReturn));
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void One_that_cannot_be_reset_the_second_time_is_not_destroyed_while_it_is_idle()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Default);
        Thing thing = pool.RentRaw(), other = pool.RentRaw();
        pool.ReturnRaw(thing);
        pool.ReturnRaw(other);
        thing.Fails = true;
        Throws(pool, MisuseKind.DoubleReturn, () => pool.ReturnRaw(thing));
        thing.Fails = false;
        Assert.Equal(0, thing.Disposals);
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void The_one_that_this_thread_returned_last_throws_while_the_budget_is_tight_too()
    {
        ObjectPool<Thing> pool = NewTightObjects(PoolChecks.Default);
        Thing[] things = [.. Enumerable.Range(0, 16).Select(_ => pool.RentRaw())];
        foreach (Thing thing in things)
        {
            pool.ReturnRaw(thing);
            Throws(pool, MisuseKind.DoubleReturn, () => pool.ReturnRaw(thing));
        }

        Assert.Equal((16, 0), (pool.GetStatistics().Idle, pool.GetStatistics().Leased));
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void While_the_budget_is_tight_one_of_the_last_throws_whichever_thread_returned_it()
    {
        ObjectPool<Thing> pool = NewTightObjects(PoolChecks.Default);
        Thing[] things = [.. Enumerable.Range(0, 16).Select(_ => pool.RentRaw())];
        Array.ForEach(things[..14], thing => Threads.Run(() => pool.ReturnRaw(thing)));
        foreach (Thing thing in things[..14])
        {
            Throws(pool, MisuseKind.DoubleReturn, () => pool.ReturnRaw(thing));
        }

        Array.ForEach(things[14..], pool.ReturnRaw);
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void While_the_budget_is_tight_one_return_counts_when_threads_race()
    {
        ObjectPool<Thing> pool = NewTightObjects(PoolChecks.Default);
        Thing thing = pool.RentRaw();
        int threw = 0;
        Threads.RunAll(8, _ =>
        {
            try
            {
                pool.ReturnRaw(thing);
            }
            catch (PoolMisuseException)
            {
                Interlocked.Increment(ref threw);
            }
        });
        Assert.Equal((7, 16), (threw, pool.GetStatistics().Idle));
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void With_checks_off_and_a_tight_budget_it_is_counted_and_changes_nothing()
    {
        ObjectPool<Thing> pool = NewTightObjects(PoolChecks.Off);
        Thing thing = pool.RentRaw();
        pool.ReturnRaw(thing);
        pool.ReturnRaw(thing);
        Assert.Equal(1, pool.GetStatistics().GetMisuse(MisuseKind.DoubleReturn));
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void While_the_budget_is_tight_one_that_cannot_be_reset_the_second_time_is_not_destroyed()
    {
        ObjectPool<Thing> pool = NewTightObjects(PoolChecks.Default);
        Thing thing = pool.RentRaw();
        pool.ReturnRaw(thing);
        thing.Fails = true;
        Throws(pool, MisuseKind.DoubleReturn, () => pool.ReturnRaw(thing));
        thing.Fails = false;
        Assert.Equal(0, thing.Disposals);
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void In_full_checks_every_second_return_throws_and_says_where()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Full, stacks: true);
        Thing[] things = [.. Enumerable.Range(0, 50).Select(_ => pool.RentRaw())];
        Array.ForEach(things, pool.ReturnRaw);
        foreach (Thing thing in things)
        {
            Assert.Contains(
                "Returned at:",
                Throws(pool, MisuseKind.DoubleReturn, () => pool.ReturnRaw(thing)).Message,
                StringComparison.Ordinal);
            Assert.Equal(1, thing.Resets);
        }

        AssertNoTwoRenters(pool);
    }
}

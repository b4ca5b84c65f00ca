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

using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ObjectLeaseReturnedTwice : ObjectMisuseTest
{
    [Theory]
    [InlineData(PoolChecks.Default)]
    [InlineData(PoolChecks.Full)]
    public void The_second_return_throws_and_the_object_is_reset_once(PoolChecks mode)
    {
        ObjectPool<Thing> pool = NewObjects(mode);
        ObjectLease<Thing> lease = pool.Rent();
        Thing thing = lease.Value;
        lease.Return();
        Assert.Contains("returned twice", Throws(pool, MisuseKind.DoubleReturn, () => lease.Return()).Message, StringComparison.Ordinal);
        Throws(pool, MisuseKind.DoubleReturn, () => Threads.Run(() => lease.Return()));
        Assert.Equal((1, 2, 1), (thing.Resets, pool.GetStatistics().GetMisuse(MisuseKind.DoubleReturn), pool.GetStatistics().Returned));
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void With_checks_off_it_is_counted_and_changes_nothing()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Off);
        ObjectLease<Thing> lease = pool.Rent();
        Thing thing = lease.Value;
        lease.Return();
        lease.Return();
        Assert.Equal((1, 1), (thing.Resets, pool.GetStatistics().GetMisuse(MisuseKind.DoubleReturn)));
        AssertNoTwoRenters(pool);
    }

    [Theory]
    [InlineData(PoolChecks.Off)]
    [InlineData(PoolChecks.Default)]
    [InlineData(PoolChecks.Full)]
    public void The_new_renter_of_the_object_keeps_it(PoolChecks mode)
    {
        ObjectPool<Thing> pool = NewObjects(mode);
        ObjectLease<Thing> old = pool.Rent();
        old.Return();
        using ObjectLease<Thing> current = pool.Rent();
        old.Dispose();
        old.Dispose();
        Assert.True(current.IsActive);
        Assert.Equal((2, 2), (pool.GetStatistics().StaleDisposes, pool.GetStatistics().GetMisuse(MisuseKind.StaleDispose)));
        Assert.Equal(1, current.Value.Resets);
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void In_full_checks_the_message_says_where()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Full, stacks: true);
        ObjectLease<Thing> lease = pool.Rent();
        lease.Return();
        string message = Throws(pool, MisuseKind.DoubleReturn, () => lease.Return()).Message;
        Assert.Contains("Rented at:", message, StringComparison.Ordinal);
        Assert.Contains("Returned at:", message, StringComparison.Ordinal);
    }
}

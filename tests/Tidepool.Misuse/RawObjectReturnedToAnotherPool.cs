using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class RawObjectReturnedToAnotherPool : ObjectMisuseTest
{
    [Fact]
    public void Full_checks_throw_and_leave_the_object_alone()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Full);
        var stranger = new Thing();
        Throws(pool, MisuseKind.ForeignReturn, () => pool.ReturnRaw(stranger));
        ObjectLease<Thing> lease = pool.Rent();
        Throws(pool, MisuseKind.ForeignReturn, () => pool.ReturnRaw(lease.Value)); // rented under a lease, so it must come back by it
        Assert.Equal((0, 0), (stranger.Resets, lease.Value.Resets));
        lease.Return();
        AssertNoTwoRenters(pool);
    }

    [Fact]
    public void Otherwise_it_is_taken_and_has_one_renter()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Default);
        var stranger = new Thing();
        pool.ReturnRaw(stranger);
        Assert.Same(stranger, pool.RentRaw());
        pool.ReturnRaw(stranger);
        AssertNoTwoRenters(pool);
        Forgive(pool, -1);
    }
}

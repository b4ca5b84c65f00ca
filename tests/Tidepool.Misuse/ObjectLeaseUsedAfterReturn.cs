using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ObjectLeaseUsedAfterReturn : ObjectMisuseTest
{
    [Theory]
    [InlineData(PoolChecks.Off)]
    [InlineData(PoolChecks.Default)]
    [InlineData(PoolChecks.Full)]
    public void Its_value_throws_also_when_the_object_has_a_new_renter(PoolChecks mode)
    {
        ObjectPool<Thing> pool = NewObjects(mode);
        ObjectLease<Thing> lease = pool.Rent();
        lease.Return();
        Assert.Contains(pool.Name, Assert.Throws<ObjectDisposedException>(() => lease.Value).Message, StringComparison.Ordinal);
        using ObjectLease<Thing> current = pool.Rent();
        Assert.Throws<ObjectDisposedException>(() => lease.Value);
        Assert.Throws<ObjectDisposedException>(() => lease.Detach());
        Assert.Equal(3, pool.GetStatistics().GetMisuse(MisuseKind.UseAfterReturn));
        Assert.NotNull(current.Value);
        AssertNoTwoRenters(pool);
    }
}

using System.Runtime.CompilerServices;
using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ObjectLeaseNeverReturned : ObjectMisuseTest
{
    [Fact]
    public void The_object_is_collected_and_one_in_a_sample_is_reported()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Default, leakSampling: 4);
        WeakReference[] dropped = DropHere(pool, raw: false);
        Eventually.TrueAfterCollections(() => Array.TrueForAll(dropped, d => !d.IsAlive), "the dropped objects to be collected");
        Eventually.TrueAfterCollections(
            () => pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned) == 5, "one in four of twenty to be reported");
        Forgive(pool, dropped.Length - 5); // what was reported is no longer counted
        AssertNoTwoRenters(pool);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Full_checks_report_every_one_leased_or_raw(bool raw)
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Full);
        WeakReference[] dropped = DropHere(pool, raw);
        Eventually.TrueAfterCollections(
            () => pool.GetStatistics().GetMisuse(MisuseKind.NeverReturned) == dropped.Length, "all twenty to be reported");
        Assert.Equal((0, 0), (pool.GetStatistics().Leased, pool.GetStatistics().BytesLeased));
    }

    [Fact]
    public void What_is_returned_or_detached_or_destroyed_is_never_reported()
    {
        ObjectPool<Thing> pool = NewObjects(PoolChecks.Full);
        ReturnAll(pool);
        pool.Trim();
        Eventually.Collect();
        Eventually.Collect();
        Assert.Equal(0, pool.GetStatistics().Misuses);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference[] DropHere(ObjectPool<Thing> pool, bool raw)
    {
        WeakReference[] dropped = new WeakReference[20];
        for (int i = 0; i < dropped.Length; i++)
        {
            dropped[i] = new WeakReference(raw ? pool.RentRaw() : pool.Rent().Value);
        }

        return dropped;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnAll(ObjectPool<Thing> pool)
    {
        List<ObjectLease<Thing>> leases = [.. Enumerable.Range(0, 40).Select(_ => pool.Rent())];
        List<Thing> raw = [.. Enumerable.Range(0, 40).Select(_ => pool.RentRaw())];
        leases[0].Detach();
        leases[1].Value.Fails = true;
        Assert.Throws<TimeoutException>(() => leases[1].Return());
        leases.Skip(2).ToList().ForEach(l => l.Return());
        raw.ForEach(pool.ReturnRaw);
    }
}

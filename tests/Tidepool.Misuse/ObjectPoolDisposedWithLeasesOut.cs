using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ObjectPoolDisposedWithLeasesOut : ObjectMisuseTest
{
    [Theory]
    [InlineData(PoolChecks.Off)]
    [InlineData(PoolChecks.Default)]
    [InlineData(PoolChecks.Full)]
    public void They_stay_usable_and_are_destroyed_once_when_they_come_back(PoolChecks mode)
    {
        ObjectPool<Thing> pool = NewObjects(mode);
        ObjectLease<Thing> here = pool.Rent(), there = pool.Rent();
        Thing raw = pool.RentRaw();
        Thing[] things = [here.Value, there.Value, raw];
        pool.Dispose();
        Assert.Same(things[0], here.Value);
        here.Return();
        Threads.Run(() => there.Return());
        pool.ReturnRaw(raw);
        here.Dispose();
        Assert.All(things, t => Assert.Equal((1, 1), (t.Resets, t.Disposals)));
        Assert.Throws<ObjectDisposedException>(() => pool.Rent());
    }
}

using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class RacingReturnsOfAnObjectLease : ObjectMisuseTest
{
    [Theory]
    [InlineData(PoolChecks.Off)]
    [InlineData(PoolChecks.Default)]
    [InlineData(PoolChecks.Full)]
    public void One_is_accepted_and_the_object_is_reset_once(PoolChecks mode)
    {
        ObjectPool<Thing> pool = NewObjects(mode);
        const int Leases = 3000;
        ObjectLease<Thing>[] leases = [.. Enumerable.Range(0, Leases).Select(_ => pool.Rent())];
        Thing[] things = [.. leases.Select(l => l.Value)];
        int threw = 0;
        int position = 0;
        Threads.RunAll(3, thread =>
        {
            for (int i = 0; i < Leases; i++)
            {
                // In lockstep, so that the three returns of a lease meet.
                Interlocked.Increment(ref position);
                for (var spin = default(SpinWait); Volatile.Read(ref position) < 3 * (i + 1);)
                {
                    spin.SpinOnce(sleep1Threshold: -1);
                }

                try
                {
                    leases[i].Return();
                }
                catch (PoolMisuseException)
                {
                    Interlocked.Increment(ref threw);
                }
            }
        });
        Assert.Equal(mode == PoolChecks.Off ? 0 : 2 * Leases, threw);
        Assert.Equal(2 * Leases, pool.GetStatistics().GetMisuse(MisuseKind.DoubleReturn));
        Assert.All(things, t => Assert.Equal((1, false), (t.Resets, t.WasResetTwiceAtOnce)));
        Assert.Equal((0, Leases), (pool.GetStatistics().Leased, pool.GetStatistics().Returned));
        AssertNoTwoRenters(pool);
    }
}

using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class PolicyThatThrows : ObjectMisuseTest
{
    [Theory]
    [InlineData(PoolChecks.Off)]
    [InlineData(PoolChecks.Default)]
    [InlineData(PoolChecks.Full)]
    public void No_object_is_lost_or_has_two_renters(PoolChecks mode)
    {
        ObjectPool<Thing> pool = NewObjects(mode);
        var random = new Random(1);
        var seen = new HashSet<Thing>();
        for (int i = 0; i < 2000; i++)
        {
            ObjectLease<Thing> lease = pool.Rent();
            Thing raw = pool.RentRaw();
            seen.Add(lease.Value);
            seen.Add(raw);
            bool fails = random.Next(3) == 0;
            lease.Value.Fails = raw.Fails = fails;
            if (fails)
            {
                Assert.Throws<TimeoutException>(() => lease.Dispose());
                Assert.Throws<TimeoutException>(() => pool.ReturnRaw(raw));
            }
            else
            {
                lease.Dispose();
                pool.ReturnRaw(raw);
            }
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((0, 4000), (statistics.Leased, statistics.Returned));
        Assert.Equal(seen.Count - statistics.Refused, statistics.Idle);
        // Each refused one threw on disposal too.
        Assert.Equal((seen.Count, statistics.Refused), ((int)statistics.Missed, statistics.Failures));
        Assert.Equal(statistics.Refused, seen.Sum(t => t.Disposals));
        AssertNoTwoRenters(pool);
    }
}

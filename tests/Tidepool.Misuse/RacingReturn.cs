using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

/// <summary>
/// Several threads return one lease at the same moment. In every mode one return counts, and the others are counted as misuse.
/// </summary>
public abstract class RacingReturn(PoolChecks mode, int rounds) : MisuseTest(mode)
{
    /// <summary>How many leases are raced for.</summary>
    protected int Rounds { get; } = rounds;

    /// <summary>Neither of the two threads has rented.</summary>
    /// <returns>Leases of which no, one or both of the returns threw.</returns>
    protected int[] RaceOfTwoOtherThreads()
    {
        Race race = new(Pool);
        race.BetweenTwoOthers(Rounds);
        Assert.Equal(Rounds + race.Checked, Pool.GetStatistics().Returned);
        return AssertOneReturnCounted(race);
    }

    /// <summary>One of the two threads is the renting one.</summary>
    /// <returns>Leases of which no, one or both of the returns threw.</returns>
    protected int[] RaceWithTheRenter()
    {
        Race race = new(Pool);
        race.WithTheRenter(Rounds);
        return AssertOneReturnCounted(race);
    }

    /// <summary>Six threads return each lease.</summary>
    /// <returns>For each lease, how many of them were refused.</returns>
    protected int[] RaceOfSixThreads()
    {
        int[] thrown = new int[200];
        for (int round = 0; round < thrown.Length; round++)
        {
            BufferLease<int> lease = Pool.Rent(100);
            int place = round;
            Threads.RunAll(6, _ =>
            {
                try
                {
                    lease.Return();
                }
                catch (PoolMisuseException)
                {
                    Interlocked.Increment(ref thrown[place]);
                }
            });
        }

        AssertNoTwoRenters();
        return thrown;
    }

    private int[] AssertOneReturnCounted(Race race)
    {
        AssertNoTwoRenters(); // also settles what was posted
        Assert.Equal(Pool.GetStatistics().Rented, Pool.GetStatistics().Returned);
        Assert.Equal(Rounds, Count(MisuseKind.DoubleReturn) + Count(MisuseKind.RacingReturn));
        return race.Threw;
    }
}

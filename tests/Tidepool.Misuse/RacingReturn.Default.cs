using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class RacingReturnDefault() : MisuseTest(PoolChecks.Default)
{
    private const int Rounds = 200_000;

    [Fact]
    public void Of_two_other_threads_exactly_one_throws()
    {
        Race race = new(Pool);
        race.BetweenTwoOthers(Rounds);
        Assert.Equal([0, Rounds, 0], race.Threw);
        Assert.Equal(Rounds + race.Checked, Pool.GetStatistics().Returned);
        Assert.Equal(Rounds, Count(MisuseKind.DoubleReturn) + Count(MisuseKind.RacingReturn));
        AssertNoTwoRenters();
    }

    [Fact]
    public void Of_the_renter_and_another_thread_the_loser_throws_or_is_reported()
    {
        Race race = new(Pool);
        race.WithTheRenter(Rounds);
        Assert.Equal(0, race.Threw[2]);
        AssertNoTwoRenters(); // also settles what was posted
        Assert.Equal(Pool.GetStatistics().Rented, Pool.GetStatistics().Returned);
        Assert.Equal(Rounds, Count(MisuseKind.DoubleReturn) + Count(MisuseKind.RacingReturn));
        Assert.Equal(Rounds - race.Threw[1], Count(MisuseKind.RacingReturn));
    }

    [Fact]
    public void Of_many_threads_exactly_one_wins()
    {
        const int Count = 6;
        for (int round = 0; round < 200; round++)
        {
            BufferLease<int> lease = Pool.Rent(100);
            int thrown = 0;
            Threads.RunAll(Count, _ =>
            {
                try
                {
                    lease.Return();
                }
                catch (PoolMisuseException)
                {
                    Interlocked.Increment(ref thrown);
                }
            });
            Assert.Equal(Count - 1, thrown);
        }

        AssertNoTwoRenters();
    }
}

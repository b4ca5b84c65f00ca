using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class RacingReturnOff() : MisuseTest(PoolChecks.Off)
{
    private const int Rounds = 200_000;

    [Fact]
    public void Of_two_other_threads_one_wins_and_nothing_is_thrown()
    {
        Race race = new(Pool);
        race.BetweenTwoOthers(Rounds);
        Assert.Equal([Rounds, 0, 0], race.Threw);
        Assert.Equal(Rounds + race.Checked, Pool.GetStatistics().Returned);
        Assert.Equal(Rounds, Count(MisuseKind.DoubleReturn) + Count(MisuseKind.RacingReturn));
        AssertNoTwoRenters();
    }

    [Fact]
    public void Of_the_renter_and_another_thread_one_wins_and_nothing_is_thrown()
    {
        Race race = new(Pool);
        race.WithTheRenter(Rounds);
        Assert.Equal([Rounds, 0, 0], race.Threw);
        AssertNoTwoRenters();
        Assert.Equal(Pool.GetStatistics().Rented, Pool.GetStatistics().Returned);
        Assert.Equal(Rounds, Count(MisuseKind.DoubleReturn) + Count(MisuseKind.RacingReturn));
    }
}

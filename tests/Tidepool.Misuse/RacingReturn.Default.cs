namespace Tidepool.Misuse;

public sealed class RacingReturnDefault() : RacingReturn(PoolChecks.Default, rounds: 50_000)
{
    [Fact]
    public void Of_two_other_threads_exactly_one_throws() => Assert.Equal([0, Rounds, 0], RaceOfTwoOtherThreads());

    [Fact]
    public void Of_the_renter_and_another_thread_the_loser_throws_or_is_reported()
    {
        int[] threw = RaceWithTheRenter();
        Assert.Equal(
            [Count(MisuseKind.RacingReturn), Rounds - Count(MisuseKind.RacingReturn), 0],
            threw.Select(static leases => (long)leases));
    }

    [Fact]
    public void Of_many_threads_exactly_one_wins() => Assert.All(RaceOfSixThreads(), static thrown => Assert.Equal(5, thrown));
}

namespace Tidepool.Misuse;

public sealed class RacingReturnOff() : RacingReturn(PoolChecks.Off, rounds: 50_000)
{
    [Fact]
    public void Of_two_other_threads_one_wins_and_nothing_is_thrown() => Assert.Equal([Rounds, 0, 0], RaceOfTwoOtherThreads());

    [Fact]
    public void Of_the_renter_and_another_thread_one_wins_and_nothing_is_thrown() => Assert.Equal([Rounds, 0, 0], RaceWithTheRenter());
}

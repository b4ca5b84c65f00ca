namespace Tidepool.Labs.Tests.Measuring;

public sealed class ManyMagazinesTests
{
    [Fact]
    public void The_longest_epoch_counts_by_a_rank_of_its_repeats()
    {
        double?[][] lives = [[1, 20], [3, 10, 99], [2, null]];
        Assert.Equal(10, ManyMagazines.LongestOf(lives, 0));
        Assert.Equal(20, ManyMagazines.LongestOf(lives, 1));
    }

    [Fact]
    public void What_could_not_be_measured_is_no_number()
    {
        Assert.Null(ManyMagazines.LongestOf([[1, null], [2, null]], 0));
        Assert.Null(ManyMagazines.LongestOf([[1], [2]], 2));
        Assert.Null(ManyMagazines.LongestOf([[], [2]], 0));
    }

    [Theory]
    [InlineData(10, 0, true)]
    [InlineData(9, 1000, false)]
    [InlineData(0, 1001, true)] // it ran seldom because it waited
    public void A_wait_beyond_the_goal_counts_however_often_the_thread_ran(int turns, int microseconds, bool expected) =>
        Assert.Equal(expected, ManyMagazines.IsKnown(turns, TimeSpan.FromMicroseconds(microseconds)));
}

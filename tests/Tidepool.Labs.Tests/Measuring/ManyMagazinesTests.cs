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
    [InlineData(10, 0, 5000, 0)]
    [InlineData(9, 1000, 5000, null)]
    [InlineData(0, 1001, 5000, 1001)] // it ran seldom because it waited
    [InlineData(0, 0, 1000, 1000)] // no longer than the epoch
    public void A_wait_is_known_when_the_thread_ran_often_or_the_wait_is_bounded(int turns, int longest, int epoch, int? expected) =>
        Assert.Equal(
            expected,
            ManyMagazines.WaitOf(turns, TimeSpan.FromMicroseconds(longest), TimeSpan.FromMicroseconds(epoch))?.TotalMicroseconds);
}

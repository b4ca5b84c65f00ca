namespace Tidepool.Labs.Tests.Planning;

public class ThreadCountsTests
{
    [Theory]
    [InlineData(1, new[] { 1, 2, 8 })]
    [InlineData(2, new[] { 1, 2, 16 })]
    [InlineData(6, new[] { 1, 2, 4, 6, 48 })]
    [InlineData(64, new[] { 1, 2, 4, 8, 16, 32, 64, 256 })]
    public void A_full_run_doubles_up_to_the_processors_and_ends_with_a_crowd(int processors, int[] expected)
    {
        Assert.Equal(expected, ThreadCounts.Default(LabMode.Full, processors));
        Assert.Equal([1, 2], ThreadCounts.Default(LabMode.Quick, processors));
    }

    [Theory]
    [InlineData("1,2,4,8", new[] { 1, 2, 4, 8 })]
    [InlineData("16, 3,3", new[] { 16, 3 })]
    [InlineData("256", new[] { 256 })]
    [InlineData("257", null)]
    [InlineData("0", null)]
    [InlineData("2,", null)]
    [InlineData("two", null)]
    [InlineData("-1", null)]
    public void Counts_are_numbers_between_commas(string text, int[]? expected) => Assert.Equal(expected, ThreadCounts.Parse(text));
}

namespace Tidepool.Tests.Tiers;

public sealed class SharedTierTests
{
    [Theory]
    [InlineData(0, 1)] // no setting is refused
    [InlineData(1, 1)]
    [InlineData(2, 2)]
    [InlineData(6, 8)]
    [InlineData(32, 32)]
    [InlineData(192, 32)]
    public void Each_processor_has_a_stripe_up_to_32(int processors, int stripes) =>
        Assert.Equal(stripes, SharedTier.StripesFor(processors));

    [Fact]
    public void Tests_have_one_stripe() => Assert.Equal("1", AppContext.GetData("Tidepool.SharedStripes"));
}

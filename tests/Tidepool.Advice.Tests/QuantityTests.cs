namespace Tidepool.Advice.Tests;

public sealed class QuantityTests
{
    [Theory]
    [InlineData(0, "0 B")]
    [InlineData(999, "999 B")]
    [InlineData(999.6, "1 kB")]
    [InlineData(1234, "1.23 kB")]
    [InlineData(99_960, "100 kB")]
    [InlineData(2_500_000_000, "2.5 GB")]
    public void Bytes_have_three_digits_at_most(double bytes, string text) => Assert.Equal(text, Quantity.Bytes(bytes));

    [Theory]
    [InlineData(0.25, "0.25 ms")]
    [InlineData(999, "999 ms")]
    [InlineData(1500, "1.5 s")]
    [InlineData(180_000, "3 min")]
    [InlineData(7_200_000, "2 h")]
    public void Times_have_the_unit_that_suits_them(double milliseconds, string text) => Assert.Equal(text, Quantity.Time(milliseconds));

    [Theory]
    [InlineData(1, "100%")]
    [InlineData(0.9999, "99.9%")]
    [InlineData(0.5, "50%")]
    public void Only_all_is_a_hundred_percent(double share, string text) => Assert.Equal(text, Quantity.Percent(share));
}

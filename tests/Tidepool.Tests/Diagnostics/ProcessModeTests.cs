namespace Tidepool.Tests.Diagnostics;

public sealed class ProcessModeTests
{
    [Theory]
    [InlineData("off", true)]
    [InlineData(" OFF ", true)]
    [InlineData("on", false)]
    [InlineData("", false)]
    [InlineData(null, false)]
    [InlineData("of", false)]
    public void Only_off_is_off(string? text, bool isOff) => Assert.Equal(isOff, ProcessMode.Parse(text));

    [Fact]
    public void The_budget_of_this_process_has_room() => Assert.True(Budget.Process.Limit > 0 && !ProcessMode.IsOff);
}

namespace Tidepool.Advice.Tests.Targets;

public sealed class LaunchedProcessTests
{
    [Fact]
    public async Task A_command_that_does_not_start_is_an_error_that_names_it()
    {
        var failure = await Assert.ThrowsAsync<TargetException>(
            static () => LaunchedProcess.StartAsync(["no-such-program-of-tidepool"], CancellationToken.None));
        Assert.Contains("'no-such-program-of-tidepool' does not start", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_empty_command_is_an_error_that_says_so()
    {
        var failure = await Assert.ThrowsAsync<TargetException>(static () => LaunchedProcess.StartAsync([""], CancellationToken.None));
        Assert.Contains("the command is empty", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_command_that_starts_another_process_is_refused_with_the_way_out()
    {
        var failure = await Assert.ThrowsAsync<TargetException>(
            static () => LaunchedProcess.StartAsync(["dotnet", "run"], CancellationToken.None));
        Assert.Contains("build it", failure.Message, StringComparison.Ordinal);
    }
}

namespace Tidepool.Labs.Tests.Processes;

[Trait("Category", "Environment")]
public sealed class AdviseCommandTests
{
    [Fact]
    public async Task The_native_library_is_refused_for_a_process_that_runs()
    {
        var (code, _, errors) = await ToolProgram.RunAsync("advise", "12345", "--native", "true");
        Assert.Equal(2, code);
        Assert.Contains("--native true starts a command", errors, StringComparison.Ordinal);
    }
}

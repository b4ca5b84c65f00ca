using System.Diagnostics;

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

    [Theory]
    [InlineData("advise")]
    [InlineData("watch")]
    public async Task A_native_process_is_refused_with_the_way_out(string verb)
    {
        if (!OperatingSystem.IsLinux())
        {
            return; // native programs are looked at on Linux only
        }

        using var process = Process.Start("sleep", ["600"]);
        try
        {
            var (code, _, errors) = await ToolProgram.RunAsync(verb, $"{process.Id}");
            Assert.Equal(2, code);
            Assert.StartsWith($"tidepool: process {process.Id} (sleep) is a native program", errors, StringComparison.Ordinal);
            Assert.Contains("tidepool advise -- COMMAND", errors, StringComparison.Ordinal);
        }
        finally
        {
            process.Kill();
            process.WaitForExit();
        }
    }
}

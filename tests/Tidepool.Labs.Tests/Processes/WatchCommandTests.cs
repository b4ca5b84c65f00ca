using System.Diagnostics;
using System.Text;

namespace Tidepool.Labs.Tests.Processes;

/// <summary><c>tidepool watch</c> in a terminal.</summary>
[Trait("Category", "Environment")]
public sealed class WatchCommandTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    [ProgramsFact("bsdutils", "script")]
    public async Task A_key_opens_the_window_of_array_pool_and_another_ends_the_watch()
    {
        if (!OperatingSystem.IsLinux())
        {
            return; // other systems' script takes other options
        }

        using PlantedHabit program = PlantedHabit.Start();
        var start = new ProcessStartInfo("script", ["-qec", $"dotnet \"{ToolProgram.Path}\" watch {program.Id}", "/dev/null"])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        start.Environment["TERM"] = "xterm-256color";
        using Process watch = Process.Start(start)!;
        try
        {
            await TypeAfter(watch, "q quit", 'a');
            await TypeAfter(watch, "2 s of baseline", 'q');
            using var late = new CancellationTokenSource(Patience);
            await watch.WaitForExitAsync(late.Token);
            Assert.Equal(0, watch.ExitCode);
        }
        finally
        {
            if (!watch.HasExited)
            {
                watch.Kill(entireProcessTree: true);
            }
        }
    }

    /// <summary>Reads until a text is on the screen, then presses a key.</summary>
    private static async Task TypeAfter(Process watch, string text, char key)
    {
        using var late = new CancellationTokenSource(Patience);
        var shown = new StringBuilder();
        var part = new char[1024];
        while (!shown.ToString().Contains(text, StringComparison.Ordinal))
        {
            int length = await watch.StandardOutput.ReadAsync(part, late.Token);
            Assert.True(length > 0, $"the watch has ended: {shown}");
            shown.Append(part, 0, length);
        }

        await watch.StandardInput.WriteAsync(key);
        await watch.StandardInput.FlushAsync(late.Token);
    }
}

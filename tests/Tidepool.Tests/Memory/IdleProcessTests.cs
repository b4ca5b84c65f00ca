using Tidepool.Tests.Support;

namespace Tidepool.Tests.Memory;

/// <summary>Collection when idle, in processes of their own: the switch, the trimmer's clock and the collector are the real ones.</summary>
public sealed class IdleProcessTests
{
    private static readonly string[] Modes = ["off", "background", "aggressive"];

    [Fact]
    [Trait("Category", "Slow")]
    [Trait("Category", "Environment")]
    public async Task A_process_collects_when_it_is_idle_as_its_mode_says()
    {
        // Side by side: each sleeps most of the time, for turns of the clock and then 30 quiet seconds.
        string[] said = await Task.WhenAll(Modes.Select(mode => Task.Run(() => Run(mode))));

        Assert.Equal("given up: True\nin the background: False\nblocking: False\nbuffers alive: True\n", said[0]);
        Assert.Contains("in the background: True\n", said[1], StringComparison.Ordinal);
        Assert.Contains("buffers alive: False\n", said[1], StringComparison.Ordinal);
        Assert.Contains("blocking: True\n", said[2], StringComparison.Ordinal);
        Assert.Contains("buffers alive: False\n", said[2], StringComparison.Ordinal);
    }

    private static string Run(string mode)
    {
        var environment = new Dictionary<string, string>
        {
            [IdleCollection.Variable] = mode,
            ["DOTNET_gcConcurrent"] = "1",
            ["DOTNET_gcServer"] = "0",
        };
        (int code, string output, string error) = Child.Run(Child.Idle, checks: null, environment: environment);
        Assert.True(code == 0, error);
        return output.ReplaceLineEndings("\n");
    }
}

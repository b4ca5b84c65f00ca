using System.Diagnostics;
using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Tidepool.Advice.Tests.Programs;

namespace Tidepool.Advice.Tests.Targets;

/// <summary>Processes that stand still, or end while they are listened to.</summary>
[Trait("Category", "Environment")]
public sealed class ConnectionTests
{
    [Fact]
    public void The_wait_for_a_process_that_stands_still_can_be_ended()
    {
        if (OperatingSystem.IsWindows())
        {
            return; // nothing there stops a process from outside
        }

        using var child = ChildProcess.Start(WatchedProgram.Name);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        Signal(child.Id, "STOP");
        try
        {
            using var stop = new CancellationTokenSource(TimeSpan.FromSeconds(1));
            var configuration = new EventPipeSessionConfiguration([new("Tidepool", EventLevel.Warning)], 16, false, false);
            var refused = Assert.Throws<TargetException>(() => Connection.Open(new(child.Id), target, configuration, stop.Token));
            Assert.Equal(TargetProblem.OutOfReach, refused.Problem);
            Assert.StartsWith($"stopped before process {child.Id} ", refused.Message, StringComparison.Ordinal);
        }
        finally
        {
            Signal(child.Id, "CONT");
        }
    }

    [Fact]
    public async Task A_window_that_the_end_of_the_process_cuts_short_is_as_long_as_it_was()
    {
        using var child = ChildProcess.Start(WatchedProgram.Name);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        var time = Stopwatch.StartNew();
        Task<TrafficWindow> listening = TrafficListener.ListenAsync(target, CancellationToken.None);
        await Task.Delay(TimeSpan.FromSeconds(5)); // two before the window, three in it
        child.Kill();
        TrafficWindow window = await listening;
        Assert.InRange(window.Seconds, 0.05, time.Elapsed.TotalSeconds);
        Assert.Contains(window.Pools, static pool => pool.Lengths.Any(static length => length.Rented > 0));
    }

    private static void Signal(int id, string name)
    {
        using Process kill = Process.Start("kill", [$"-{name}", $"{id}"]);
        kill.WaitForExit();
        Assert.Equal(0, kill.ExitCode);
    }
}

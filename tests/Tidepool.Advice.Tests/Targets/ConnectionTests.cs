using System.Diagnostics;
using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Tidepool.Advice.Tests.Programs;

namespace Tidepool.Advice.Tests.Targets;

/// <summary>Processes that stand still, or end while they are listened to.</summary>
[Trait("Category", "Environment")]
public sealed class ConnectionTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(500);

    private static EventPipeSessionConfiguration Rentals { get; } =
        new([new("System.Buffers.ArrayPoolEventSource", EventLevel.Verbose)], 16, requestRundown: false, requestStackwalk: false);

    [UnixFact]
    public void The_wait_for_a_process_that_stands_still_can_be_ended()
    {
        using var child = ChildProcess.Start(WatchedProgram.Name);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        Signal(child.Id, "STOP");
        try
        {
            using var stop = new CancellationTokenSource(TimeSpan.FromSeconds(1));
            var refused = Assert.Throws<TargetException>(() => Connection.Open(new(child.Id), target, Rentals, stop.Token));
            Assert.Equal(TargetProblem.Stopped, refused.Problem);
            Assert.Contains($"{child.Id}", refused.Message, StringComparison.Ordinal);
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
        var time = Stopwatch.StartNew();
        Task<EventWindow> reading = await ReadAsync(child.Id, int.MaxValue);
        await Task.Delay(Moment);
        child.Kill();
        EventWindow window = await reading.WaitAsync(Patience);
        Assert.InRange(window.Seconds, Moment.TotalSeconds, time.Elapsed.TotalSeconds);
    }

    [UnixFact]
    public async Task A_window_ends_although_the_process_stands_still()
    {
        using var child = ChildProcess.Start(WatchedProgram.Name);
        Task<EventWindow> reading = await ReadAsync(child.Id, (int)(4 * Moment).TotalMilliseconds);
        Signal(child.Id, "STOP");
        try
        {
            await reading.WaitAsync(Patience);
        }
        finally
        {
            Signal(child.Id, "CONT");
        }
    }

    /// <summary>Begins to read a window, and waits for the first event.</summary>
    private static async Task<Task<EventWindow>> ReadAsync(int id, int milliseconds)
    {
        EventPipeSession session = Connection.Open(new(id), TargetCatalog.Find($"{id}"), Rentals, CancellationToken.None);
        var seen = new TaskCompletionSource();
        Task<EventWindow> reading = Task.Run(() =>
        {
            using (session)
            {
                return EventWindow.Read(session, id, milliseconds, _ => seen.TrySetResult(), CancellationToken.None);
            }
        });
        await seen.Task.WaitAsync(Patience);
        return reading;
    }

    private static void Signal(int id, string name)
    {
        using Process kill = Process.Start("kill", [$"-{name}", $"{id}"]);
        kill.WaitForExit();
        Assert.Equal(0, kill.ExitCode);
    }

    private sealed class UnixFactAttribute : FactAttribute
    {
        public UnixFactAttribute() => Skip = OperatingSystem.IsWindows() ? "Windows has no signal that stops a process from outside" : null;
    }
}

using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>What a window of events was.</summary>
/// <param name="Seconds">Its length.</param>
/// <param name="Processors">How many processors the process kept busy in it; null where that cannot be read.</param>
/// <param name="LostEvents">Events that the process could not deliver.</param>
internal readonly record struct EventWindow(double Seconds, double? Processors, long LostEvents)
{
    /// <summary>Reads a session for a time, and ends it.</summary>
    /// <param name="session">The session, just opened.</param>
    /// <param name="processId">The process.</param>
    /// <param name="milliseconds">How long.</param>
    /// <param name="add">Gets each event.</param>
    /// <param name="early">Ends the window early.</param>
    public static EventWindow Read(
        EventPipeSession session, int processId, int milliseconds, Action<TraceEvent> add, CancellationToken early)
    {
        using var source = new EventPipeEventSource(session.EventStream);
        source.Dynamic.All += add;
        var clock = new ProcessorClock(processId);
        double? within = null;
        double seconds = 0;
        using var timer = new Timer(
            _ =>
            {
                (within, seconds) = (clock.Read(), clock.Seconds);
                Connection.Stop(session, milliseconds);
            },
            null,
            milliseconds,
            Timeout.Infinite);
        using var stopped = early.Register(() => timer.Change(0, Timeout.Infinite));
        source.Process();
        return new EventWindow(Math.Max(seconds, 1e-3), within, source.EventsLost);
    }
}

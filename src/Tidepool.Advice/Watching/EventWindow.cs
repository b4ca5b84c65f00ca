using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>What a window of events was.</summary>
/// <param name="Seconds">Its length: shorter where the process ended within it.</param>
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
        var clock = new ProcessorClock(processId);
        double? within = null;
        double seconds = 0;
        var read = new TaskCompletionSource();
        using var timer = new Timer(
            _ =>
            {
                (within, seconds) = (clock.Read(), clock.Seconds);
                Connection.Stop(session, milliseconds);
                if (!read.Task.Wait(milliseconds))
                {
                    session.Dispose(); // the process stands still: nothing else ends the read
                }
            },
            null,
            milliseconds,
            Timeout.Infinite);
        using var stopped = early.Register(() => timer.Change(0, Timeout.Infinite));
        long lost = Process(session, add);
        read.SetResult();
        return new EventWindow(Math.Max(seconds > 0 ? seconds : clock.Seconds, 1e-3), within, lost);
    }

    /// <summary>Hands out events until the session ends, or the process does.</summary>
    /// <returns>How many were lost.</returns>
    private static long Process(EventPipeSession session, Action<TraceEvent> add)
    {
        long lost = 0;
        try
        {
            using var source = new EventPipeEventSource(session.EventStream);
            source.Dynamic.All += add;
            try
            {
                source.Process();
            }
            finally
            {
                lost = source.EventsLost;
            }
        }
        catch (Exception failure) when (Connection.IsGone(failure))
        {
            // The process has ended, and what it had written last is incomplete.
        }

        return lost;
    }
}

using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>Reads the answers of Tidepool's pools: event 40 for each pool, 41 after the last.</summary>
internal static class PoolEvents
{
    private const int PoolDescribed = 40;
    private const int PoolsDescribed = 41;

    /// <summary>Adds the event if it is an answer.</summary>
    public static void Add(WatchAccumulator accumulator, TraceEvent written)
    {
        switch ((int)written.ID)
        {
            case PoolDescribed:
                accumulator.Add(SampleOf(written));
                break;
            case PoolsDescribed:
                accumulator.EndRound();
                break;
        }
    }

    private static PoolSample SampleOf(TraceEvent written) => new()
    {
        Name = EventValues.Text(written, "pool"),
        Kind = EventValues.Text(written, "kind"),
        Rented = EventValues.Number(written, "rented"),
        Missed = EventValues.Number(written, "missed"),
        Idle = EventValues.Number(written, "idle"),
        Leased = EventValues.Number(written, "leased"),
        BytesIdle = EventValues.Number(written, "bytesIdle", -1),
        BytesLeased = EventValues.Number(written, "bytesLeased", -1),
        Misuses = EventValues.Number(written, "misuses"),
        Failed = EventValues.Number(written, "failed"),
        Waiting = (int)EventValues.Number(written, "waiting", -1),
        MaxSize = (int)EventValues.Number(written, "maxSize", -1),
        OldestMilliseconds = EventValues.Number(written, "oldestMilliseconds", -1),
        OldestSite = EventValues.Text(written, "oldestSite").Trim(),
        Seconds = written.TimeStampRelativeMSec / 1000,
    };
}

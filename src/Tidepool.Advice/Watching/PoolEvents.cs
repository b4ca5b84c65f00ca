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
        Name = written.Text("pool"),
        Kind = written.Text("kind"),
        Rented = written.Number("rented"),
        Missed = written.Number("missed"),
        Idle = written.Number("idle"),
        Leased = written.Number("leased"),
        BytesIdle = written.Number("bytesIdle", -1),
        BytesLeased = written.Number("bytesLeased", -1),
        Misuses = written.Number("misuses"),
        Failed = written.Number("failed"),
        Waiting = (int)written.Number("waiting", -1),
        MaxSize = (int)written.Number("maxSize", -1),
        OldestMilliseconds = written.Number("oldestMilliseconds", -1),
        OldestSite = written.Text("oldestSite").Trim(),
        Seconds = written.TimeStampRelativeMSec / 1000,
    };
}

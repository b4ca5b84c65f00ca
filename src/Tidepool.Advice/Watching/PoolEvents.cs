using System.Globalization;
using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>Reads the answers of Tidepool's pools, event 40 for each pool and 42 for each length, 41 after the last, and reports.</summary>
internal static class PoolEvents
{
    private const int PoolDescribed = 40;
    private const int PoolsDescribed = 41;
    private const int PoolClassDescribed = 42;
    private const int Misuse = 7;
    private const int LeaseOverdue = 20;
    private const int LeaseReclaimed = 22;

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

    /// <summary>Adds the event if it is an answer or a report.</summary>
    public static void Add(PoolHistory history, TraceEvent written)
    {
        string pool = EventValues.Text(written, "pool");
        switch ((int)written.ID)
        {
            case PoolDescribed:
                history.Add(SampleOf(written));
                break;
            case PoolClassDescribed:
                history.Add(pool, ClassOf(written));
                break;
            case Misuse:
                history.Report(pool, $"{EventValues.Text(written, "kind")}: {EventValues.Text(written, "message")}");
                break;
            case LeaseOverdue:
                history.Report(pool, $"Overdue: rented {SiteOf(written)}");
                break;
            case LeaseReclaimed:
                history.Report(pool, $"Reclaimed: rented {SiteOf(written)}");
                break;
        }
    }

    private static string SiteOf(TraceEvent written) =>
        EventValues.Text(written, "site").Trim() is { Length: > 0 } site ? site : "at an unknown place (LeakCapture is off)";

    private static PoolClass ClassOf(TraceEvent written) => new()
    {
        Length = (int)EventValues.Number(written, "length"),
        Bytes = EventValues.Number(written, "itemBytes"),
        IsKept = written.PayloadByName("isKept") is true,
        Missed = EventValues.Number(written, "missed"),
        Dropped = EventValues.Number(written, "dropped"),
        Served =
        [
            .. EventValues.Text(written, "served").Split(',', StringSplitOptions.RemoveEmptyEntries)
                .Select(static number => long.Parse(number, CultureInfo.InvariantCulture)),
        ],
    };

    private static PoolSample SampleOf(TraceEvent written) => new()
    {
        Name = EventValues.Text(written, "pool"),
        Kind = EventValues.Text(written, "kind"),
        Rented = EventValues.Number(written, "rented"),
        Returned = EventValues.Number(written, "returned"),
        Missed = EventValues.Number(written, "missed"),
        Dropped = EventValues.Number(written, "dropped"),
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
        Trimmed = EventValues.Number(written, "trimmed"),
        Refused = EventValues.Number(written, "refused"),
        BudgetBytes = EventValues.Number(written, "budgetBytes", -1),
        MisuseKinds = EventValues.Text(written, "misuseKinds"),
        PoolId = (int)EventValues.Number(written, "poolId"),
        ElementBytes = (int)EventValues.Number(written, "elementBytes"),
        Seconds = written.TimeStampRelativeMSec / 1000,
    };
}

using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>Reads the events of <c>System.Diagnostics.Metrics</c>.</summary>
internal static class MeterEvents
{
    /// <summary>Adds the event if it carries a value.</summary>
    public static void Add(WatchAccumulator accumulator, TraceEvent written)
    {
        double? value = written.EventName switch
        {
            "CounterRateValuePublished" or "UpDownCounterRateValuePublished" => EventValues.Decimal(written, "value"),
            "GaugeValuePublished" => EventValues.Decimal(written, "lastValue"),
            "HistogramValuePublished" => EventValues.Decimal(written, "count"),
            "Collection/Stop" => End(accumulator, written),
            _ => null,
        };
        if (value is { } known)
        {
            accumulator.Add(new MeterValue(
                EventValues.Text(written, "meterName"),
                EventValues.Text(written, "instrumentName"),
                EventValues.Text(written, "tags"),
                known));
        }
    }

    /// <summary>What the user should know of the event; null for nothing.</summary>
    public static string? NoteOf(TraceEvent written) => written.EventName switch
    {
        "TimeSeriesLimitReached" => "The process has more series of metrics than the shared session takes: some pools are missing.",
        "HistogramLimitReached" => null, // only counts of histograms are read here, and what is missing is a rate
        "Error" => $"The metrics of the process failed: {EventValues.Text(written, "errorMessage")}",
        "MultipleSessionsNotSupportedError" => "Another monitor has the metrics of the process for itself; they are missing here.",
        _ => null,
    };

    private static double? End(WatchAccumulator accumulator, TraceEvent written)
    {
        accumulator.EndMeters(written.TimeStampRelativeMSec / 1000);
        return null;
    }
}

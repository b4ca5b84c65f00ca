using System.Globalization;
using Microsoft.Diagnostics.Tracing;

namespace Tidepool.Advice;

/// <summary>Reads payloads of events by name; a value that is not there is a default, as in a version that does not write it.</summary>
internal static class EventValues
{
    public static string Text(TraceEvent written, string name) => written.PayloadByName(name)?.ToString() ?? "";

    public static long Number(TraceEvent written, string name, long otherwise = 0) =>
        written.PayloadByName(name) is IConvertible value ? Convert.ToInt64(value, CultureInfo.InvariantCulture) : otherwise;

    /// <summary>A number that the event carries as text, with a point.</summary>
    public static double? Decimal(TraceEvent written, string name) =>
        double.TryParse(Text(written, name), NumberStyles.Float, CultureInfo.InvariantCulture, out double value) ? value : null;
}

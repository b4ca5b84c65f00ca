using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

namespace Tidepool.Advice;

/// <summary>Reads how long collections held a process up.</summary>
internal static class PauseEvents
{
    /// <summary>Listens to a source.</summary>
    /// <param name="source">A source of the runtime's events, in their order.</param>
    /// <param name="add">Gets the milliseconds of each pause.</param>
    public static void Listen(TraceEventDispatcher source, Action<double> add)
    {
        double suspendedAt = double.NaN;
        source.Clr.GCSuspendEEStart += written =>
            suspendedAt = written.Reason is GCSuspendEEReason.SuspendForGC or GCSuspendEEReason.SuspendForGCPrep
                ? written.TimeStampRelativeMSec
                : double.NaN;
        source.Clr.GCRestartEEStop += written =>
        {
            if (!double.IsNaN(suspendedAt))
            {
                add(written.TimeStampRelativeMSec - suspendedAt);
                suspendedAt = double.NaN;
            }
        };
    }
}

using System.Runtime;

namespace Tidepool.Labs;

/// <summary>Counts what comes to lie on the large object heap.</summary>
internal static class LargeObjects
{
    /// <summary>
    /// Bytes that an action allocates there: the heap before the next collection, less what was there after the last one.
    /// </summary>
    /// <remarks>
    /// Collections of generation 2 are held back meanwhile; one that happens all the same makes the number too low, never too high.
    /// </remarks>
    public static long AllocatedBy(Action act)
    {
        var mode = GCSettings.LatencyMode;
        GC.Collect();
        long before = GC.GetGCMemoryInfo(GCKind.FullBlocking).GenerationInfo[3].SizeAfterBytes;
        GCSettings.LatencyMode = GCLatencyMode.LowLatency;
        try
        {
            act();
        }
        finally
        {
            GCSettings.LatencyMode = mode;
        }

        GC.Collect();
        return Math.Max(0, GC.GetGCMemoryInfo(GCKind.FullBlocking).GenerationInfo[3].SizeBeforeBytes - before);
    }
}

namespace Tidepool;

/// <summary>
/// Reports to the garbage collector how much native memory lives and dies with managed objects, so that dropped leases are collected in
/// time. It reports in steps of 1 MiB: new slabs and large blocks change a counter, and few of them lead to a call. Rentals never come
/// here.
/// </summary>
internal static class NativePressure
{
    internal const long Step = 1 << 20;

    private static readonly Lock Gate = new();
    private static long s_live;
    private static long s_reported;
    private static long s_calls;

    /// <summary>The bytes of slabs and large blocks.</summary>
    internal static long Live => Volatile.Read(ref s_live);

    /// <summary>What was reported to the collector, in bytes.</summary>
    internal static long Reported => Volatile.Read(ref s_reported);

    /// <summary>How often something was reported to the collector.</summary>
    internal static long Calls => Volatile.Read(ref s_calls);

    internal static void Add(long bytes)
    {
        if (Interlocked.Add(ref s_live, bytes) > Reported)
        {
            Report();
        }
    }

    internal static void Remove(long bytes)
    {
        // A whole step of slack, so that a slab that comes and goes at the edge costs no call each time.
        if (Interlocked.Add(ref s_live, -bytes) < Reported - (2 * Step))
        {
            Report();
        }
    }

    private static void Report()
    {
        lock (Gate)
        {
            long wanted = (Live + Step - 1) / Step * Step;
            long more = wanted - s_reported;
            if (more > 0)
            {
                GC.AddMemoryPressure(more);
            }
            else if (more < 0)
            {
                GC.RemoveMemoryPressure(-more);
            }
            else
            {
                return;
            }

            Volatile.Write(ref s_reported, wanted);
            s_calls++;
        }
    }
}

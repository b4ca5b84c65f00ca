namespace Tidepool;

/// <summary>What a process does about freed memory that no collection takes, because the process is idle.</summary>
internal enum IdleCollectionMode
{
    /// <summary>Nothing, which is the default.</summary>
    Off,

    /// <summary>Asks for a full collection in the background.</summary>
    Background,

    /// <summary>Makes a full collection that gives as much as it can back to the system.</summary>
    Aggressive,
}

/// <summary>Decides when an idle process should collect what its pools have given up.</summary>
/// <remarks>
/// Trimming drops references; the memory goes when the garbage collector runs, and an idle program does not make it run. The decision
/// is a function of what it is told, so that tests need no real time. Not thread-safe: the trimmer asks under its gate.
/// </remarks>
internal sealed class IdleCollection
{
    /// <summary>How much must have been given up since the last full collection, in bytes.</summary>
    internal const long LeastBytes = 64L << 20;

    /// <summary>An epoch that gives up this much is followed by more: a collection now would miss what comes.</summary>
    internal const long StillGiving = LeastBytes / 4;

    /// <summary>How long the process must have been idle, in milliseconds.</summary>
    internal const long Quiet = 30_000;

    /// <summary>The least time between two collections, in milliseconds.</summary>
    internal const long Interval = 600_000;

    /// <summary>What an idle process uses at most, as a part of one processor.</summary>
    internal const double MostUse = 0.05;

    internal const string Variable = "TIDEPOOL_COLLECT_WHEN_IDLE";
    internal const string Property = "Tidepool.CollectWhenIdle";

    private long _given;
    private int _fullCollections;
    private long _quietSince;
    private long _lookedAt = long.MinValue;
    private TimeSpan _processor;
    private long? _collectedAt;

    /// <summary>The mode of the process: the environment variable, else the property of the runtime's configuration.</summary>
    internal static IdleCollectionMode Mode => OfProcess.Mode;

    /// <summary>Whether enough was given up, so that the clock must go on.</summary>
    internal bool IsPending => _given >= LeastBytes;

    /// <summary>Reads a value; one that is not understood means off.</summary>
    internal static IdleCollectionMode Parse(string? text) => (IdleCollectionMode)ProcessSetting.Choose(
        text, $"{Property} or {Variable} = ", " is not off, background or aggressive; using off.", "off", "background", "aggressive");

    /// <summary>Collects as the mode says.</summary>
    internal static void Collect(IdleCollectionMode mode)
    {
#pragma warning disable RS0030 // the one collection that the program itself has asked for
        if (mode == IdleCollectionMode.Background)
        {
            GC.Collect(2, GCCollectionMode.Forced, blocking: false);
        }
        else
        {
            GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        }
#pragma warning restore RS0030
    }

    /// <summary>Whether to collect now. Called once an epoch.</summary>
    /// <param name="given">Bytes of the managed heap that were given up since the last call.</param>
    /// <param name="fullCollections">Full collections of the process so far.</param>
    /// <param name="processor">Processor time of the process so far.</param>
    /// <param name="now">The time in milliseconds.</param>
    internal bool IsDue(long given, int fullCollections, TimeSpan processor, long now)
    {
        if (fullCollections != _fullCollections)
        {
            (_fullCollections, _given) = (fullCollections, 0); // what was given up before it is gone
        }

        _given += given;
        if (IsBusy(processor, now))
        {
            _quietSince = now;
        }

        (_lookedAt, _processor) = (now, processor);
        if (_given < LeastBytes || given >= StillGiving || now - _quietSince < Quiet || now - _collectedAt < Interval)
        {
            return false;
        }

        (_given, _collectedAt) = (0, now);
        return true;
    }

    /// <summary>After a long time without a look nothing is known of the last seconds.</summary>
    private bool IsBusy(TimeSpan processor, long now) =>
        _lookedAt == long.MinValue || now - _lookedAt > Quiet || (processor - _processor).TotalMilliseconds >= MostUse * (now - _lookedAt);

    /// <summary>Read when it is first needed.</summary>
    private static class OfProcess
    {
        internal static readonly IdleCollectionMode Mode =
            Parse(Environment.GetEnvironmentVariable(Variable) ?? AppContext.GetData(Property) as string);
    }
}

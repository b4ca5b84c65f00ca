namespace Tidepool;

/// <summary>
/// What the native library of this process holds, in bytes unless said otherwise. Exact while no other thread allocates, else a close
/// estimate.
/// </summary>
public readonly record struct NativeStatistics
{
    internal unsafe NativeStatistics(in tp_statistics from)
    {
        LiveBytes = (long)from.live_bytes;
        CachedBytes = (long)from.cached_bytes;
        RetainedBytes = (long)from.retained_bytes;
        CommittedBytes = (long)from.committed_bytes;
        PeakCommittedBytes = (long)from.peak_committed_bytes;
        ReservedBytes = (long)from.reserved_bytes;
        MetadataBytes = (long)from.metadata_bytes;
        PurgedBytes = (long)from.purged_bytes;
        SystemCalls = (long)from.os_calls;
        Threads = (long)from.threads;
    }

    /// <summary>Blocks in use: slabs and large buffers of .NET pools, idle ones included, and whatever native code allocated.</summary>
    public long LiveBytes { get; }

    /// <summary>Free blocks in the caches of threads and in pages that are partly used.</summary>
    public long CachedBytes { get; }

    /// <summary>Whole free pages that are still backed by memory; <see cref="TidepoolNative.Trim"/> gives them back.</summary>
    public long RetainedBytes { get; }

    /// <summary>Live, cached, retained and never used parts of pages: at most this much is resident.</summary>
    public long CommittedBytes { get; }

    /// <summary>The most that was ever committed.</summary>
    public long PeakCommittedBytes { get; }

    /// <summary>Address space; costs no memory.</summary>
    public long ReservedBytes { get; }

    /// <summary>The library's own tables.</summary>
    public long MetadataBytes { get; }

    /// <summary>What was given back to the system so far.</summary>
    public long PurgedBytes { get; }

    /// <summary>Calls of the system's memory functions so far, a count.</summary>
    public long SystemCalls { get; }

    /// <summary>Threads with a heap of their own, a count.</summary>
    public long Threads { get; }
}

using System.Numerics;

namespace Tidepool;

/// <summary>The idle cores of all streams of the process.</summary>
internal sealed class StreamPool : InternalObjectPool<StreamCore>
{
    internal const int LeakSampling = 64;

    private const int CoreBytes = StreamCore.AttachedLength + 512; // the attached segment and the objects of a core

    private int _created;

    private StreamPool()
        : base(nameof(PooledMemoryStream), CoreBytes, isSlow: ProcessChecks.Mode == PoolChecks.Full) =>
        Spares = new SpareSegments(TryCharge, Refund);

    internal static StreamPool Instance { get; } = new();

    /// <summary>What long streams leave for the next one.</summary>
    internal SpareSegments Spares { get; }

    private protected override PoolKind Kind => PoolKind.Streams;

    /// <summary>Whether every stream is watched, not a sample.</summary>
    internal static bool WatchesAll => ProcessChecks.Mode == PoolChecks.Full;

    /// <summary>Notes that a watched stream was made, and where.</summary>
    /// <remarks>
    /// A core that leaks is not used again, so watching one new core in some watches that share of all leaks. Taking the stack costs many
    /// times what a stream does, so a core that goes on being used has it taken ever more rarely; a stream without it is reported without
    /// it.
    /// </remarks>
    internal static void BeginWatch(StreamCore core) =>
        core.Watch!.TryBegin(WatchesAll || BitOperations.IsPow2(++core.WatchedRentals) ? CallerStack.Capture() : null);

    internal static void EndWatch(StreamCore core) => core.Watch!.TryEnd(CallerStack.Capture);

    /// <summary>Answers the use of a lease that has ended: a use always throws, a return with checks on, a disposal never.</summary>
    internal void OnRetired(StreamCore core, MisuseKind kind) =>
        OnRetired(kind, core.IsLeasedOut, core, static core => new(nameof(StreamLease), core.Watch?.Where()));

    protected override StreamCore Make()
    {
        bool watched = WatchesAll || Interlocked.Increment(ref _created) % LeakSampling == 0;
        return new StreamCore(watched ? new RentalRecord(this, null, CoreBytes, "A PooledMemoryStream") : null);
    }

    internal override void EndRest() => Spares?.Trim(); // an epoch may come before the constructor ends

    protected override void OnEvicted(StreamCore item) => item.Watch?.StopWatching();
}

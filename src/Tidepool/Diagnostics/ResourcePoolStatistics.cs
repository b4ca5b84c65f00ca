using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>What a resource pool holds and has done: one consistent moment, so that the identities below hold in every snapshot.</summary>
/// <remarks><see cref="Total"/> = <see cref="Idle"/> + <see cref="Leased"/> + <see cref="Checking"/> = created - destroyed - detached, and
/// <see cref="Total"/> + <see cref="Creating"/> + <see cref="Destroying"/> is at most <see cref="MaxSize"/>, except after the pool was
/// made smaller.</remarks>
public readonly record struct ResourcePoolStatistics
{
    /// <summary>Resources that live and count: idle, leased and being checked.</summary>
    public int Total => Idle + Leased + Checking;

    /// <summary>Resources that wait for a renter.</summary>
    public int Idle { get; init; }

    /// <summary>Resources that renters hold.</summary>
    public int Leased { get; init; }

    /// <summary>Resources that are validated, reset or kept alive at this moment.</summary>
    public int Checking { get; init; }

    /// <summary>Creations under way.</summary>
    public int Creating { get; init; }

    /// <summary>Destructions under way; their places are not free yet.</summary>
    public int Destroying { get; init; }

    /// <summary>Rentals that wait in the queue.</summary>
    public int Waiting { get; init; }

    /// <summary>The smallest size that the pool keeps.</summary>
    public int MinSize { get; init; }

    /// <summary>The largest size.</summary>
    public int MaxSize { get; init; }

    /// <summary>Rentals that got a resource.</summary>
    public long Rented { get; init; }

    /// <summary>Leases that ended: returned, detached or reclaimed.</summary>
    public long Returned { get; init; }

    /// <summary>For how long leases were held, all together; of those that have ended.</summary>
    /// <remarks>
    /// The differences of two snapshots say how long a lease is held on average: <see cref="PoolLoad.Between"/>. A single time is noted to
    /// a millisecond, which evens out over many.
    /// </remarks>
    public TimeSpan HeldTime { get; init; }

    /// <summary>Rentals that got a resource after they had waited in the queue.</summary>
    public long Waited { get; init; }

    /// <summary>For how long those waited, all together.</summary>
    public TimeSpan WaitTime { get; init; }

    /// <summary>Resources created.</summary>
    public long Created { get; init; }

    /// <summary>Resources that the pool ended, for any reason.</summary>
    public long Destroyed => Destructions.Sum();

    /// <summary>Resources that renters took out of the pool.</summary>
    public long Detached { get; init; }

    /// <summary>Creations that failed or took too long.</summary>
    public long CreateFailures { get; init; }

    /// <summary>Destructions that threw; the exceptions went to the event source.</summary>
    public long DestroyFailures { get; init; }

    /// <summary>Rentals that timed out.</summary>
    public long TimedOut { get; init; }

    /// <summary>Rentals that their callers cancelled while they waited.</summary>
    public long Cancelled { get; init; }

    /// <summary>Rentals that were refused because the queue was full.</summary>
    public long Rejected { get; init; }

    /// <summary>Rentals that were told that a creation failed.</summary>
    public long Failed { get; init; }

    /// <summary>Leases that were out for longer than the leak threshold; each is counted once.</summary>
    public long Overdue { get; init; }

    /// <summary>Leases that were dropped and whose place the garbage collector's finding freed.</summary>
    public long Reclaimed { get; init; }

    /// <summary>Disposals of leases that were over: harmless, and a hint at code that disposes twice.</summary>
    public long StaleDisposes { get; init; }

    /// <summary>Why the last creation failed; null when it succeeded, or the pool was cleared since.</summary>
    public Exception? LastCreateError { get; init; }

    internal DestroyCounts Destructions { get; init; }

    /// <summary>How many resources the pool ended for one reason.</summary>
    /// <param name="reason">The reason.</param>
    public long GetDestroyed(DestroyReason reason) => Destructions[(int)reason];

    /// <summary>Adds up the pools of several keys, sizes included.</summary>
    internal static ResourcePoolStatistics Add(ResourcePoolStatistics a, ResourcePoolStatistics b) => new()
    {
        Idle = a.Idle + b.Idle,
        Leased = a.Leased + b.Leased,
        Checking = a.Checking + b.Checking,
        Creating = a.Creating + b.Creating,
        Destroying = a.Destroying + b.Destroying,
        Waiting = a.Waiting + b.Waiting,
        MinSize = a.MinSize + b.MinSize,
        MaxSize = (int)Math.Min((long)a.MaxSize + b.MaxSize, int.MaxValue),
        Rented = a.Rented + b.Rented,
        Returned = a.Returned + b.Returned,
        HeldTime = a.HeldTime + b.HeldTime,
        Waited = a.Waited + b.Waited,
        WaitTime = a.WaitTime + b.WaitTime,
        Created = a.Created + b.Created,
        Detached = a.Detached + b.Detached,
        CreateFailures = a.CreateFailures + b.CreateFailures,
        DestroyFailures = a.DestroyFailures + b.DestroyFailures,
        TimedOut = a.TimedOut + b.TimedOut,
        Cancelled = a.Cancelled + b.Cancelled,
        Rejected = a.Rejected + b.Rejected,
        Failed = a.Failed + b.Failed,
        Overdue = a.Overdue + b.Overdue,
        Reclaimed = a.Reclaimed + b.Reclaimed,
        StaleDisposes = a.StaleDisposes + b.StaleDisposes,
        LastCreateError = a.LastCreateError ?? b.LastCreateError,
        Destructions = a.Destructions.Plus(b.Destructions),
    };
}

/// <summary>One counter per <see cref="DestroyReason"/>; a value, so that statistics are a snapshot.</summary>
[InlineArray(Reasons)]
internal struct DestroyCounts : IEquatable<DestroyCounts>
{
    internal const int Reasons = (int)DestroyReason.Shutdown + 1;

    private long _first;

    public readonly bool Equals(DestroyCounts other) => ((ReadOnlySpan<long>)this).SequenceEqual(other);

    public override readonly bool Equals(object? obj) => obj is DestroyCounts other && Equals(other);

    public override readonly int GetHashCode() => Sum().GetHashCode();

    internal readonly DestroyCounts Plus(DestroyCounts other)
    {
        DestroyCounts sum = this;
        for (int reason = 0; reason < Reasons; reason++)
        {
            sum[reason] += other[reason];
        }

        return sum;
    }

    internal readonly long Sum()
    {
        long sum = 0;
        foreach (long count in (ReadOnlySpan<long>)this)
        {
            sum += count;
        }

        return sum;
    }
}

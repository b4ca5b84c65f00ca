using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The record of one place in a pool. <see cref="Version"/> is odd while the resource is leased, and each rental has its own odd number:
/// the ticket of its lease. The one swap to the next even number returns the lease. All other fields are written under the pool's gate,
/// or by the one thread that works on the slot.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "The token source has neither a timer nor a wait handle.")]
internal sealed class ResourceSlot<T> : LeaseOwner<T>
    where T : class
{
    internal readonly ResourceCore<T> Core;
    internal long Version;
    internal T? Resource;
    internal SlotState State;
    internal SlotWork Work;
    internal DestroyReason Reason;
    internal int Index;
    internal int Generation;

    /// <summary>Failed creations before this one, for <see cref="Backoff"/>.</summary>
    internal int Attempt;
    internal long Id;
    internal long Uses;

    /// <summary>Rentals from the hot slot, counted by the thread that took it.</summary>
    internal long HotUses;

    /// <summary>For how long it was held by renters who returned it to the hot slot, counted by the thread that returns.</summary>
    internal long HeldFor;
    internal DateTimeOffset CreatedAt;

    /// <summary>Until when the resource may be handed out without a look at it.</summary>
    internal long FreshUntil;
    internal long ExpiresAt;
    internal long LastUsed;

    /// <summary>When it was last known to work.</summary>
    internal long CheckedAt;
    internal long KeptAlive;
    internal long LeasedAt;

    /// <summary>When its renter got it, where times of use are measured; otherwise 0.</summary>
    internal long RentedTicks;
    internal long DueAt;

    /// <summary>A late timer found its operation overdue, which may take a little longer.</summary>
    internal bool HasGrace;

    /// <summary>It must be reset before the next renter has it.</summary>
    internal bool IsDirty;

    /// <summary>Its renter said that it is broken.</summary>
    internal bool IsMarked;
    internal bool IsReported;

    /// <summary>Its last reset is done only with its next use, or when it is kept alive, which is soon.</summary>
    internal bool HasResetPending;

    /// <summary>A renter's own thread does the work, so no other renter is served by it.</summary>
    internal bool IsByRenter;

    /// <summary>Its work waits for a thread to begin with it, in the list of its kind.</summary>
    internal bool IsUnbegun;

    /// <summary>Only the thread pool can do its work: the policy has no synchronous way.</summary>
    internal bool IsForPool;

    /// <summary>The key that gets this place when it comes free; null for its own.</summary>
    internal PoolState<T>? StolenBy;
    internal Clearing? Clearing;
    internal StackTrace? Site;

    /// <summary>The span of the rental that its next work is for; null for none.</summary>
    internal Activity? Asker;

    internal Links<ResourceSlot<T>> Links;

    /// <summary>Its neighbours in a list over all keys.</summary>
    internal Links<ResourceSlot<T>> SharedLinks;
    internal ResourceSlot<T>? NextCheck;

    private const int InCall = 1;
    private const int StopsAfterCall = 2;

    private readonly CancellationTokenSource _stop = new();
    private int _call;

    internal ResourceSlot(ResourceCore<T> core)
        : base(null)
    {
        Core = core;

        // At random, so that the ticket of another slot, in a lease that was torn, is no ticket of this one.
        Version = Random.Shared.NextInt64() & ~1L;
    }

    /// <summary>Cancelled when the slot is abandoned, or the pool shut down.</summary>
    internal CancellationToken Stopping => _stop.Token;

    internal bool IsStopped => _stop.IsCancellationRequested;

    /// <summary>Whether the rental of this ticket is still out.</summary>
    internal bool Is(long ticket) => Volatile.Read(ref Version) == ticket;

    /// <summary>Ends the rental of this ticket; of several callers one gets true.</summary>
    internal bool TryRetire(long ticket) => Interlocked.CompareExchange(ref Version, ticket + 1, ticket) == ticket;

    /// <summary>
    /// Cancels the token, not under the gate. Whatever waits for it is called on the thread pool: a provider may ask its server over the
    /// network to stop, and wait for the answer, which must hold up neither the caller of a shutdown nor the pool's timer.
    /// </summary>
    /// <remarks>
    /// A token that is cancelled already calls back at once whatever registers with it, on that thread, which may be the renter's: so this
    /// waits until a call of the policy has given its task.
    /// </remarks>
    internal void Stop()
    {
        if (Interlocked.CompareExchange(ref _call, StopsAfterCall, InCall) != InCall)
        {
            _ = StopAsync();
        }
    }

    /// <summary>Cancels the token at once, also within a call of the policy.</summary>
    /// <remarks>The operation took too long, and one that has not given its task yet may wait for nothing but its token.</remarks>
    internal void StopNow() => _ = StopAsync();

    /// <summary>The policy is called to look at the resource, perhaps on a renter's thread.</summary>
    internal void BeginCall() => Interlocked.Exchange(ref _call, InCall);

    /// <summary>It has given its task, or thrown.</summary>
    internal void EndCall()
    {
        if (Interlocked.Exchange(ref _call, 0) == StopsAfterCall)
        {
            _ = StopAsync();
        }
    }

    private async Task StopAsync()
    {
        try
        {
            if (Core.Runner.IsInline)
            {
                _stop.Cancel();
            }
            else
            {
                await _stop.CancelAsync().ConfigureAwait(false);
            }
        }
        catch (AggregateException)
        {
            // A callback of the policy threw; the slot is given up either way.
        }
    }

    /// <summary>Whether the parts agree. Under the gate.</summary>
    internal bool IsValid() => State switch
    {
        SlotState.Free => Resource is null && (Version & 1) == 0,
        SlotState.Creating => (Version & 1) == 0,
        SlotState.Idle => Resource is not null && (Version & 1) == 0,
        SlotState.Checking or SlotState.Destroying => Resource is not null && (Version & 1) == 0,
        SlotState.Leased => Resource is not null,
        _ => true,
    };
}

/// <summary>Links slots of one pool.</summary>
internal readonly struct SlotLinks<T> : ILinks<ResourceSlot<T>>
    where T : class
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ref Links<ResourceSlot<T>> Of(ResourceSlot<T> slot) => ref slot.Links;
}

/// <summary>Links slots of all keys.</summary>
internal readonly struct SharedSlotLinks<T> : ILinks<ResourceSlot<T>>
    where T : class
{
    public static ref Links<ResourceSlot<T>> Of(ResourceSlot<T> slot) => ref slot.SharedLinks;
}

/// <summary>
/// Where the resource of a slot is. Changes only under the pool's gate; docs/design/resources.md has the table of changes.
/// </summary>
internal enum SlotState
{
    /// <summary>The slot has no resource and takes no place.</summary>
    Free,

    /// <summary>A resource is being made; the place is taken.</summary>
    Creating,

    /// <summary>The policy validates, resets or keeps alive; no renter may have the resource.</summary>
    Checking,

    /// <summary>In the list of idle resources.</summary>
    Idle,

    /// <summary>A renter has it, or its return is at work on it.</summary>
    Leased,

    /// <summary>The policy ends it; the place is still taken.</summary>
    Destroying,

    /// <summary>Its operation took too long: the place was given up, and the slot is not used again.</summary>
    Abandoned,
}

/// <summary>What the policy is to do with the resource of a slot.</summary>
internal enum SlotWork
{
    /// <summary>Make one.</summary>
    Create,

    /// <summary>Validate, and reset where that is due on rent; then serve the first in the queue.</summary>
    Check,

    /// <summary>Reset after a return, on a thread that waits for it.</summary>
    Reset,

    /// <summary>Keep alive.</summary>
    KeepAlive,

    /// <summary>End it.</summary>
    Destroy,
}

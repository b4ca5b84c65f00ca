using System.Diagnostics;
using System.Threading.Tasks.Sources;

namespace Tidepool;

/// <summary>Where a waiting rental is. Changes only under the pool's gate.</summary>
internal enum WaiterState
{
    /// <summary>Not in use.</summary>
    None,

    /// <summary>In the queue.</summary>
    Queued,

    /// <summary>Its own thread creates or checks the resource of its slot; it is not in the queue meanwhile.</summary>
    Working,

    /// <summary>It has the resource of its slot.</summary>
    Assigned,

    /// <summary>It will not get one.</summary>
    Failed,
}

/// <summary>Why a rental gets no resource.</summary>
internal enum WaiterFailure
{
    TimedOut,
    Cancelled,
    CreateFailed,
    Shutdown,

    /// <summary>Too many wait.</summary>
    Rejected,
}

/// <summary>What a renter asks for that may have to wait.</summary>
/// <param name="Timeout">How long it waits, in milliseconds.</param>
/// <param name="IsSync">Its thread parks.</param>
/// <param name="Site">Where it rents, if that is recorded.</param>
/// <param name="QueuedTicks">When it began to wait, where that is measured; otherwise 0.</param>
/// <param name="Span">The span of its wait, or null.</param>
/// <param name="Cancellation">Ends the wait.</param>
internal readonly record struct RentalRequest(
    long Timeout, bool IsSync, StackTrace? Site, long QueuedTicks, Activity? Span, CancellationToken Cancellation);

/// <summary>
/// One waiting rental, of an awaiting caller or of a parked thread: both stand in one queue. The state is decided under the gate, once; the
/// caller is told after the gate was left. A node is used again only when no late cancellation can reach it.
/// </summary>
internal sealed class Waiter<T> : IValueTaskSource<ResourceLease<T>>
    where T : class
{
    internal readonly ResourceCore<T> Core;
    internal Links<Waiter<T>> Links;
    internal Waiter<T>? NextDone;
    internal WaiterState State;
    internal WaiterFailure Failure;
    internal Exception? Cause;
    internal PoolReport? Report;
    internal bool IsSync;
    internal long Sequence;
    internal long Deadline;
    internal long Timeout;
    internal long QueuedAt;
    internal long QueuedTicks;
    internal ResourceSlot<T>? Slot;
    internal long Ticket;
    internal CancellationToken Cancellation;
    internal StackTrace? Site;

    /// <summary>The span of the wait; null where no listener wants it.</summary>
    internal Activity? Span;

    private readonly object _parking = new();
    private ManualResetValueTaskSourceCore<ResourceLease<T>> _source = new() { RunContinuationsAsynchronously = true };
    private CancellationTokenRegistration _registration;
    private bool _isSignaled;

    internal Waiter(ResourceCore<T> core) => Core = core;

    internal short Token => _source.Version;

    /// <summary>Begins a rental, which stands in no queue yet.</summary>
    internal void Begin(in RentalRequest rental, long deadline, long sequence)
    {
        (Timeout, IsSync, Site, Span) = (rental.Timeout, rental.IsSync, rental.Site, rental.Span);
        (Cancellation, QueuedTicks) = (rental.Cancellation, rental.QueuedTicks);
        (Deadline, Sequence) = (deadline, sequence);
    }

    /// <summary>Listens to the caller's token; not under the gate, because a cancelled token calls back at once.</summary>
    internal void Register()
    {
        if (Cancellation.CanBeCanceled)
        {
            _registration = Cancellation.UnsafeRegister(static state => ((Waiter<T>)state!).Core.Cancel((Waiter<T>)state), this);
        }
    }

    /// <summary>Tells the caller how it ended. Not under the gate.</summary>
    /// <returns>False when the caller's synchronization context takes nothing more: its own affair, not that of this thread.</returns>
    internal bool TryComplete(in ResourceLease<T> lease, Exception? failure)
    {
        if (IsSync)
        {
            Signal();
            return true;
        }

        try
        {
            if (failure is null)
            {
                _source.SetResult(lease);
            }
            else
            {
                _source.SetException(failure);
            }

            return true;
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("SynchronizationContext.Post", e, Core.Name, Core.Key);
            return false;
        }
    }

    /// <summary>Wakes the parked thread.</summary>
    internal void Signal()
    {
        lock (_parking)
        {
            _isSignaled = true;
            Monitor.Pulse(_parking);
        }
    }

    /// <summary>Parks the calling thread until it is signaled, or for so many milliseconds.</summary>
    /// <returns>Whether it was signaled.</returns>
    internal bool Park(long milliseconds)
    {
#if TIDEPOOL_MODEL
        if (Schedule.Hook is not null)
        {
            while (!Volatile.Read(ref _isSignaled))
            {
                Schedule.Point("spin");
            }

            _isSignaled = false;
            return true;
        }
#endif
        lock (_parking)
        {
            if (!_isSignaled)
            {
                int wait = milliseconds == ResourceSettings.NoLimit
                    ? System.Threading.Timeout.Infinite
                    : (int)Math.Clamp(milliseconds, 0, int.MaxValue);
                Monitor.Wait(_parking, wait);
            }

            bool wasSignaled = _isSignaled;
            _isSignaled = false;
            return wasSignaled;
        }
    }

    /// <summary>Ends the listening and forgets everything.</summary>
    /// <returns>Whether the node may serve again: no cancellation is on its way to it.</returns>
    internal bool TryReset()
    {
        bool isFree = !Cancellation.CanBeCanceled || _registration.Unregister();
        _registration = default;
        Cancellation = default;
        Slot = null;
        Cause = null;
        Report = null;
        Site = null;
        Span = null;
        _isSignaled = false;
        State = WaiterState.None;
        _source.Reset();
        return isFree;
    }

    ResourceLease<T> IValueTaskSource<ResourceLease<T>>.GetResult(short token)
    {
        // A caller that asks too early, or a second time, must not give the node to others.
        if (_source.GetStatus(token) == ValueTaskSourceStatus.Pending)
        {
            throw new InvalidOperationException("The rental still waits. Await it once; Rent is the one for synchronous code.");
        }

        try
        {
            return _source.GetResult(token);
        }
        finally
        {
            Core.State.Recycle(this);
        }
    }

    ValueTaskSourceStatus IValueTaskSource<ResourceLease<T>>.GetStatus(short token) => _source.GetStatus(token);

    void IValueTaskSource<ResourceLease<T>>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
    {
#if TIDEPOOL_MODEL
        if (Schedule.Later is { } later)
        {
            _source.RunContinuationsAsynchronously = false;
            _source.OnCompleted(_ => later(() => continuation(state)), null, token, flags);
            return;
        }
#endif
        _source.OnCompleted(continuation, state, token, flags);
    }
}

/// <summary>Links waiting rentals of one pool.</summary>
internal readonly struct WaiterLinks<T> : ILinks<Waiter<T>>
    where T : class
{
    public static ref Links<Waiter<T>> Of(Waiter<T> waiter) => ref waiter.Links;
}

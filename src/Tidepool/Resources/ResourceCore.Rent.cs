using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Renting: an idle resource at once, or a place in the queue.</summary>
internal sealed partial class ResourceCore<T>
{
    /// <summary>Leases the resource that was returned last to the caller; its ticket is the slot's version.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ResourceSlot<T>? TakeHot()
    {
        Schedule.Point("hot: look");
        return _hot.IsReady ? TakeOpenHot() : null;
    }

    private ResourceSlot<T>? TakeOpenHot()
    {
        long now = Now;
        Schedule.Point("hot: take");
        ResourceSlot<T>? slot = _hot.Take();
        if (slot is null)
        {
            return null;
        }

        if (now - slot.LastUsed >= _freshFor || now >= slot.ExpiresAt || slot.Generation != State.Generation)
        {
            MoveFromHot(slot);
            return null;
        }

        slot.Uses++;
        slot.HotUses++;
        slot.LeasedAt = now;
        if (_meter.MeasuresUse)
        {
            BeginUse(slot);
        }

        Volatile.Write(ref slot.Version, slot.Version + 1);
        return _looksForBroken ? KeepUnlessBroken(slot) : slot;
    }

    /// <summary>Notes when the use began; a method of its own, so that a rental that is not measured stays small.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void BeginUse(ResourceSlot<T> slot) => slot.RentedTicks = Stopwatch.GetTimestamp();

    /// <summary>Takes back what is found broken when it was leased from the hot slot: no renter has seen it.</summary>
    /// <returns>The slot, or null where it was taken back.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ResourceSlot<T>? KeepUnlessBroken(ResourceSlot<T> slot)
    {
        if (!IsBroken(slot.Resource!))
        {
            return slot;
        }

        slot.HotUses--;
        slot.TryRetire(slot.Version);
        CompleteReturnSlow(slot, DestroyReason.Broken);
        return null;
    }

    /// <summary>Rents for a caller that awaits.</summary>
    /// <returns>False when a keyed pool has forgotten this key in the meantime.</returns>
    internal bool TryRentAsync(long timeout, CancellationToken cancellation, out ValueTask<ResourceLease<T>> result)
    {
        if (cancellation.IsCancellationRequested)
        {
            LeaveIfUnused();
            result = ValueTask.FromCanceled<ResourceLease<T>>(cancellation);
            return true;
        }

        StackTrace? site = CaptureSite();
        if (TryTakeIdle(timeout, site, out ResourceLease<T> lease))
        {
            result = new ValueTask<ResourceLease<T>>(lease);
            return true;
        }

        Waiter<T>? waiter = Queue(timeout, site, isSync: false, out Exception? refusal, cancellation);
        if (waiter is null)
        {
            result = refusal is null ? default : ValueTask.FromException<ResourceLease<T>>(refusal);
            return refusal is not null;
        }

        waiter.Register();
        result = new ValueTask<ResourceLease<T>>(waiter, waiter.Token);
        return true;
    }

    /// <summary>Rents for a caller whose thread is parked until it has its turn.</summary>
    /// <returns>False when a keyed pool has forgotten this key in the meantime.</returns>
    internal bool TryRent(long timeout, CancellationToken cancellation, out ResourceLease<T> lease)
    {
        if (cancellation.IsCancellationRequested)
        {
            LeaveIfUnused();
            throw new OperationCanceledException(cancellation);
        }

        NoteParked();

        StackTrace? site = CaptureSite();
        if (TryTakeIdle(timeout, site, out lease))
        {
            return true;
        }

        Waiter<T>? waiter = Queue(timeout, site, isSync: true, out Exception? refusal, cancellation);
        if (waiter is null)
        {
            return refusal is null ? false : throw refusal;
        }

        waiter.Register();
        lease = new ParkedRenter<T>(this, waiter).Await();
        return true;
    }

    /// <summary>Rents an idle resource, if there is one and the queue is empty; never waits and never creates.</summary>
    internal bool TryRentIdle(out ResourceLease<T> lease)
    {
        if (TryTakeIdle(CaptureSite(), out lease))
        {
            return true;
        }

        if (State.IsClosed)
        {
            using PoolSection<T> section = Gate.Enter();
            State.ThrowIfClosed(section);
        }

        return false;
    }

    /// <summary>Gives the caller its lease or its exception; the gate was left.</summary>
    internal void Notify(Waiter<T> waiter)
    {
        if (waiter.State == WaiterState.Working)
        {
            waiter.Signal();
            return;
        }

        _meter.Waited(Series, waiter.QueuedTicks);
        if (waiter.State == WaiterState.Assigned)
        {
            PoolSpan.End(waiter.Span, null);
            ResourceLease<T> lease = waiter.IsSync ? default : NewLease(waiter.Slot!, waiter.Ticket);
            if (!waiter.TryComplete(lease, null))
            {
                ThreadPool.UnsafeQueueUserWorkItem(static lost => lost.Dispose(), lease, preferLocal: false);
            }

            return;
        }

        waiter.Cause = waiter.Failure switch
        {
            WaiterFailure.Cancelled =>
                new OperationCanceledException("The rental was cancelled by its caller's token.", waiter.Cancellation),
            WaiterFailure.CreateFailed when waiter is { IsSync: true, Cause: NotSupportedException unsupported } => unsupported,
            WaiterFailure.CreateFailed => new ResourceCreateException(waiter.Report!, waiter.Cause!),
            _ => Refuse(waiter.Failure, waiter.Report!, waiter.Timeout),
        };
        PoolSpan.End(waiter.Span, waiter.Cause.GetType().FullName);
        waiter.TryComplete(default, waiter.Cause);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ResourceLease<T> NewLease(ResourceSlot<T> slot, long ticket) => new(
        _settings.ReclaimLeaks ? new LeaseSentinel<T>(slot, ticket) : slot,
        ticket);

    /// <summary>A caller's token was cancelled.</summary>
    internal void Cancel(Waiter<T> waiter)
    {
        using PoolSection<T> section = Gate.Enter("cancel");
        State.TryLeave(waiter, WaiterFailure.Cancelled, section);
    }

    /// <summary>Whether the policy calls the resource broken; an exception says yes.</summary>
    internal bool IsBroken(T resource)
    {
        if (!_looksForBroken)
        {
            return false;
        }

        try
        {
            return Policy.IsBroken(resource);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("IsBroken", e, Name, Key);
            return true;
        }
    }

    /// <summary>An idle resource without a wait; a rental that may wait has only those checked in its turn that need it.</summary>
    private bool TryTakeIdle(long timeout, StackTrace? site, out ResourceLease<T> lease) =>
        timeout == 0 ? TryTakeIdle(site, out lease) : TryTakeFresh(site, out lease);

    /// <summary>An idle resource, looked at here if it needs that.</summary>
    private bool TryTakeIdle(StackTrace? site, out ResourceLease<T> lease)
    {
        while (!TryTakeFresh(site, out lease))
        {
            ResourceSlot<T>? slot;
            bool wasExpired;
            using (PoolSection<T> section = Gate.Enter("try rent"))
            {
                slot = State.TryBeginCheck(out wasExpired, section);
            }

            if (slot is null)
            {
                if (!wasExpired)
                {
                    return false;
                }
            }
            else if (!Runner.TryCheckInline(slot, out DestroyReason? why))
            {
                Runner.HandToThreadPool(slot, null);
                return false;
            }
            else if (TryLeaseChecked(slot, why, site, out lease))
            {
                return true;
            }
        }

        return true;
    }

    /// <summary>Leases the resource that this thread has checked.</summary>
    private bool TryLeaseChecked(ResourceSlot<T> slot, DestroyReason? why, StackTrace? site, out ResourceLease<T> lease)
    {
        bool isLeased = false;
        if (why is null)
        {
            using PoolSection<T> section = Gate.Enter();
            isLeased = State.TryLeaseChecked(slot, site, section);
        }

        if (!isLeased)
        {
            Runner.FinishCheck(slot, why);
        }

        lease = isLeased ? NewLease(slot, slot.Version) : default;
        return isLeased;
    }

    /// <summary>An idle resource that needs no look at it but the policy's quick one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryTakeFresh(StackTrace? site, out ResourceLease<T> lease)
    {
        while (true)
        {
            if (TakeHot() is { } hot)
            {
                lease = new ResourceLease<T>(hot, hot.Version);
                return true;
            }

            if (!State.MayLeaseFresh)
            {
                lease = default;
                return false; // a rental that has to wait enters the gate once
            }

            ResourceSlot<T>? slot;
            using (PoolSection<T> section = Gate.Enter("rent"))
            {
                slot = State.TryLeaseFresh(site, section);
            }

            if (slot is null)
            {
                lease = default;
                return false;
            }

            if (_settings.MinIdle > 0)
            {
                Dispatch(); // the reserve may need another one
            }

            long ticket = slot.Version;
            if (!IsBroken(slot.Resource!))
            {
                lease = NewLease(slot, ticket);
                return true;
            }

            slot.TryRetire(ticket);
            using (PoolSection<T> section = Gate.Enter())
            {
                State.TakeBack(slot, section);
            }
        }
    }

    /// <summary>Puts a rental into the queue and starts what it needs.</summary>
    /// <returns>Null when it was refused, or when the key was removed (then without a refusal).</returns>
    private Waiter<T>? Queue(long timeout, StackTrace? site, bool isSync, out Exception? refusal, CancellationToken cancellation)
    {
        PoolSpan span = PoolSpan.Begin(PoolSpan.Wait, Series);
        long now = _meter.MeasuresWait ? Stopwatch.GetTimestamp() : 0;
        var rental = new RentalRequest(timeout, isSync, site, now, span.Activity, cancellation);
        Waiter<T>? waiter;
        WaiterFailure? why;
        PoolReport? report;
        using (PoolSection<T> section = Gate.Enter("queue"))
        {
            waiter = State.Queue(rental, out why, out report, section);
        }

        refusal = why is { } failure ? Refuse(failure, report!, timeout) : null;
        if (waiter is null)
        {
            if (refusal is null)
            {
                span.Abandon(); // the rental begins again, with another pool of its key
            }
            else
            {
                span.End(refusal.GetType().FullName);
            }
        }

        return waiter;
    }

    private ResourcePoolException Refuse(WaiterFailure why, PoolReport report, long timeout)
    {
        switch (why)
        {
            case WaiterFailure.TimedOut:
                _meter.TimedOut(Series);
                return new ResourcePoolTimeoutException(report, TimeSpan.FromMilliseconds(timeout));
            case WaiterFailure.Rejected:
                _meter.Rejected(Series);
                return new ResourcePoolRejectedException(report, $"as many as MaxWaiters = {_settings.MaxWaiters} wait");
            default:
                return new ResourcePoolShutdownException(report);
        }
    }

    /// <summary>A rental was over before it had begun: the key may have been made for it alone.</summary>
    private void LeaveIfUnused()
    {
        if (_group is not null)
        {
            using PoolSection<T> section = Gate.Enter();
            State.LeaveIfEmpty(section);
        }
    }

    /// <summary>A thread is about to park: from now on no reset may need a second one.</summary>
    private void NoteParked()
    {
        if (_waitsInReset && !_hasParked)
        {
            _hasParked = true;
        }

        if (_group is { HasParked: false })
        {
            _group.HasParked = true;
        }
    }

    private StackTrace? CaptureSite() => _settings.LeakCapture == LeakCapture.None ? null : RentSite.Capture();
}

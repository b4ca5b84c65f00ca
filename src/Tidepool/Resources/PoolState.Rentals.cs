using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Rentals: those that find one, the queue of those that do not, and what comes back.</summary>
internal sealed partial class PoolState<T>
{
    /// <summary>
    /// Whether <see cref="TryLeaseFresh"/> may find one. Read without the gate: a resource that comes back meanwhile is found by
    /// <see cref="Queue"/>.
    /// </summary>
    internal bool MayLeaseFresh => _idle.Count > 0 && _waiters.Count == 0;

    /// <summary>Leases an idle resource that needs no check, if the queue is empty; its ticket is the slot's version.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ResourceSlot<T>? TryLeaseFresh(StackTrace? site, PoolSection<T> section)
    {
        ResourceSlot<T>? slot = Next();
        if (slot is null || section.Now >= slot.FreshUntil || _waiters.Count != 0)
        {
            return null;
        }

        Unlist(slot);
        Lease(slot, site, section);
        return slot;
    }

    /// <summary>Lets a renter that does not wait check the next idle resource itself.</summary>
    /// <param name="wasExpired">Whether there was one that was due: it is destroyed instead, and there may be another one.</param>
    /// <param name="section">The gate.</param>
    internal ResourceSlot<T>? TryBeginCheck(out bool wasExpired, PoolSection<T> section)
    {
        DrainAndDispatch(section);
        ResourceSlot<T>? slot = _waiters.Count == 0 ? Next() : null;
        wasExpired = slot is not null && section.Now >= slot.ExpiresAt;
        if (slot is null)
        {
            return null;
        }

        Unlist(slot);
        if (wasExpired)
        {
            Destroy(slot, DestroyReason.Lifetime, section);
            return null;
        }

        Move(slot, SlotState.Checking);
        BeginByRenter(slot, section);
        return slot;
    }

    /// <summary>Leases the resource that its renter has checked.</summary>
    /// <returns>False when it may not serve any more.</returns>
    internal bool TryLeaseChecked(ResourceSlot<T> slot, StackTrace? site, PoolSection<T> section)
    {
        if (slot.State != SlotState.Checking || FindDestroyReason(slot, section) is not null)
        {
            return false;
        }

        EndByRenter(slot);
        Lease(slot, site, section);
        return true;
    }

    /// <summary>Puts a rental into the queue and starts what it needs.</summary>
    /// <param name="rental">What the renter asks for.</param>
    /// <param name="refusal">Why it may not wait; null also when the key was removed.</param>
    /// <param name="report">What the refusal says.</param>
    /// <param name="section">The gate.</param>
    /// <returns>Null when it was refused, or when the key was removed.</returns>
    internal Waiter<T>? Queue(in RentalRequest rental, out WaiterFailure? refusal, out PoolReport? report, PoolSection<T> section)
    {
        (refusal, report) = (null, null);
        if (IsRemoved)
        {
            return null;
        }

        if (!rental.IsSync)
        {
            section.BeginChecksInline();
        }

        DrainAndDispatch(section);
        refusal = _isClosed ? WaiterFailure.Shutdown
            : rental.Timeout == 0 ? WaiterFailure.TimedOut
            : _waiters.Count >= _settings.MaxWaiters ? WaiterFailure.Rejected
            : null;
        if (refusal is not null)
        {
            _rejected += refusal == WaiterFailure.Rejected ? 1 : 0;
            _timedOut += refusal == WaiterFailure.TimedOut ? 1 : 0;
            report = Report(section);
            LeaveIfEmpty(section);
            return null;
        }

        Waiter<T> waiter = _waiters.TakeNode() ?? new Waiter<T>(Core);
        waiter.Begin(rental, ResourceSettings.After(section.Now, rental.Timeout), _group is null ? ++_sequence : ++_group.Sequence);
        waiter.QueuedAt = section.Now;
        Enqueue(waiter, section);
        Dispatch(section);
        if (waiter.State == WaiterState.Queued && IsHopeless(section))
        {
            Fail(waiter, WaiterFailure.CreateFailed, _lastError, section);
            LeaveIfEmpty(section);
        }

        return waiter;
    }

    /// <summary>Keeps a node that may serve again. Not under the gate.</summary>
    internal void Recycle(Waiter<T> waiter) => _waiters.GiveNode(waiter);

    /// <summary>
    /// Takes a caller that gives up out of the queue, if it is there. The work that was begun for it may serve a parked caller now, or
    /// another key.
    /// </summary>
    internal bool TryLeave(Waiter<T> waiter, WaiterFailure failure, PoolSection<T> section)
    {
        if (waiter.State != WaiterState.Queued)
        {
            return false;
        }

        Fail(waiter, failure, null, section);
        _group?.Offer(section);
        LetParkedHelp(section);
        LeaveIfEmpty(section);
        return true;
    }

    /// <summary>Takes a resource back whose policy needs to do no more with it.</summary>
    /// <param name="slot">Its slot, whose ticket was retired.</param>
    /// <param name="why">Why it must not be rented again, or null.</param>
    /// <param name="section">The gate.</param>
    internal void Return(ResourceSlot<T> slot, DestroyReason? why, PoolSection<T> section)
    {
        EndLease(slot, section);
        if (why is { } reason)
        {
            Destroy(slot, reason, section);
        }
        else
        {
            GiveOrKeep(slot, section);
        }

        Dispatch(section);
        OpenHot();
    }

    /// <summary>Takes a resource back whose reset goes on without its renter.</summary>
    internal void ReturnResetting(ResourceSlot<T> slot, PoolSection<T> section)
    {
        EndLease(slot, section);
        Move(slot, SlotState.Checking);
        SetDue(slot, section);
    }

    /// <summary>
    /// Takes a resource back whose reset any thread may begin: a reset that its returner begins would need a thread of the thread pool
    /// for its end, and all of them may be parked for this resource.
    /// </summary>
    internal void ReturnDirty(ResourceSlot<T> slot, PoolSection<T> section)
    {
        EndLease(slot, section);
        if (FindDestroyReason(slot, section) is { } why)
        {
            Destroy(slot, why, section);
        }
        else
        {
            slot.IsDirty = true;
            Move(slot, SlotState.Checking);
            Start(slot, SlotWork.Reset, section);
        }

        Dispatch(section);
    }

    /// <summary>Takes a resource back that was found broken when it was leased: no renter has seen it.</summary>
    internal void TakeBack(ResourceSlot<T> slot, PoolSection<T> section)
    {
        _rented--;
        Destroy(slot, DestroyReason.Broken, section);
        Dispatch(section);
    }

    /// <summary>Takes a resource that has left the hot slot: <see cref="GiveOrKeep"/> decides who gets it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void ReturnFromHot(ResourceSlot<T> slot, PoolSection<T> section)
    {
        GiveOrKeepHot(slot, section);
        Dispatch(section);
    }

    /// <summary>Notes that a renter calls its resource broken.</summary>
    /// <returns>False when the lease is over.</returns>
    internal static bool TryMark(ResourceSlot<T> slot, long ticket, PoolSection<T> section)
    {
        section.AssertHeld();
        bool isMarked = slot.State == SlotState.Leased && slot.Is(ticket);
        slot.IsMarked |= isMarked;
        return isMarked;
    }

    /// <summary>Forgets a leased resource, which is its renter's now.</summary>
    internal void Detach(ResourceSlot<T> slot, PoolSection<T> section)
    {
        _detached++;
        _heldFor += section.Now - slot.LeasedAt;
        Release(slot, SlotState.Free, section);
        Dispatch(section);
    }

    /// <summary>Destroys a resource whose lease was dropped.</summary>
    internal void Reclaim(ResourceSlot<T> slot, PoolSection<T> section)
    {
        _reclaimed++;
        _heldFor += section.Now - slot.LeasedAt;
        Destroy(slot, DestroyReason.Leaked, section);
        Dispatch(section);
    }

    /// <summary>Closes the hot slot: a caller waits, or the pool ends, and no resource may be rented without the gate.</summary>
    internal void CloseHot(PoolSection<T> section)
    {
        _group?.NoteClosed(this);
        if (Hot.Close() is { } slot)
        {
            GiveOrKeepHot(slot, section);
        }
    }

    /// <summary>
    /// Takes the resource out of the hot slot, so that the dispatch at the end of a section sees every idle resource.
    /// </summary>
    /// <returns>Whether there was one.</returns>
    internal bool DrainHot(PoolSection<T> section)
    {
        if (Hot.Take() is not { } slot)
        {
            return false;
        }

        GiveOrKeepHot(slot, section);
        return true;
    }

    /// <summary>Drains the hot slot, and dispatches if something was there.</summary>
    /// <remarks>
    /// A returner that has not rechecked the slot yet will find nothing left to do, so what follows is done here: a resource that was
    /// cleared meanwhile may be for a parked thread to destroy.
    /// </remarks>
    private void DrainAndDispatch(PoolSection<T> section)
    {
        if (DrainHot(section))
        {
            Dispatch(section);
        }
    }

    /// <summary>
    /// Opens the hot slot where it may be: the queue is empty, no more places are taken than there are, and no other key needs to see what
    /// is idle here.
    /// </summary>
    private void OpenHot()
    {
        Core.Gate.AssertHeld();
        if (_allowsHot && !_isClosed && !_isBeyond && !Hot.IsOpen && _waiters.Count == 0 && _group?.TryOpen(this) != false)
        {
            Hot.Open();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void GiveOrKeepHot(ResourceSlot<T> slot, PoolSection<T> section)
    {
        slot.CheckedAt = slot.KeptAlive = slot.LastUsed;
        GiveOrKeep(slot, section);
    }

    /// <summary>The next idle resource in the order of reuse. Closed pools have none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ResourceSlot<T>? Next() => _settings.TakesOldest ? _idle.Oldest : _idle.Newest;

    /// <summary>Takes a slot out of the idle lists; its state is the caller's to set.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Unlist(ResourceSlot<T> slot)
    {
        Core.Gate.AssertHeld();
        _idle.Remove(slot);
        _group?.RemoveIdle(slot);
    }

    /// <summary>Makes a slot leased, with a new ticket.</summary>
    /// <remarks>What seldom changes is written only when it changes: processors that take turns keep its line.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private long Lease(ResourceSlot<T> slot, StackTrace? site, PoolSection<T> section)
    {
        Move(slot, SlotState.Leased);
        slot.Uses++;
        slot.LeasedAt = section.Now;
        if (slot.Site != site)
        {
            slot.Site = site;
        }

        if (slot.IsReported)
        {
            slot.IsReported = false;
        }

        if (_settings.Meter.MeasuresUse)
        {
            slot.RentedTicks = Stopwatch.GetTimestamp();
        }

        _rented++;
        long ticket = slot.Version + 1;
        Volatile.Write(ref slot.Version, ticket);
        if (_settings.LeakThreshold != ResourceSettings.NoLimit)
        {
            section.WakeAt(section.Now + _settings.LeakThreshold);
        }

        return ticket;
    }

    /// <summary>The renter has gone.</summary>
    /// <remarks>As in <see cref="Lease"/>, what seldom changes is written only when it changes.</remarks>
    private void EndLease(ResourceSlot<T> slot, PoolSection<T> section)
    {
        _heldFor += section.Now - slot.LeasedAt;
        slot.LastUsed = slot.CheckedAt = slot.KeptAlive = section.Now;
        bool isDirty = _resetMode == ResetMode.OnRent;
        if (slot.IsDirty != isDirty)
        {
            slot.IsDirty = isDirty;
        }

        if (slot.Site is not null)
        {
            slot.Site = null;
        }

        if (slot.IsReported)
        {
            ReportRecovery(slot, section);
        }
    }

    /// <summary>A method of its own, because its closure would be allocated with each return.</summary>
    private void ReportRecovery(ResourceSlot<T> slot, PoolSection<T> section)
    {
        (long id, long age) = (slot.Id, section.Now - slot.LeasedAt);
        section.Then(() => TidepoolEventSource.Log.LeaseRecovered(id, age, Core.Name, Core.Key));
    }

    private void Enqueue(Waiter<T> waiter, PoolSection<T> section)
    {
        _waiters.Add(waiter);
        CloseHot(section);
        section.CountWaiting(1);
        _group?.CountParked(waiter, 1);
        section.WakeAt(waiter.Deadline);
    }

    /// <summary>Puts a rental whose thread has worked back into its place, unless it is over.</summary>
    private void Requeue(Waiter<T>? waiter, PoolSection<T> section)
    {
        if (waiter is null || waiter.State != WaiterState.Working)
        {
            return;
        }

        // Fail counts it as no longer at work by itself; Enqueue does not.
        if (_isClosed)
        {
            Fail(waiter, WaiterFailure.Shutdown, null, section);
        }
        else if (waiter.Cancellation.IsCancellationRequested)
        {
            Fail(waiter, WaiterFailure.Cancelled, null, section);
        }
        else if (section.Now >= waiter.Deadline)
        {
            Fail(waiter, WaiterFailure.TimedOut, null, section);
        }
        else
        {
            _atWork--;
            Enqueue(waiter, section);
        }
    }

    private void Dequeue(Waiter<T> waiter, PoolSection<T> section)
    {
        _waiters.Remove(waiter);
        section.CountWaiting(-1);
        _group?.CountParked(waiter, -1);
        OpenHot();
    }

    /// <summary>Gives a resource to a rental that is in the queue.</summary>
    private void Give(Waiter<T> waiter, ResourceSlot<T> slot, PoolSection<T> section)
    {
        Dequeue(waiter, section);
        _waited++;
        _waitedFor += Math.Max(0, section.Now - waiter.QueuedAt); // a section reads the clock before it has the gate
        waiter.State = WaiterState.Assigned;
        waiter.Slot = slot;
        waiter.Ticket = Lease(slot, waiter.Site, section);
        section.Notify(waiter);
    }

    /// <summary>Ends a rental that is in the queue, or whose thread works for it, without a resource.</summary>
    private void Fail(Waiter<T> waiter, WaiterFailure failure, Exception? cause, PoolSection<T> section)
    {
        if (waiter.State == WaiterState.Queued)
        {
            Dequeue(waiter, section);
        }
        else
        {
            _atWork--;
        }

        waiter.State = WaiterState.Failed;
        waiter.Failure = failure;
        waiter.Cause = cause;
        _timedOut += failure == WaiterFailure.TimedOut ? 1 : 0;
        _cancelled += failure == WaiterFailure.Cancelled ? 1 : 0;
        _failed += failure == WaiterFailure.CreateFailed ? 1 : 0;
        waiter.Report = failure == WaiterFailure.Cancelled ? null : section.ReportOf(this);

        section.Notify(waiter);
    }
}

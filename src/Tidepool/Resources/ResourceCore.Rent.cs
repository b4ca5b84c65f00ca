using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Renting: an idle resource at once, or a place in the queue.</summary>
internal sealed partial class ResourceCore<T>
{
    private Waiter<T>? _spare;
    private volatile bool _hasParked; // a thread has parked for a rental
    private Waiter<T>? _recycled; // pushed by anybody, taken as a whole under the gate

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

        if (TakeHot() is { } slot)
        {
            result = new ValueTask<ResourceLease<T>>(new ResourceLease<T>(slot, slot.Version));
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
        lease = Await(waiter);
        return true;
    }

    /// <summary>Rents an idle resource, if there is one and nobody waits; never waits and never creates.</summary>
    internal bool TryRentIdle(out ResourceLease<T> lease)
    {
        if (TryTakeIdle(CaptureSite(), out lease))
        {
            return true;
        }

        if (Volatile.Read(ref _isClosed))
        {
            using (PoolSection<T> section = Gate.Enter())
            {
                ThrowIfClosed(section);
            }
        }

        return false;
    }

    /// <summary>An idle resource without a wait; a rental that may wait has only those checked in its turn that need it.</summary>
    private bool TryTakeIdle(long timeout, StackTrace? site, out ResourceLease<T> lease) =>
        timeout == 0 ? TryTakeIdle(site, out lease) : TryTakeFresh(site, out lease);

    /// <summary>An idle resource, looked at here if it needs that.</summary>
    private bool TryTakeIdle(StackTrace? site, out ResourceLease<T> lease)
    {
        while (!TryTakeFresh(site, out lease))
        {
            ResourceSlot<T>? slot = null;
            bool isExpired = false;
            using (PoolSection<T> section = Gate.Enter("try rent"))
            {
                SettleHot(section);
                if (_waiters.Count == 0 && Next() is { } next)
                {
                    Unlist(next);
                    isExpired = section.Now >= next.ExpiresAt;
                    if (isExpired)
                    {
                        Destroy(next, DestroyReason.Lifetime, section);
                    }
                    else
                    {
                        slot = next;
                        Move(slot, SlotState.Checking);
                        BeginByRenter(slot, section);
                    }
                }
            }

            if (slot is null)
            {
                if (!isExpired)
                {
                    return false;
                }
            }
            else if (CheckHere(slot) is { } check)
            {
                if (FinishTry(slot, check, site, out lease))
                {
                    return true;
                }
            }
            else
            {
                HandToPool(slot, null);
                return false;
            }
        }

        return true;
    }

    /// <summary>A caller's token was cancelled.</summary>
    internal void Cancel(Waiter<T> waiter)
    {
        using PoolSection<T> section = Gate.Enter("cancel");
        if (waiter.State == WaiterState.Queued)
        {
            Leave(waiter, WaiterFailure.Cancelled, section);
        }
    }

    /// <summary>
    /// A rental leaves the queue without a resource; what had been asked for it may be for a parked one now, or for another key. Under the
    /// gate.
    /// </summary>
    private void Leave(Waiter<T> waiter, WaiterFailure failure, PoolSection<T> section)
    {
        Fail(waiter, failure, null, section);
        _group?.Offer(section);
        LetParkedHelp(section);
        LeaveIfEmpty(section);
    }

    /// <summary>Makes the caller's exception or lease; the gate was left.</summary>
    internal void Tell(Waiter<T> waiter)
    {
        if (waiter.State == WaiterState.Working)
        {
            waiter.Signal();
            return;
        }

        _meter.Waited(Name, waiter.QueuedTicks);
        if (waiter.State == WaiterState.Assigned)
        {
            waiter.Complete(waiter.IsSync ? default : NewLease(waiter.Slot!, waiter.Ticket), null);
            return;
        }

        if (waiter.Failure == WaiterFailure.TimedOut)
        {
            _meter.TimedOut(Name);
        }

        waiter.Cause = waiter.Failure switch
        {
            WaiterFailure.TimedOut => new ResourcePoolTimeoutException(waiter.Report!, TimeSpan.FromMilliseconds(waiter.Timeout)),
            WaiterFailure.Cancelled => new OperationCanceledException("The rental was cancelled by its caller's token.", waiter.Cancellation),
            WaiterFailure.CreateFailed when waiter is { IsSync: true, Cause: NotSupportedException unsupported } => unsupported,
            WaiterFailure.CreateFailed => new ResourceCreateException(waiter.Report!, waiter.Cause!),
            _ => new ResourcePoolShutdownException(waiter.Report!),
        };
        waiter.Complete(default, waiter.Cause);
    }

    /// <summary>The caller has its answer: the node may serve again.</summary>
    internal void Recycle(Waiter<T> waiter)
    {
        if (!waiter.TryReset())
        {
            return; // a late cancellation may still come
        }

        Waiter<T>? first = Volatile.Read(ref _recycled);
        while (true)
        {
            waiter.NextDone = first;
            Waiter<T>? found = Interlocked.CompareExchange(ref _recycled, waiter, first);
            if (found == first)
            {
                return;
            }

            first = found;
        }
    }

    /// <summary>An idle resource that needs no look at it but the policy's quick one.</summary>
    private bool TryTakeFresh(StackTrace? site, out ResourceLease<T> lease)
    {
        while (true)
        {
            if (TakeHot() is { } hot)
            {
                lease = new ResourceLease<T>(hot, hot.Version);
                return true;
            }

            ResourceSlot<T>? slot;
            long ticket;
            using (PoolSection<T> section = Gate.Enter("rent"))
            {
                slot = Next();
                if (slot is null || section.Now >= slot.FreshUntil || _waiters.Count != 0)
                {
                    lease = default;
                    return false;
                }

                Unlist(slot);
                ticket = Lease(slot, site, section);
            }

            if (_settings.MinIdle > 0)
            {
                Refill();
            }

            if (!IsBroken(slot.Resource!))
            {
                lease = NewLease(slot, ticket);
                return true;
            }

            TakeBack(slot, ticket);
        }
    }

    /// <summary>An idle resource has gone: the reserve may need another one.</summary>
    private void Refill()
    {
        using PoolSection<T> section = Gate.Enter();
        Pump(section);
    }

    /// <summary>The next idle resource in the order of reuse. Closed pools have none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ResourceSlot<T>? Next() => _settings.TakesOldest ? _idle.Oldest : _idle.Newest;

    /// <summary>Takes a slot out of the idle lists; its state is the caller's to set.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Unlist(ResourceSlot<T> slot)
    {
        Gate.AssertHeld();
        _idle.Remove(slot);
        _group?.RemoveIdle(slot);
    }

    /// <summary>Makes a slot leased, with a new ticket. Under the gate.</summary>
    private long Lease(ResourceSlot<T> slot, StackTrace? site, PoolSection<T> section)
    {
        Move(slot, SlotState.Leased);
        slot.Uses++;
        slot.LeasedAt = section.Now;
        slot.Site = site;
        slot.IsReported = false;
        if (_meter.MeasuresUse)
        {
            slot.RentedTicks = Stopwatch.GetTimestamp();
        }

        _rented++;
        long ticket = slot.Version + 1;
        Volatile.Write(ref slot.Version, ticket);
        if (_settings.LeakThreshold != ResourceSettings.Forever)
        {
            section.WakeAt(section.Now + _settings.LeakThreshold);
        }

        return ticket;
    }

    private ResourceLease<T> NewLease(ResourceSlot<T> slot, long ticket) => new(
        _settings.LeakReclaim ? new LeaseSentinel<T>(slot, ticket) : slot,
        ticket);

    /// <summary>What was just leased turned out to be broken: nobody has rented it.</summary>
    private void TakeBack(ResourceSlot<T> slot, long ticket)
    {
        slot.TryRetire(ticket);
        using PoolSection<T> section = Gate.Enter();
        _rented--;
        Destroy(slot, DestroyReason.Broken, section);
        Pump(section);
    }

    /// <summary>Puts a rental into the queue and starts what it needs.</summary>
    /// <returns>Null when it was refused, or when the key was removed (then without a refusal).</returns>
    private Waiter<T>? Queue(long timeout, StackTrace? site, bool isSync, out Exception? refusal, CancellationToken cancellation)
    {
        Waiter<T>? waiter = null;
        PoolReport? report = null;
        bool isRejected = false;
        bool isClosed;
        using (PoolSection<T> section = Gate.Enter("queue"))
        {
            if (IsRemoved)
            {
                refusal = null;
                return null;
            }

            if (!isSync)
            {
                section.BeginChecksInline();
            }

            SettleHot(section);
            isClosed = _isClosed;
            isRejected = !isClosed && timeout != 0 && _waiters.Count >= _settings.MaxWaiters;
            if (isClosed || isRejected || timeout == 0)
            {
                _rejected += isRejected ? 1 : 0;
                _timedOut += isClosed || isRejected ? 0 : 1;
                report = Report(section);
                LeaveIfEmpty(section);
            }
            else
            {
                waiter = NewWaiter();
                waiter.IsSync = isSync;
                waiter.Cancellation = cancellation;
                waiter.Site = site;
                waiter.Timeout = timeout;
                waiter.Deadline = ResourceSettings.After(section.Now, timeout);
                waiter.Sequence = _group is null ? ++_sequence : ++_group.Sequence;
                waiter.QueuedTicks = _meter.MeasuresWait ? Stopwatch.GetTimestamp() : 0;
                Enqueue(waiter, section);
                Pump(section);
                if (waiter.State == WaiterState.Queued && IsHopeless(section))
                {
                    Fail(waiter, WaiterFailure.CreateFailed, _lastError, section);
                    LeaveIfEmpty(section);
                }
            }
        }

        refusal = report is null ? null
            : isClosed ? new ResourcePoolShutdownException(report)
            : isRejected ? new ResourcePoolRejectedException(report, $"as many as MaxWaiters = {_settings.MaxWaiters} wait")
            : new ResourcePoolTimeoutException(report, TimeSpan.Zero);
        if (isRejected)
        {
            _meter.Rejected(Name);
        }
        else if (refusal is ResourcePoolTimeoutException)
        {
            _meter.TimedOut(Name);
        }

        return waiter;
    }

    private void Enqueue(Waiter<T> waiter, PoolSection<T> section)
    {
        _waiters.Add(waiter);
        CloseHot(section);
        Timer.CountWaiting(1);
        _group?.CountParked(waiter, 1);
        section.WakeAt(waiter.Deadline);
    }

    private void Dequeue(Waiter<T> waiter)
    {
        Gate.AssertHeld();
        _waiters.Remove(waiter);
        Timer.CountWaiting(-1);
        _group?.CountParked(waiter, -1);
        OpenHot();
    }

    /// <summary>Ends a rental that is in the queue, or whose thread works for it, without a resource. Under the gate.</summary>
    private void Fail(Waiter<T> waiter, WaiterFailure failure, Exception? cause, PoolSection<T> section)
    {
        if (waiter.State == WaiterState.Queued)
        {
            Dequeue(waiter);
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
        waiter.Report = failure == WaiterFailure.Cancelled ? null : section.ReportOf(this);

        section.Tell(waiter);
    }

    /// <summary>Gives a resource to a rental that is in the queue. Under the gate.</summary>
    private void Give(Waiter<T> waiter, ResourceSlot<T> slot, PoolSection<T> section)
    {
        Dequeue(waiter);
        waiter.State = WaiterState.Assigned;
        waiter.Slot = slot;
        waiter.Ticket = Lease(slot, waiter.Site, section);
        section.Tell(waiter);
    }

    private Waiter<T> NewWaiter()
    {
        Gate.AssertHeld();
        Waiter<T>? waiter = _spare ?? Interlocked.Exchange(ref _recycled, null);
        if (waiter is null)
        {
            return new Waiter<T>(this);
        }

        _spare = waiter.NextDone;
        waiter.NextDone = null;
        return waiter;
    }

    private void ThrowIfClosed(PoolSection<T> section)
    {
        if (_isClosed)
        {
            throw new ResourcePoolShutdownException(Report(section));
        }
    }
}

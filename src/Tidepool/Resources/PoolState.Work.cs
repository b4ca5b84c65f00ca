namespace Tidepool;

/// <summary>What is to be done for those who wait, which thread may do it, and what follows from its answer.</summary>
internal sealed partial class PoolState<T>
{
    private readonly Backlog<T> _backlog;

    /// <summary>Lets a slot's work begin, on whatever thread comes first. Its time runs from then on.</summary>
    private void Start(ResourceSlot<T> slot, SlotWork kind, PoolSection<T> section)
    {
        slot.Work = kind;
        slot.IsForPool = false;
        if (kind == SlotWork.Check && section.ChecksInline)
        {
            SetDue(slot, section);
            section.Check(slot);
            return;
        }

        slot.DueAt = ResourceSettings.NoLimit;
        if (_backlog.Add(slot))
        {
            section.RequestThread(Core);
        }
    }

    /// <summary>A thread has come: it begins with what is oldest, what is to be destroyed first.</summary>
    /// <returns>The slot whose work is the thread's; null when that was done meanwhile.</returns>
    internal ResourceSlot<T>? BeginOldest(PoolSection<T> section)
    {
        ResourceSlot<T>? slot = _backlog.TakeForThread();
        if (slot is not null)
        {
            SetDue(slot, section);
        }

        return slot;
    }

    /// <summary>Lets parked threads work: for their own key first, then at what other keys have to end.</summary>
    private void LetParkedHelp(PoolSection<T> section)
    {
        if (_waiters.Parked > 0)
        {
            LetParkedWork(section);
        }

        _group?.LetParkedEnd(section);
    }

    /// <summary>Lets a parked thread that waits for a place of the group end a resource, of whatever key.</summary>
    /// <returns>False when there is no such thread.</returns>
    internal bool TryLetParkedEnd(ResourceSlot<T> ending, PoolSection<T> section)
    {
        if (ParkedForNothing() is not { } waiter)
        {
            return false;
        }

        ending.Core.State._backlog.Take(ending);
        ending.Core.State.SetDue(ending, section);
        LetWork(waiter, ending, section);
        return true;
    }

    /// <summary>Lets parked threads do themselves what no thread has begun, where nothing has begun for them.</summary>
    internal void LetParkedWork(PoolSection<T> section)
    {
        while (_backlog.Serving > 0 && ParkedForNothing() is { } waiter && _backlog.FirstForParked(_createsInline) is { } slot)
        {
            _backlog.Take(slot);
            BeginByRenter(slot, section);
            LetWork(waiter, slot, section);
        }

        while (_backlog.OldestToDestroy is { } ending && ParkedForNothing() is { } waiter)
        {
            _backlog.Take(ending);
            SetDue(ending, section);
            LetWork(waiter, ending, section);
        }
    }

    /// <summary>The first parked rental for which nothing has begun.</summary>
    internal Waiter<T>? ParkedForNothing() => _waiters.ParkedAfter(InFlight - _backlog.Serving);

    /// <summary>Lets the thread of a parked rental work for itself.</summary>
    private void LetWork(Waiter<T> waiter, ResourceSlot<T> slot, PoolSection<T> section)
    {
        slot.Work = slot.State switch
        {
            SlotState.Creating => SlotWork.Create,
            SlotState.Checking => SlotWork.Check,
            _ => SlotWork.Destroy,
        };
        Dequeue(waiter, section);
        _atWork++;
        waiter.State = WaiterState.Working;
        waiter.Slot = slot;
        section.Notify(waiter);
    }

    /// <summary>The thread of a rental creates or checks a resource.</summary>
    private void BeginByRenter(ResourceSlot<T> slot, PoolSection<T> section)
    {
        slot.IsByRenter = true;
        _byRenter++;
        SetDue(slot, section);
    }

    private void EndByRenter(ResourceSlot<T> slot)
    {
        Core.Gate.AssertHeld();
        if (slot.IsByRenter)
        {
            slot.IsByRenter = false;
            _byRenter--;
        }
    }

    /// <summary>Takes the resource that was created.</summary>
    /// <returns>False when it comes too late: its place was given up.</returns>
    internal bool FinishCreate(ResourceSlot<T> slot, T resource, DateTimeOffset at, Waiter<T>? renter, PoolSection<T> section)
    {
        bool isInTime = slot.State != SlotState.Abandoned;
        if (isInTime)
        {
            Accept(slot, resource, at, section);
            EndByRenter(slot);
            Requeue(renter, section);
            GiveOrKeep(slot, section);
            CompleteWarmings(section);
        }
        else
        {
            _created++;
            _destroyed[(int)DestroyReason.Abandoned]++;
            FailOwn(renter, TookTooLong(), section);
        }

        Dispatch(section);
        return isInTime;
    }

    /// <summary>Takes the answer that a creation has failed.</summary>
    /// <returns>Whether that says something about creations: it came in time, its renter still waited, and it was tried at all.</returns>
    internal bool FailCreate(ResourceSlot<T> slot, Exception failure, bool isPermanent, Waiter<T>? renter, PoolSection<T> section)
    {
        bool isFailure = false;
        if (slot.State == SlotState.Abandoned)
        {
            FailOwn(renter, TookTooLong(), section);
        }
        else
        {
            bool isUnsupported = renter is not null && failure is NotSupportedException;
            isFailure = !isUnsupported && !_isClosed && (renter is null || !IsOver(renter, failure, slot, section));
            EndByRenter(slot);
            Release(slot, SlotState.Free, section);
            if (isFailure)
            {
                FailCreation(failure, isPermanent, slot.Attempt, renter, renter is not null, section);
            }
            else if (isUnsupported)
            {
                FailOwn(renter, failure, section);
            }

            Requeue(renter, section);
        }

        Dispatch(section);
        return isFailure;
    }

    /// <summary>Whether a creation ended because the renter, whose thread made it, does not wait any more.</summary>
    private static bool IsOver(Waiter<T> renter, Exception failure, ResourceSlot<T> slot, PoolSection<T> section) =>
        failure is OperationCanceledException && !slot.IsStopped
        && (renter.Cancellation.IsCancellationRequested || section.Now >= renter.Deadline);

    /// <summary>
    /// Takes the answer to a check or a reset: the resource serves the first in the queue, or is destroyed and something else is tried.
    /// </summary>
    /// <param name="slot">The slot.</param>
    /// <param name="why">Why the resource must not serve, or null.</param>
    /// <param name="renter">The rental whose parked thread did it, or null.</param>
    /// <param name="keepsDirt">Whether a reset that is due is still due.</param>
    /// <param name="section">The gate.</param>
    /// <returns>False when it comes too late: its place was given up.</returns>
    internal bool FinishCheck(ResourceSlot<T> slot, DestroyReason? why, Waiter<T>? renter, bool keepsDirt, PoolSection<T> section)
    {
        bool isInTime = slot.State != SlotState.Abandoned;
        EndByRenter(slot);
        Requeue(renter, section);
        if (isInTime)
        {
            slot.CheckedAt = slot.KeptAlive = section.Now;
            slot.IsDirty &= keepsDirt;
            if (why is { } reason)
            {
                Destroy(slot, reason, section);
            }
            else
            {
                GiveOrKeep(slot, section);
            }

            if (_holdsKeepAlive)
            {
                _holdsKeepAlive = false;
                section.WakeAt(section.Now);
            }
        }

        Dispatch(section);
        return isInTime;
    }

    /// <summary>Leaves the check to the thread pool, which alone can do it, and puts the rental back into its place.</summary>
    /// <returns>False when it comes too late: its place was given up.</returns>
    internal bool HandToThreadPool(ResourceSlot<T> slot, Waiter<T>? renter, PoolSection<T> section)
    {
        bool isInTime = slot.State == SlotState.Checking;
        if (isInTime)
        {
            EndByRenter(slot);
            Start(slot, SlotWork.Check, section);
            slot.IsForPool = true;
        }

        Requeue(renter, section);
        Dispatch(section);
        return isInTime;
    }

    /// <summary>Frees the place of a resource that the policy has ended.</summary>
    /// <param name="slot">The slot.</param>
    /// <param name="hasFailed">Whether the policy threw.</param>
    /// <param name="worker">The rental whose parked thread did it, perhaps for another key; only where the policy is done already.</param>
    /// <param name="section">The gate.</param>
    internal void FinishDestroy(ResourceSlot<T> slot, bool hasFailed, Waiter<T>? worker, PoolSection<T> section)
    {
        _destroyFailures += hasFailed ? 1 : 0;

        // Back in its line before the place comes free: so the place is for the rental that has waited for longest, the worker among them.
        PoolState<T>? other = worker is null || worker.Core == Core ? null : worker.Core.State;
        (other ?? this).Requeue(worker, section);
        if (slot.State == SlotState.Destroying)
        {
            Release(slot, SlotState.Free, section);
        }

        other?.RequestPlace(section);
        Dispatch(section);
        other?.Dispatch(section);
    }

    /// <summary>Puts a parked rental back into its place whose thread has begun to end a resource, and need not wait for that.</summary>
    internal void ReturnWorker(Waiter<T> worker, PoolSection<T> section)
    {
        Requeue(worker, section);
        Dispatch(section);
    }
}

using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// Rentals of parked threads. They stand in the same queue, and do for themselves what needs doing: a thread pool without a free thread does
/// not hold them up, and the pool never blocks on asynchronous code.
/// </summary>
internal sealed partial class ResourceCore<T>
{
    /// <summary>How often a parked thread looks whether something is overdue, in milliseconds.</summary>
    private const long LookAroundEvery = 500;

    /// <summary>What a renter's own look at a resource found.</summary>
    private enum Check
    {
        Good,
        Broken,
        Invalid,
        NotReset,
    }

    private ResourceLease<T> Await(Waiter<T> waiter)
    {
        bool wasInterrupted = false;
        try
        {
            while (true)
            {
                long left = Clock.IsSystem ? Math.Min(waiter.Deadline - Clock.Now, LookAroundEvery) : ResourceSettings.Forever;
                bool isSignaled;
                try
                {
                    isSignaled = waiter.Park(left);
                }
                catch (ThreadInterruptedException)
                {
                    if (TryGiveUp(waiter))
                    {
                        throw;
                    }

                    wasInterrupted = true;
                    continue;
                }

                if (!isSignaled)
                {
                    LookAround(waiter);
                }
                else if (waiter.State == WaiterState.Working)
                {
                    WorkHere(waiter);
                }
                else if (waiter.State == WaiterState.Assigned)
                {
                    return NewLease(waiter.Slot!, waiter.Ticket);
                }
                else if (waiter.State == WaiterState.Failed)
                {
                    throw waiter.Cause!;
                }
            }
        }
        finally
        {
            Recycle(waiter);
            if (wasInterrupted)
            {
                Thread.CurrentThread.Interrupt(); // too late for this wait: for the thread's next one
            }
        }
    }

    /// <summary>The thread woke by itself: its time may be over, and the timer late, because no thread is free for it.</summary>
    private void LookAround(Waiter<T> waiter)
    {
        bool isTimerLate;
        using (PoolSection<T> section = Gate.Enter())
        {
            isTimerLate = section.Now > Timer.Due;
            if (waiter.State == WaiterState.Queued && section.Now >= waiter.Deadline)
            {
                Leave(waiter, WaiterFailure.TimedOut, section);
            }
        }

        if (isTimerLate)
        {
            OnTimer(isLate: true);
        }
    }

    /// <summary>The parked thread was interrupted: it leaves the queue, unless its rental was decided already.</summary>
    private bool TryGiveUp(Waiter<T> waiter)
    {
        bool gaveUp;
        using PoolSection<T> section = Gate.Enter();
        gaveUp = waiter.State == WaiterState.Queued;
        if (gaveUp)
        {
            Leave(waiter, WaiterFailure.Cancelled, section);
        }
        return gaveUp;
    }

    /// <summary>The thread of a rental creates or checks a resource. Under the gate.</summary>
    private void BeginByRenter(ResourceSlot<T> slot, PoolSection<T> section)
    {
        slot.IsByRenter = true;
        _byRenter++;
        SetDue(slot, section);
    }

    private void WorkHere(Waiter<T> waiter)
    {
        ResourceSlot<T> slot = waiter.Slot!;
        if (slot.Work == SlotWork.Create)
        {
            CreateHere(waiter, slot);
        }
        else if (slot.Work == SlotWork.Destroy)
        {
            EndHere(slot, waiter);
        }
        else if (CheckHere(slot) is { } check)
        {
            FinishCheck(slot, ReasonOf(check), waiter);
        }
        else
        {
            HandToPool(slot, waiter);
        }
    }

    private void CreateHere(Waiter<T> waiter, ResourceSlot<T> slot)
    {
        T? resource = null;
        Exception? failure = null;
        long start = Stopwatch.GetTimestamp();
        using CancellationTokenSource? deadline = waiter.Deadline == ResourceSettings.Forever
            ? null
            : new CancellationTokenSource(TimeSpan.FromMilliseconds(Math.Max(0, waiter.Deadline - Clock.Now)), Clock.Provider);
        using CancellationTokenSource stop = CancellationTokenSource.CreateLinkedTokenSource(
            slot.Stopping, waiter.Cancellation, deadline?.Token ?? default);
        try
        {
            resource = _policy.Create(stop.Token) ?? throw Null(nameof(ResourcePolicy<>.Create));
        }
        catch (Exception e)
        {
            failure = e;
        }

        FinishCreate(slot, resource, failure, start, waiter);
    }

    /// <summary>The policy's synchronous look at a resource; null where it has none.</summary>
    private Check? CheckHere(ResourceSlot<T> slot)
    {
        T resource = slot.Resource!;
        if (IsBroken(resource))
        {
            return Check.Broken;
        }

        bool? isGood = true;
        bool isValidated = false;
        try
        {
            if (NeedsValidation(slot, Clock.Now))
            {
                isGood = _policy.Validate(resource);
            }

            isValidated = isGood == true;
            if (isValidated && slot.IsDirty)
            {
                isGood = _policy.Reset(resource);
            }
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed(isValidated ? "Reset" : "Validate", e.ToString(), Name, Key);
            isGood = false;
        }

        return isGood switch
        {
            null => null,
            true => Check.Good,
            false => isValidated ? Check.NotReset : Check.Invalid,
        };
    }

    private static DestroyReason? ReasonOf(Check check) => check switch
    {
        Check.Good => null,
        Check.Broken => DestroyReason.Broken,
        Check.Invalid => DestroyReason.ValidationFailed,
        _ => DestroyReason.ResetFailed,
    };

    /// <summary>Leases the resource that <see cref="TryRentIdle"/> has checked.</summary>
    private bool FinishTry(ResourceSlot<T> slot, Check check, StackTrace? site, out ResourceLease<T> lease)
    {
        if (check != Check.Good)
        {
            FinishCheck(slot, ReasonOf(check));
            lease = default;
            return false;
        }

        long ticket = 0;
        using (PoolSection<T> section = Gate.Enter())
        {
            if (slot.State == SlotState.Checking && Verdict(slot, section) is null)
            {
                EndByRenter(slot);
                ticket = Lease(slot, site, section);
            }
        }

        if (ticket == 0)
        {
            FinishCheck(slot, null);
            lease = default;
            return false;
        }

        lease = NewLease(slot, ticket);
        return true;
    }

    /// <summary>The policy has no synchronous way: its asynchronous one runs on the thread pool, and the rental is back in its place.</summary>
    private void HandToPool(ResourceSlot<T> slot, Waiter<T>? waiter)
    {
        T? late = null;
        using (PoolSection<T> section = Gate.Enter("hand over"))
        {
            if (slot.State == SlotState.Checking)
            {
                EndByRenter(slot);
                Start(slot, SlotWork.Check, section);
                slot.IsForPool = true;
            }
            else
            {
                late = slot.Resource; // the look took too long: the place was given up
            }

            Requeue(waiter, section);
            Pump(section);
        }

        EndLate(slot, late);
    }

    private void EndByRenter(ResourceSlot<T> slot)
    {
        Gate.AssertHeld();
        if (slot.IsByRenter)
        {
            slot.IsByRenter = false;
            _byRenter--;
        }
    }

    /// <summary>Puts a rental whose thread has worked back into its place, unless it is over. Under the gate.</summary>
    private void Requeue(Waiter<T>? waiter, PoolSection<T> section)
    {
        if (waiter is null || waiter.State != WaiterState.Working)
        {
            return;
        }

        // Fail and Enqueue count it where it stands then.
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
}

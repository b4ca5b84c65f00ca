using System.Diagnostics;

namespace Tidepool;

/// <summary>
/// A rental whose thread is parked. It stands in the same queue as callers that await, and does for itself what needs doing: a thread pool
/// without a free thread does not hold it up, and the pool never blocks on asynchronous code.
/// </summary>
internal readonly struct ParkedRenter<T>(ResourceCore<T> core, Waiter<T> waiter)
    where T : class
{
    /// <summary>How often a parked thread looks whether something is overdue, in milliseconds.</summary>
    private const long LookAroundEvery = 500;

    internal ResourceLease<T> Await()
    {
        bool wasInterrupted = false;
        try
        {
            while (true)
            {
                long left = core.Clock.IsSystem ? Math.Min(waiter.Deadline - core.Clock.Now, LookAroundEvery) : ResourceSettings.NoLimit;
                bool isSignaled;
                try
                {
                    isSignaled = waiter.Park(left);
                }
                catch (ThreadInterruptedException)
                {
                    if (TryGiveUp())
                    {
                        throw;
                    }

                    wasInterrupted = true;
                    continue;
                }

                if (!isSignaled)
                {
                    LookAround();
                }
                else if (waiter.State == WaiterState.Working)
                {
                    Work();
                }
                else if (waiter.State == WaiterState.Assigned)
                {
                    return core.NewLease(waiter.Slot!, waiter.Ticket);
                }
                else if (waiter.State == WaiterState.Failed)
                {
                    throw waiter.Cause!;
                }
            }
        }
        finally
        {
            core.State.Recycle(waiter);
            if (wasInterrupted)
            {
                Thread.CurrentThread.Interrupt(); // too late for this wait: for the thread's next one
            }
        }
    }

    /// <summary>The thread woke by itself: its time may be over, and the timer late, because no thread is free for it.</summary>
    private void LookAround()
    {
        bool isTimerLate;
        using (PoolSection<T> section = core.Gate.Enter())
        {
            isTimerLate = section.Now > section.Due;
            if (section.Now >= waiter.Deadline)
            {
                core.State.TryLeave(waiter, WaiterFailure.TimedOut, section);
            }
        }

        if (isTimerLate)
        {
            core.OnTimer(isLate: true);
        }
    }

    /// <summary>The parked thread was interrupted: it leaves the queue, unless its rental was decided already.</summary>
    private bool TryGiveUp()
    {
        using PoolSection<T> section = core.Gate.Enter();
        return core.State.TryLeave(waiter, WaiterFailure.Cancelled, section);
    }

    private void Work()
    {
        ResourceSlot<T> slot = waiter.Slot!;
        if (slot.Work == SlotWork.Create)
        {
            core.Runner.CreateInline(waiter, slot);
        }
        else if (slot.Work == SlotWork.Destroy)
        {
            Destroy(slot);
        }
        else if (core.Runner.TryCheckInline(slot, out DestroyReason? why))
        {
            core.Runner.FinishCheck(slot, why, waiter);
        }
        else
        {
            core.Runner.HandToThreadPool(slot, waiter);
        }
    }

    /// <summary>
    /// Ends a resource, of its key or of another. The rental is back in its place afterwards: what is returned meanwhile is not for a
    /// thread that cannot use it.
    /// </summary>
    private void Destroy(ResourceSlot<T> slot)
    {
        Schedule.Point("end here");

        // What the policy awaits may not come back to this thread, which goes on to wait.
        SynchronizationContext? context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        DestroyReason why = slot.Reason;
        PoolRunner<T> runner = slot.Core.Runner;
        ValueTask destruction = runner.BeginDestroy(slot.Resource!, why);
        bool isDone = destruction.IsCompleted;
        _ = runner.FinishDestroyAsync(slot, destruction, why, isDone ? waiter : null);
        SynchronizationContext.SetSynchronizationContext(context);
        if (!isDone)
        {
            using PoolSection<T> section = core.Gate.Enter();
            core.State.ReturnWorker(waiter, section);
        }
    }
}

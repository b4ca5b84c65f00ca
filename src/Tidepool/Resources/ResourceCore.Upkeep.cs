namespace Tidepool;

/// <summary>What time brings: rentals time out, operations take too long, idle resources grow old, sizes are restored, leaks are noticed.</summary>
internal sealed partial class ResourceCore<T>
{
    /// <summary>How much longer an operation may take that was found overdue by a late timer, in milliseconds.</summary>
    private const long SparedFor = 1000;

    private List<(long Due, TaskCompletionSource Done)>? _renewals;

    /// <summary>An idle resource is to be kept alive, and waits until another one was.</summary>
    private bool _holdsKeepAlive;

    /// <summary>The timer has fired; that of a key is the timer of all keys.</summary>
    /// <param name="isLate">It should have, and a parked thread has noticed.</param>
    internal void OnTimer(bool isLate = false)
    {
        if (_group is not null)
        {
            _group.OnTimer(isLate);
            return;
        }

        Deferred<T> work = default;
        long now = Clock.Now;
        Schedule.Point("timer");
        lock (Gate)
        {
            isLate |= Timer.Fired(now);
            Upkeep(now, isLate, ref work);
            work.SetsTimer = true;
        }

        work.Run(this);
    }

    /// <summary>Does what is due and asks for the timer for what is not. Under the gate.</summary>
    internal void Upkeep(long now, bool isLate, ref Deferred<T> work)
    {
        DrainHot(now, ref work);
        ExpireWaiters(now, ref work);
        LookAtSlots(now, isLate, ref work);
        LookAtIdle(now, ref work);
        EndRenewals(now, ref work);
        Pump(now, ref work);
    }

    private void ExpireWaiters(long now, ref Deferred<T> work)
    {
        for (Waiter<T>? waiter = _waiters.First; waiter is not null;)
        {
            Waiter<T>? next = waiter.Next;
            if (now >= waiter.Deadline)
            {
                Fail(waiter, WaiterFailure.TimedOut, null, now, ref work);
            }
            else
            {
                Ask(waiter.Deadline, ref work);
            }

            waiter = next;
        }
    }

    private void LookAtSlots(long now, bool isLate, ref Deferred<T> work)
    {
        for (int i = _slots.Count - 1; i >= 0; i--)
        {
            ResourceSlot<T> slot = _slots[i];
            if (slot.State == SlotState.Leased)
            {
                LookForLeak(slot, now, ref work);
            }
            else if (slot.State != SlotState.Idle)
            {
                if (now < slot.DueAt)
                {
                    Ask(slot.DueAt, ref work);
                }
                else if (isLate && !slot.IsSpared)
                {
                    // The answer may be there and wait for a thread, as the timer did.
                    slot.IsSpared = true;
                    slot.DueAt = now + SparedFor;
                    Ask(slot.DueAt, ref work);
                }
                else
                {
                    Abandon(slot, now, ref work);
                }
            }
        }
    }

    private void LookForLeak(ResourceSlot<T> slot, long now, ref Deferred<T> work)
    {
        long due = ResourceSettings.After(slot.LeasedAt, _settings.LeakThreshold);
        if (slot.IsReported || due == ResourceSettings.Forever)
        {
            return;
        }

        if (now < due)
        {
            Ask(due, ref work);
            return;
        }

        slot.IsReported = true;
        _overdue++;
        string site = slot.Site is { } stack ? RentSite.Describe(stack, _settings.LeakCapture) : string.Empty;
        (long id, long age) = (slot.Id, now - slot.LeasedAt);
        work.Then(() =>
        {
            _meter.Leaked(Name);
            TidepoolEventSource.Log.LeaseOverdue(id, age, site, Name, Key);
            PoolDiagnostics.TellLeak(PoolName, PoolReport.DescribeOverdue(Name, Key, age, site));
        });
    }

    /// <summary>An operation took too long: its place is free, and whatever it still brings is ended. Under the gate.</summary>
    private void Abandon(ResourceSlot<T> slot, long now, ref Deferred<T> work)
    {
        SlotState was = slot.State;
        bool isByRenter = slot.IsByRenter;
        EndByRenter(slot);
        if (was == SlotState.Checking)
        {
            _destroyed[(int)DestroyReason.Abandoned]++;
        }

        Release(slot, SlotState.Abandoned, ref work);
        if (was == SlotState.Creating && !_isClosed)
        {
            var failure = new TimeoutException($"The creation took longer than CreateTimeout = {_settings.CreateTimeout} ms.");
            work.Then(() => _meter.CreateFailed(Name, failure));
            FailCreation(failure, false, slot.Attempt, null, isByRenter, now, ref work);
        }
    }

    private void LookAtIdle(long now, ref Deferred<T> work)
    {
        int keepers = Count(SlotState.Checking);
        for (ResourceSlot<T>? slot = _idle.Oldest; slot is not null;)
        {
            ResourceSlot<T>? newer = slot.Newer;
            long keepAlive = ResourceSettings.After(slot.KeptAlive, _settings.KeepAliveInterval);
            if (now >= slot.ExpiresAt)
            {
                Yield(slot, DestroyReason.Lifetime, now, ref work);
            }
            else if (now >= ResourceSettings.After(slot.LastUsed, _settings.IdleTimeout) && Live > _min && _idle.Count > _settings.MinIdle)
            {
                Yield(slot, DestroyReason.Idle, now, ref work);
            }
            else if (now >= keepAlive && keepers < _settings.MaxCreateConcurrency)
            {
                keepers++;
                Unlist(slot);
                Move(slot, SlotState.Checking);
                Start(slot, SlotWork.KeepAlive, now, ref work);
            }
            else
            {
                _holdsKeepAlive |= now >= keepAlive;
                AskForIdle(slot, now, keepAlive, ref work);
            }

            slot = newer;
        }
    }

    /// <summary>When to look at an idle resource again; one that is kept only for the smallest size is looked at after another idle timeout.</summary>
    private void AskForIdle(ResourceSlot<T> slot, long now, long keepAlive, ref Deferred<T> work)
    {
        long idle = ResourceSettings.After(slot.LastUsed, _settings.IdleTimeout);
        Ask(idle > now ? idle : ResourceSettings.After(now, _settings.IdleTimeout), ref work);
        Ask(slot.ExpiresAt, ref work);
        if (keepAlive > now)
        {
            Ask(keepAlive, ref work);
        }
    }

    private void EndRenewals(long now, ref Deferred<T> work)
    {
        for (int i = (_renewals?.Count ?? 0) - 1; i >= 0; i--)
        {
            (long due, TaskCompletionSource done) = _renewals![i];
            if (now >= due || _isClosed)
            {
                _renewals.RemoveAt(i);
                work.Then(() => done.TrySetResult());
            }
            else
            {
                Ask(due, ref work);
            }
        }
    }
}

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

        using PoolSection<T> section = Gate.Enter("timer");
        isLate |= Timer.Fired(section.Now);
        Upkeep(isLate, section);
        section.SetTimer();
    }

    /// <summary>Does what is due and asks for the timer for what is not. Under the gate.</summary>
    internal void Upkeep(bool isLate, PoolSection<T> section)
    {
        DrainHot(section);
        ExpireWaiters(section);
        LookAtSlots(isLate, section);
        LookAtIdle(section);
        EndRenewals(section);
        Pump(section);
    }

    private void ExpireWaiters(PoolSection<T> section)
    {
        for (Waiter<T>? waiter = _waiters.First; waiter is not null;)
        {
            Waiter<T>? next = waiter.Next;
            if (section.Now >= waiter.Deadline)
            {
                Fail(waiter, WaiterFailure.TimedOut, null, section);
            }
            else
            {
                section.WakeAt(waiter.Deadline);
            }

            waiter = next;
        }
    }

    private void LookAtSlots(bool isLate, PoolSection<T> section)
    {
        for (int i = _slots.Count - 1; i >= 0; i--)
        {
            ResourceSlot<T> slot = _slots[i];
            if (slot.State == SlotState.Leased)
            {
                LookForLeak(slot, section);
            }
            else if (slot.State != SlotState.Idle)
            {
                if (section.Now < slot.DueAt)
                {
                    section.WakeAt(slot.DueAt);
                }
                else if (isLate && !slot.IsSpared)
                {
                    // The answer may be there and wait for a thread, as the timer did.
                    slot.IsSpared = true;
                    slot.DueAt = section.Now + SparedFor;
                    section.WakeAt(slot.DueAt);
                }
                else
                {
                    Abandon(slot, section);
                }
            }
        }
    }

    private void LookForLeak(ResourceSlot<T> slot, PoolSection<T> section)
    {
        long due = ResourceSettings.After(slot.LeasedAt, _settings.LeakThreshold);
        if (slot.IsReported || due == ResourceSettings.Forever)
        {
            return;
        }

        if (section.Now < due)
        {
            section.WakeAt(due);
            return;
        }

        slot.IsReported = true;
        _overdue++;
        string site = slot.Site is { } stack ? RentSite.Describe(stack, _settings.LeakCapture) : string.Empty;
        (long id, long age) = (slot.Id, section.Now - slot.LeasedAt);
        section.Then(() =>
        {
            _meter.Leaked(Name);
            TidepoolEventSource.Log.LeaseOverdue(id, age, site, Name, Key);
            PoolDiagnostics.TellLeak(PoolName, PoolReport.DescribeOverdue(Name, Key, age, site));
        });
    }

    /// <summary>An operation took too long: its place is free, and whatever it still brings is ended. Under the gate.</summary>
    private void Abandon(ResourceSlot<T> slot, PoolSection<T> section)
    {
        SlotState was = slot.State;
        bool isByRenter = slot.IsByRenter;
        EndByRenter(slot);
        if (was == SlotState.Checking)
        {
            _destroyed[(int)DestroyReason.Abandoned]++;
        }

        Release(slot, SlotState.Abandoned, section);
        if (was == SlotState.Creating && !_isClosed)
        {
            var failure = new TimeoutException($"The creation took longer than CreateTimeout = {_settings.CreateTimeout} ms.");
            section.Then(() => _meter.CreateFailed(Name, failure));
            FailCreation(failure, false, slot.Attempt, null, isByRenter, section);
        }
    }

    private void LookAtIdle(PoolSection<T> section)
    {
        int keepers = Count(SlotState.Checking);
        for (ResourceSlot<T>? slot = _idle.Oldest; slot is not null;)
        {
            ResourceSlot<T>? newer = slot.Newer;
            long keepAlive = ResourceSettings.After(slot.KeptAlive, _settings.KeepAliveInterval);
            if (section.Now >= slot.ExpiresAt)
            {
                Yield(slot, DestroyReason.Lifetime, section);
            }
            else if (section.Now >= ResourceSettings.After(slot.LastUsed, _settings.IdleTimeout) && Live > _min && _idle.Count > _settings.MinIdle)
            {
                Yield(slot, DestroyReason.Idle, section);
            }
            else if (section.Now >= keepAlive && keepers < _settings.MaxCreateConcurrency)
            {
                keepers++;
                Unlist(slot);
                Move(slot, SlotState.Checking);
                Start(slot, SlotWork.KeepAlive, section);
            }
            else
            {
                _holdsKeepAlive |= section.Now >= keepAlive;
                AskForIdle(slot, keepAlive, section);
            }

            slot = newer;
        }
    }

    /// <summary>When to look at an idle resource again; one that is kept only for the smallest size is looked at after another idle timeout.</summary>
    private void AskForIdle(ResourceSlot<T> slot, long keepAlive, PoolSection<T> section)
    {
        long idle = ResourceSettings.After(slot.LastUsed, _settings.IdleTimeout);
        section.WakeAt(idle > section.Now ? idle : ResourceSettings.After(section.Now, _settings.IdleTimeout));
        section.WakeAt(slot.ExpiresAt);
        if (keepAlive > section.Now)
        {
            section.WakeAt(keepAlive);
        }
    }

    private void EndRenewals(PoolSection<T> section)
    {
        for (int i = (_renewals?.Count ?? 0) - 1; i >= 0; i--)
        {
            (long due, TaskCompletionSource done) = _renewals![i];
            if (section.Now >= due || _isClosed)
            {
                _renewals.RemoveAt(i);
                section.Then(() => done.TrySetResult());
            }
            else
            {
                section.WakeAt(due);
            }
        }
    }
}

using System.Diagnostics;

namespace Tidepool;

/// <summary>What the owner changes, and what time brings.</summary>
internal sealed partial class PoolState<T>
{
    /// <summary>How much longer an operation may take that a late timer found overdue, in milliseconds.</summary>
    private const long GracePeriod = 1000;

    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private List<Warming>? _warmings;
    private int _warmTarget;
    private List<(long Due, TaskCompletionSource Done)>? _renewals;

    /// <summary>An idle resource is to be kept alive, and waits until another one was.</summary>
    private bool _holdsKeepAlive;

    /// <summary>After the shutdown: ends when no lease is out.</summary>
    internal Task Drained => _drained.Task;

    /// <summary>After the shutdown: ends when no resource lives and no timer runs.</summary>
    internal Task Ended => _ended.Task;

    /// <summary>Ends all resources that live now: the idle ones at once, the others when they come back.</summary>
    /// <param name="only">Nothing happens unless this is still the generation; null clears in any case, and forgets failures.</param>
    /// <param name="section">The gate.</param>
    /// <returns>Ends when the idle ones are gone; null when nothing was done.</returns>
    internal Task? Clear(int? only, PoolSection<T> section)
    {
        if (only is { } generation && (_isClosed || generation != _generation))
        {
            return null;
        }

        ThrowIfClosed(section);
        if (only is null)
        {
            _backoff.End();
            _lastError = null;
        }

        DrainHot(section);
        ReportClear(isByError: only is not null, section);
        Volatile.Write(ref _generation, _generation + 1);
        var clearing = new Clearing();
        while (_idle.Oldest is { } slot)
        {
            clearing.Left++;
            slot.Clearing = clearing;
            DestroyIdle(slot, DestroyReason.Cleared, section);
        }

        ClearBacklog(clearing, section);
        DrainHot(section); // what was returned meanwhile, by a thread that has not seen the new generation
        if (clearing.Left == 0)
        {
            clearing.TrySetResult();
        }

        Dispatch(section);
        return clearing.Task;
    }

    /// <summary>
    /// The pool was cleared: what stands before its reset is destroyed without one, and a creation that no thread has begun makes what
    /// counts from now on.
    /// </summary>
    private void ClearBacklog(Clearing clearing, PoolSection<T> section)
    {
        for (ResourceSlot<T>? slot = _backlog.OldestServing; slot is not null;)
        {
            ResourceSlot<T>? newer = slot.Links.Newer;
            if (slot.State == SlotState.Creating)
            {
                slot.Generation = _generation;
            }
            else
            {
                clearing.Left++;
                slot.Clearing = clearing;
                _backlog.Take(slot);
                Destroy(slot, DestroyReason.Cleared, section);
            }

            slot = newer;
        }
    }

    /// <summary>Lets each resource that lives now end within an interval, one after the other.</summary>
    /// <returns>Ends with the interval.</returns>
    internal Task Renew(long interval, PoolSection<T> section)
    {
        ThrowIfClosed(section);
        DrainAndDispatch(section);
        ResourceSlot<T>[] slots = [.. _slots.Where(static s => s.State is SlotState.Idle or SlotState.Leased or SlotState.Checking)];
        for (int i = 0; i < slots.Length; i++)
        {
            ResourceSlot<T> slot = slots[i];
            slot.ExpiresAt = Math.Min(slot.ExpiresAt, section.Now + (interval * (i + 1) / slots.Length));
            slot.FreshUntil = Math.Min(slot.FreshUntil, slot.ExpiresAt);
            section.WakeAt(slot.ExpiresAt);
        }

        var renewal = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        (_renewals ??= []).Add((section.Now + interval, renewal));
        section.WakeAt(section.Now + interval);
        return renewal.Task;
    }

    internal void Resize(int min, int max, PoolSection<T> section)
    {
        ThrowIfClosed(section);
        DrainHot(section);
        (_min, _max) = (min, max);
        while (Live + Count(SlotState.Creating) > max && _idle.Oldest is { } slot)
        {
            DestroyIdle(slot, DestroyReason.Resized, section);
        }

        _isBeyond = Used > max;
        if (_isBeyond)
        {
            CloseHot(section); // what is returned must be counted, and destroyed
        }

        CompleteWarmings(section);
        Dispatch(section);
    }

    /// <summary>Grows to a number of resources.</summary>
    /// <returns>Ends when there are as many.</returns>
    internal Task WarmUp(int count, PoolSection<T> section)
    {
        ThrowIfClosed(section);
        if (count < 0 || count > _max)
        {
            throw new ArgumentOutOfRangeException(nameof(count), count, $"count is {count}; allowed is 0 to MaxSize ({_max}).");
        }

        if (Live >= count)
        {
            return Task.CompletedTask;
        }

        var warming = new Warming(count);
        (_warmings ??= []).Add(warming);
        _warmTarget = Math.Max(_warmTarget, count);
        Dispatch(section);
        return warming.Task;
    }

    private void CompleteWarmings(PoolSection<T> section)
    {
        if (_warmings is null)
        {
            return;
        }

        int live = Live;
        int max = _max;
        foreach (Warming warming in _warmings.Where(w => Math.Min(w.Count, max) <= live))
        {
            section.Then(() => warming.TrySetResult());
        }

        _warmings.RemoveAll(w => Math.Min(w.Count, max) <= live);
        _warmTarget = _warmings.Count == 0 ? 0 : _warmings.Max(static w => w.Count);
        _warmings = _warmings.Count == 0 ? null : _warmings;
    }

    /// <summary>Refuses rentals from now on and ends everything; may be called again.</summary>
    internal void Close(PoolSection<T> section)
    {
        if (_isClosed)
        {
            return;
        }

        _isClosed = true;
        CloseHot(section);
        while (_waiters.First is { } waiter)
        {
            Fail(waiter, WaiterFailure.Shutdown, null, section);
        }

        EndIdle(DestroyReason.Shutdown, section);
        EmptyBacklog(section);
        foreach (ResourceSlot<T> slot in _slots.Where(static s => s.State is SlotState.Creating or SlotState.Checking))
        {
            slot.DueAt = Math.Min(slot.DueAt, ResourceSettings.After(section.Now, _settings.PolicyTimeout));
            section.WakeAt(slot.DueAt);
            section.Then(slot.Stop);
        }

        if (_warmings is { } warmings)
        {
            _warmings = null;
            PoolReport report = section.ReportOf(this);
            section.Then(() => warmings.ForEach(w => w.TrySetException(new ResourcePoolShutdownException(report))));
        }

        EndRenewals(section);
        EndIfDone(section);
    }

    /// <summary>The pool was shut down: what no thread has begun is not wanted any more.</summary>
    private void EmptyBacklog(PoolSection<T> section)
    {
        while (_backlog.OldestServing is { } slot)
        {
            _backlog.Take(slot);
            if (slot.State == SlotState.Creating)
            {
                Release(slot, SlotState.Free, section);
            }
            else
            {
                Destroy(slot, DestroyReason.Shutdown, section);
            }
        }
    }

    /// <summary>After the shutdown: tells those who wait for the leases, and for the end.</summary>
    private void EndIfDone(PoolSection<T> section)
    {
        if (!_isClosed)
        {
            return;
        }

        if (Count(SlotState.Leased) == 0)
        {
            _drained.TrySetResult();
        }

        if (Used == 0 && !_ended.Task.IsCompleted)
        {
            section.Then(Core.FreeName);
            section.Then(() => _ended.TrySetResult());
        }
    }

    /// <summary>Ends all idle resources, without what follows from that.</summary>
    internal void EndIdle(DestroyReason why, PoolSection<T> section)
    {
        while (_idle.Oldest is { } slot)
        {
            DestroyIdle(slot, why, section);
        }
    }

    /// <summary>Forgets a key without a resource or a rental that waits or works, once the wait after a failure is over.</summary>
    internal void LeaveIfEmpty(PoolSection<T> section)
    {
        if (_group is not null)
        {
            LeaveGroupIfEmpty(section);
        }
    }

    private void LeaveGroupIfEmpty(PoolSection<T> section)
    {
        bool isEmpty = GroupIndex >= 0 && !IsRemoved && !_isClosed && Used == 0 && IsUnused;
        long until = _backoff.Until(isWaitedFor: false);
        if (isEmpty && section.Now < until)
        {
            section.WakeAt(until);
        }
        else if (isEmpty)
        {
            IsRemoved = true;
            _group!.Remove(this, section);
        }
    }

    /// <summary>Does what is due, and sets the timer for the rest.</summary>
    /// <param name="isLate">Whether the timer was late, or did not come at all.</param>
    /// <param name="section">The gate.</param>
    internal void DoHousekeeping(bool isLate, PoolSection<T> section)
    {
        DrainHot(section);
        ExpireWaiters(section);
        LookAtSlots(isLate, section);
        LookAtIdle(section);
        EndRenewals(section);
        Dispatch(section);
    }

    private void ExpireWaiters(PoolSection<T> section)
    {
        for (Waiter<T>? waiter = _waiters.First; waiter is not null;)
        {
            Waiter<T>? next = waiter.Links.Newer;
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
                else if (isLate && !slot.HasGrace)
                {
                    // The answer may be there and wait for a thread, as the timer did.
                    slot.HasGrace = true;
                    slot.DueAt = section.Now + GracePeriod;
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
        if (slot.IsReported || due == ResourceSettings.NoLimit)
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
        section.Then(() => Core.ReportOverdue(id, age, site));
    }

    /// <summary>An operation took too long: its place is free, and what it still brings is destroyed.</summary>
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
            TimeoutException failure = TookTooLong();
            section.Then(() => _settings.Meter.CreateFailed(Core.Series, failure));
            FailCreation(failure, false, slot.Attempt, null, isByRenter, section);
        }
    }

    private void LookAtIdle(PoolSection<T> section)
    {
        int keepers = Count(SlotState.Checking);
        for (ResourceSlot<T>? slot = _idle.Oldest; slot is not null;)
        {
            ResourceSlot<T>? newer = slot.Links.Newer;
            long keepAlive = KeepAliveDue(slot);
            if (section.Now >= slot.ExpiresAt)
            {
                DestroyIdle(slot, DestroyReason.Lifetime, section);
            }
            else if (section.Now >= ResourceSettings.After(slot.LastUsed, _settings.IdleTimeout)
                && Live > _min && _idle.Count > _settings.MinIdle)
            {
                DestroyIdle(slot, DestroyReason.Idle, section);
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
                WakeForIdle(slot, keepAlive, section);
            }

            slot = newer;
        }
    }

    /// <summary>When to keep an idle resource alive: soon where that completes its reset.</summary>
    private long KeepAliveDue(ResourceSlot<T> slot) =>
        ResourceSettings.After(slot.KeptAlive, _settings.KeepAliveAfter(slot.HasResetPending));

    /// <summary>
    /// Sets when to look at an idle resource again; one that is kept only for the smallest size is due after another idle timeout.
    /// </summary>
    private void WakeForIdle(ResourceSlot<T> slot, long keepAlive, PoolSection<T> section)
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

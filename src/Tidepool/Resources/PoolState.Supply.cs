namespace Tidepool;

/// <summary>Decides where resources come from and go: what is created, checked or destroyed, and for which rental.</summary>
internal sealed partial class PoolState<T>
{
    /// <summary>
    /// Whatever changed, this is what follows: idle resources are checked for those who wait, and creations begin. Under the gate, at the
    /// end of every decision that frees or adds something.
    /// </summary>
    internal void Pump(PoolSection<T> section)
    {
        if (_isClosed)
        {
            EndIfDone(section);
            return;
        }

        while (_idle.Count > 0 && _waiters.Count > InFlight && Next() is { } slot)
        {
            Unlist(slot);
            if (section.Now >= slot.ExpiresAt)
            {
                Destroy(slot, DestroyReason.Lifetime, section);
            }
            else
            {
                BeginCheck(slot, _waiters.After(InFlight)!, section);
            }
        }

        if (_group is not null)
        {
            AskGroup(section);
            _group.Offer(section);
        }
        else
        {
            while (WantsCreation(section))
            {
                BeginCreation(section);
            }
        }

        LetParkedHelp(section);
        LeaveIfEmpty(section);
    }

    /// <summary>Stands in the line of keys that want a place, if this one does.</summary>
    private void AskGroup(PoolSection<T> section)
    {
        if (WantsCreation(section))
        {
            _group!.Block(this);
        }
    }

    /// <summary>Whether a creation shall begin now, the group's limit apart. Asks for the timer when it shall begin later.</summary>
    internal bool WantsCreation(PoolSection<T> section)
    {
        int wanted = _waiters.Count + _settings.MinIdle - InFlight - _idle.Count;
        bool isWanted = wanted > 0 || Live + Count(SlotState.Creating) < Math.Min(Math.Max(_min, _warmTarget), _max);
        if (!isWanted || _isClosed || Used >= _max || Count(SlotState.Creating) >= _settings.MaxCreateConcurrency)
        {
            return false;
        }

        long notBefore = _backoff.Until(isWaitedFor: _waiters.Count > InFlight || _warmings is not null);
        if (section.Now < notBefore)
        {
            section.WakeAt(notBefore);
            return false;
        }

        return !_backoff.IsProbing || Count(SlotState.Creating) == 0;
    }

    /// <summary>Whether a caller waits for which nothing is under way. Only then may another key's idle resource go for it.</summary>
    internal bool IsShort => _waiters.Count > InFlight + _steals + _idle.Count;

    /// <summary>Whether more is under way than is waited for, so that what has not begun is as good as idle.</summary>
    internal bool HasSurplus => InFlight > _waiters.Count + _atWork;

    internal void CountSteal(ResourceSlot<T> slot)
    {
        Core.Gate.AssertHeld();
        slot.ForWhom = this;
        _steals++;
    }

    internal void BeginCreation(PoolSection<T> section)
    {
        Waiter<T>? waiter = _waiters.After(InFlight);
        ResourceSlot<T> slot = Reserve();
        if (waiter is { IsSync: true })
        {
            BeginByRenter(slot, section);
            LetWork(waiter, slot, section);
        }
        else
        {
            Start(slot, SlotWork.Create, section);
        }
    }

    private void BeginCheck(ResourceSlot<T> slot, Waiter<T> waiter, PoolSection<T> section)
    {
        Move(slot, SlotState.Checking);
        if (waiter.IsSync)
        {
            BeginByRenter(slot, section);
            LetWork(waiter, slot, section);
        }
        else
        {
            Start(slot, SlotWork.Check, section);
        }
    }

    /// <summary>Ends a resource; its place comes free when the policy has done so. The slot is in no list.</summary>
    internal void Destroy(ResourceSlot<T> slot, DestroyReason why, PoolSection<T> section)
    {
        EndByRenter(slot);
        Move(slot, SlotState.Destroying);
        slot.Why = why;
        slot.Site = null;
        _destroyed[(int)why]++;
        Start(slot, SlotWork.Destroy, section);
    }

    /// <summary>A keyed pool needs this key's place more.</summary>
    internal void Yield(ResourceSlot<T> slot, DestroyReason why, PoolSection<T> section)
    {
        Unlist(slot);
        Destroy(slot, why, section);
    }

    /// <summary>Gives up a slot whose work no thread has begun, because a keyed pool needs its place more.</summary>
    /// <returns>Whether its place is free already: it was a creation.</returns>
    internal bool YieldUnbegun(ResourceSlot<T> slot, PoolSection<T> section)
    {
        _backlog.Take(slot);
        if (slot.State != SlotState.Creating)
        {
            Destroy(slot, DestroyReason.Stolen, section);
            LetParkedWork(section);
            return false;
        }

        Release(slot, SlotState.Free, section);
        LeaveIfEmpty(section);
        return true;
    }

    internal bool NeedsValidation(ResourceSlot<T> slot, long now) => now >= ResourceSettings.After(slot.CheckedAt, _validateAfterIdle);

    /// <summary>Why a resource that is good for its policy must not serve any more, or null.</summary>
    private DestroyReason? Verdict(ResourceSlot<T> slot, PoolSection<T> section) =>
        _isClosed ? DestroyReason.Shutdown
        : slot.Generation != _generation ? DestroyReason.Cleared
        : section.Now >= slot.ExpiresAt ? DestroyReason.Lifetime
        : Live > _max ? DestroyReason.Resized
        : null;

    /// <summary>
    /// Gives a good resource, which is in no list and counted in its state, to the first in the queue, or puts it on the idle list.
    /// </summary>
    private void Supply(ResourceSlot<T> slot, PoolSection<T> section)
    {
        if (Verdict(slot, section) is { } why)
        {
            Destroy(slot, why, section);
            return;
        }

        EndByRenter(slot);
        slot.DueAt = ResourceSettings.Forever;
        if (!slot.IsDirty && _waiters.First is { } waiter)
        {
            if (slot.Uses > 0 && _group?.FindPassedOver(waiter) is { } other)
            {
                other.CountSteal(slot);
                Destroy(slot, DestroyReason.Stolen, section);
            }
            else
            {
                Give(waiter, slot, section);
            }

            return;
        }

        Move(slot, SlotState.Idle);
        long freshUntil = ResourceSettings.After(slot.CheckedAt, _validateAfterIdle);
        slot.FreshUntil = slot.IsDirty ? long.MinValue : Math.Min(slot.ExpiresAt, freshUntil);
        _idle.Add(slot);
        _group?.AddIdle(slot);
        long due = Math.Min(slot.ExpiresAt, ResourceSettings.After(slot.LastUsed, _settings.IdleTimeout));
        section.WakeAt(Math.Min(due, ResourceSettings.After(slot.KeptAlive, _settings.KeepAliveInterval)));
    }

    private void Accept(ResourceSlot<T> slot, T resource, DateTimeOffset created, PoolSection<T> section)
    {
        _created++;
        _lastError = null;
        _backoff.End();
        slot.Resource = resource;
        slot.Id = ++_ids;
        slot.CreatedAt = created;
        slot.Uses = 0;
        slot.LastUsed = slot.CheckedAt = slot.KeptAlive = section.Now;
        long lifetime = _settings.MaxLifetime;
        slot.ExpiresAt = lifetime == ResourceSettings.Forever
            ? ResourceSettings.Forever
            : section.Now + Math.Max(1, lifetime - (long)(lifetime * _settings.LifetimeJitter * _settings.Draw()));
        if (slot.State == SlotState.Creating)
        {
            Move(slot, SlotState.Checking); // until it is supplied, in this section
        }
    }

    /// <summary>Notes a failed creation: one renter may learn of it, and the next attempt waits.</summary>
    /// <param name="failure">What happened.</param>
    /// <param name="isLasting">Whether the next attempt will fail in the same way.</param>
    /// <param name="attempt">The slot's number of the attempt.</param>
    /// <param name="renter">The rental whose own thread tried, which learns of it instead of the first one.</param>
    /// <param name="isByRenter">Whether there is such a rental; one whose thread still hangs in the creation is told later.</param>
    /// <param name="section">The gate.</param>
    private void FailCreation(Exception failure, bool isLasting, int attempt, Waiter<T>? renter, bool isByRenter, PoolSection<T> section)
    {
        _createFailures++;
        _lastError = failure;
        _backoff.Fail(_settings, attempt, isLasting, section.Now, _settings.Draw());
        Waiter<T>? first = _waiters.First;
        if ((isByRenter || first is not null) && _backoff.TryTell(_settings, attempt, section.Now))
        {
            FailOwn(renter, failure, section);
            if (!isByRenter)
            {
                Fail(first!, WaiterFailure.CreateFailed, failure, section);
            }
        }

        if (isLasting)
        {
            // As many as there are places would have been created for.
            for (int places = Math.Min(_waiters.Count - InFlight, _max - Used - 1); places > 0 && _waiters.First is { } next; places--)
            {
                Fail(next, WaiterFailure.CreateFailed, failure, section);
            }
        }

        if (_warmings is { } warmings)
        {
            _warmings = null;
            _warmTarget = 0;
            PoolReport report = section.ReportOf(this);
            section.Then(() => warmings.ForEach(w => w.Fail(new ResourceCreateException(report, failure))));
        }
    }

    /// <summary>
    /// Whether no creation will begin soon for the rental that was queued last, because the last one failed for a reason that lasts.
    /// </summary>
    private bool IsHopeless(PoolSection<T> section) =>
        _backoff.IsLasting && section.Now < _backoff.Until(isWaitedFor: true)
        && _waiters.Count > InFlight && _waiters.Count - InFlight <= _max - Used;

    private void FailOwn(Waiter<T>? renter, Exception? failure, PoolSection<T> section)
    {
        if (renter is { State: WaiterState.Working })
        {
            Fail(renter, WaiterFailure.CreateFailed, failure, section);
        }
    }

    private TimeoutException TookTooLong() => new($"The creation took longer than CreateTimeout = {_settings.CreateTimeout} ms.");
}

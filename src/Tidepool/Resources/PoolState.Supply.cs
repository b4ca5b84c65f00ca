using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Decides where resources come from and go: what is created, checked or destroyed, and for which rental.</summary>
internal sealed partial class PoolState<T>
{
    /// <summary>Starts checks and creations for waiting callers.</summary>
    /// <remarks>Call it at the end of every decision that frees or adds something.</remarks>
    internal void Dispatch(PoolSection<T> section)
    {
        if (_isClosed)
        {
            EndIfDone(section);
            return;
        }

        while (_idle.Count > 0 && Unserved > 0 && Next() is { } slot)
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
            RequestPlace(section);
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

    /// <summary>Queues this key for a place of the group, if it needs one.</summary>
    private void RequestPlace(PoolSection<T> section)
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

        long notBefore = _backoff.Until(isWaitedFor: Unserved > 0 || _warmings is not null);
        if (section.Now < notBefore)
        {
            section.WakeAt(notBefore);
            return false;
        }

        return !_backoff.IsProbing || Count(SlotState.Creating) == 0;
    }

    /// <summary>The callers for whom no check or creation is under way; below 0 when there is more work than callers.</summary>
    private int Unserved => _waiters.Count - InFlight;

    /// <summary>
    /// Whether a caller waits that neither work under way, nor a place that another key gives up, nor an idle resource will serve. Only
    /// then is an idle resource of another key destroyed for this one.
    /// </summary>
    internal bool IsShort => Unserved > _steals + _idle.Count;

    /// <summary>Whether more operations are under way than callers need, so that those not started may be given up.</summary>
    internal bool HasSurplus => InFlight > _waiters.Count + _atWork;

    internal void CountSteal(ResourceSlot<T> slot)
    {
        Core.Gate.AssertHeld();
        slot.StolenBy = this;
        _steals++;
    }

    internal void BeginCreation(PoolSection<T> section)
    {
        Waiter<T>? waiter = _waiters.After(InFlight);
        ResourceSlot<T> slot = Reserve();
        Assign(waiter, slot, SlotWork.Create, section);
    }

    private void BeginCheck(ResourceSlot<T> slot, Waiter<T> waiter, PoolSection<T> section)
    {
        Move(slot, SlotState.Checking);
        Assign(waiter, slot, SlotWork.Check, section);
    }

    /// <summary>Gives work to the thread of the caller that it is for, if that one is parked; else to the thread pool.</summary>
    private void Assign(Waiter<T>? waiter, ResourceSlot<T> slot, SlotWork kind, PoolSection<T> section)
    {
        slot.Asker = waiter?.Span;
        if (waiter is { IsSync: true })
        {
            BeginByRenter(slot, section);
            LetWork(waiter, slot, section);
        }
        else
        {
            Start(slot, kind, section);
        }
    }

    /// <summary>Starts the destruction of a resource, which is in no list. Its place is free when the policy has finished.</summary>
    internal void Destroy(ResourceSlot<T> slot, DestroyReason why, PoolSection<T> section)
    {
        EndByRenter(slot);
        Move(slot, SlotState.Destroying);
        slot.Reason = why;
        slot.Site = null;
        _destroyed[(int)why]++;
        Start(slot, SlotWork.Destroy, section);
    }

    /// <summary>Takes an idle resource off its lists and destroys it.</summary>
    internal void DestroyIdle(ResourceSlot<T> slot, DestroyReason why, PoolSection<T> section)
    {
        Unlist(slot);
        Destroy(slot, why, section);
    }

    /// <summary>Gives up a slot whose work no thread has begun, because a keyed pool needs its place more.</summary>
    /// <returns>Whether its place is free already: it was a creation.</returns>
    internal bool GiveUpUnbegun(ResourceSlot<T> slot, PoolSection<T> section)
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

    /// <summary>Why the pool must destroy a resource that the policy accepts, or null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private DestroyReason? FindDestroyReason(ResourceSlot<T> slot, PoolSection<T> section) =>
        _isClosed ? DestroyReason.Shutdown
        : slot.Generation != _generation ? DestroyReason.Cleared
        : section.Now >= slot.ExpiresAt ? DestroyReason.Lifetime
        : Live > _max ? DestroyReason.Resized
        : null;

    /// <summary>Decides who gets a good resource: the caller that has waited longest, or the idle list.</summary>
    /// <remarks>
    /// The slot is in no list, and is counted in its state. A resource that goes back into an open hot slot does not come here
    /// (<see cref="ResourceCore{T}.TryPutHot"/>): no caller waits then. What has expired or was cleared is destroyed, a caller of another
    /// key that was passed over often gets the place of one, and one that must be reset first becomes idle even where a caller waits.
    /// </remarks>
    private void GiveOrKeep(ResourceSlot<T> slot, PoolSection<T> section)
    {
        if (FindDestroyReason(slot, section) is { } why)
        {
            Destroy(slot, why, section);
            return;
        }

        EndByRenter(slot);
        slot.DueAt = ResourceSettings.NoLimit;
        if (!slot.IsDirty && _waiters.First is { } waiter)
        {
            if (slot.Uses > 0 && _group?.FindPassedOver(waiter) is { } other)
            {
                // A caller of another key has waited longer and was passed over often: it gets the place. A resource that no caller has
                // used yet always serves its own key.
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
        section.WakeAt(Math.Min(due, KeepAliveDue(slot)));
    }

    private void Accept(ResourceSlot<T> slot, T resource, DateTimeOffset created, PoolSection<T> section)
    {
        _created++;
        ReportRecovery(section);
        _lastError = null;
        _backoff.End();
        slot.Resource = resource;
        slot.Id = ++_ids;
        slot.CreatedAt = created;
        slot.Uses = 0;
        slot.HasResetPending = false;
        slot.LastUsed = slot.CheckedAt = slot.KeptAlive = section.Now;
        long lifetime = _settings.MaxLifetime;
        slot.ExpiresAt = lifetime == ResourceSettings.NoLimit
            ? ResourceSettings.NoLimit
            : section.Now + Math.Max(1, lifetime - (long)(lifetime * _settings.LifetimeJitter * _settings.NextRandom()));
        if (slot.State == SlotState.Creating)
        {
            Move(slot, SlotState.Checking); // until it is supplied, in this section
        }
    }

    /// <summary>Notes a failed creation: one caller may be told, and the next attempt waits.</summary>
    /// <param name="failure">What happened.</param>
    /// <param name="isPermanent">Whether the next attempt will fail in the same way.</param>
    /// <param name="attempt">The slot's number of the attempt.</param>
    /// <param name="renter">The caller whose own thread tried, if it can be told now: it is told instead of the first in the queue.</param>
    /// <param name="isByRenter">Whether a caller's thread tried. While it is still inside the creation, renter is null.</param>
    /// <param name="section">The gate.</param>
    private void FailCreation(Exception failure, bool isPermanent, int attempt, Waiter<T>? renter, bool isByRenter, PoolSection<T> section)
    {
        _createFailures++;
        _lastError = failure;
        bool isFirst = !_backoff.IsProbing;
        _backoff.Fail(_settings, attempt, isPermanent, section.Now, _settings.NextRandom());
        ReportFailure(failure, isFirst, section);
        Waiter<T>? first = _waiters.First;
        if ((isByRenter || first is not null) && _backoff.TryReport(_settings, attempt, section.Now))
        {
            if (isByRenter)
            {
                FailOwn(renter, failure, section);
            }
            else
            {
                Fail(first!, WaiterFailure.CreateFailed, failure, section);
            }
        }

        if (isPermanent)
        {
            // The next attempts would fail alike: they would have been made for as many callers as there are places.
            for (int places = Math.Min(Unserved, _max - Used - 1); places > 0 && _waiters.First is { } next; places--)
            {
                Fail(next, WaiterFailure.CreateFailed, failure, section);
            }
        }

        if (_warmings is { } warmings)
        {
            _warmings = null;
            _warmTarget = 0;
            PoolReport report = section.ReportOf(this);
            section.Then(() => warmings.ForEach(w => w.TrySetException(new ResourceCreateException(report, failure))));
        }
    }

    /// <summary>
    /// Whether no creation will begin soon for the rental that was queued last, because the last one failed for a reason that lasts.
    /// </summary>
    private bool IsHopeless(PoolSection<T> section) =>
        _backoff.IsPermanent && section.Now < _backoff.Until(isWaitedFor: true)
        && Unserved > 0 && Unserved <= _max - Used;

    private void FailOwn(Waiter<T>? renter, Exception? failure, PoolSection<T> section)
    {
        if (renter is { State: WaiterState.Working })
        {
            Fail(renter, WaiterFailure.CreateFailed, failure, section);
        }
    }

    private TimeoutException TookTooLong() => new($"The creation took longer than CreateTimeout = {_settings.CreateTimeout} ms.");
}

using System.Diagnostics;

namespace Tidepool;

/// <summary>Where resources come from: who gets one, what must be created or checked for those who wait, and how they end.</summary>
internal sealed partial class ResourceCore<T>
{
    private List<Warming>? _warmings;

    /// <summary>
    /// Whatever changed, this is what follows: idle resources are checked for those who wait, and creations begin. Under the gate, at the end
    /// of every section that frees or adds something.
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

    /// <summary>Stands in the line of keys that want a place, if this one does. Under the gate.</summary>
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

    /// <summary>Whether somebody waits for whom nothing is under way: only then may another key's idle resource be ended for it.</summary>
    internal bool IsShort => _waiters.Count > InFlight + _steals + _idle.Count;

    /// <summary>Whether more is under way than is waited for, so that what has not begun is as good as idle.</summary>
    internal bool HasSurplus => InFlight > _waiters.Count + _atWork;

    internal void CountSteal(ResourceSlot<T> slot)
    {
        Gate.AssertHeld();
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

    /// <summary>Ends a resource; its place comes free when the policy has done so. The slot is in no list. Under the gate.</summary>
    internal void Destroy(ResourceSlot<T> slot, DestroyReason why, PoolSection<T> section)
    {
        EndByRenter(slot);
        Move(slot, SlotState.Destroying);
        slot.Why = why;
        slot.Site = null;
        _destroyed[(int)why]++;
        Start(slot, SlotWork.Destroy, section);
    }

    /// <summary>A keyed pool needs this key's place more. Under the gate.</summary>
    internal void Yield(ResourceSlot<T> slot, DestroyReason why, PoolSection<T> section)
    {
        Unlist(slot);
        Destroy(slot, why, section);
    }

    /// <summary>The same for a slot whose work no thread has begun. Under the gate.</summary>
    /// <returns>Whether its place is free already: it was a creation.</returns>
    internal bool YieldUnbegun(ResourceSlot<T> slot, PoolSection<T> section)
    {
        Take(slot);
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

    private bool NeedsValidation(ResourceSlot<T> slot, long now) => now >= ResourceSettings.After(slot.CheckedAt, _validateAfterIdle);

    /// <summary>Why a resource that is good for its policy must not serve any more, or null. Under the gate.</summary>
    private DestroyReason? Verdict(ResourceSlot<T> slot, PoolSection<T> section) =>
        _isClosed ? DestroyReason.Shutdown
        : slot.Generation != _generation ? DestroyReason.Cleared
        : section.Now >= slot.ExpiresAt ? DestroyReason.Lifetime
        : Live > _max ? DestroyReason.Resized
        : null;

    /// <summary>Gives a good resource, which is in no list and counted in its state, to whoever is first, or lays it idle. Under the gate.</summary>
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
        slot.FreshUntil = slot.IsDirty ? long.MinValue : Math.Min(slot.ExpiresAt, ResourceSettings.After(slot.CheckedAt, _validateAfterIdle));
        _idle.Add(slot);
        _group?.AddIdle(slot);
        long due = Math.Min(slot.ExpiresAt, ResourceSettings.After(slot.LastUsed, _settings.IdleTimeout));
        section.WakeAt(Math.Min(due, ResourceSettings.After(slot.KeptAlive, _settings.KeepAliveInterval)));
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

    private async Task CreateAsync(ResourceSlot<T> slot)
    {
        T? resource = null;
        Exception? failure = null;
        long start = Stopwatch.GetTimestamp();
        try
        {
            resource = await _policy.CreateAsync(slot.Stopping).ConfigureAwait(false) ?? throw Null(nameof(ResourcePolicy<>.CreateAsync));
        }
        catch (Exception e)
        {
            failure = e;
        }

        FinishCreate(slot, resource, failure, start, null);
    }

    private static InvalidOperationException Null(string method) => new($"{method} of the policy returned null.");

    private void FinishCreate(ResourceSlot<T> slot, T? resource, Exception? failure, long start, Waiter<T>? renter)
    {
        DateTimeOffset created = Clock.Provider.GetUtcNow();
        bool isLate;
        bool isFailure = false;
        bool isLasting = failure is not null && IsLasting(failure);
        using (PoolSection<T> section = Gate.Enter("created"))
        {
            isLate = slot.State == SlotState.Abandoned;
            if (isLate)
            {
                failure = new TimeoutException($"The creation took longer than CreateTimeout = {_settings.CreateTimeout} ms.");
                if (resource is not null)
                {
                    _created++;
                    _destroyed[(int)DestroyReason.Abandoned]++;
                }

                FailOwn(renter, failure, section);
            }
            else if (resource is not null)
            {
                Accept(slot, resource, created, section);
                EndByRenter(slot);
                Requeue(renter, section);
                Supply(slot, section);
                CompleteWarmings(section);
            }
            else
            {
                bool gaveUp = renter is not null && IsOver(renter, failure!, slot, section);
                EndByRenter(slot);
                Release(slot, SlotState.Free, section);
                bool isUnsupported = renter is not null && failure is NotSupportedException;
                isFailure = !gaveUp && !_isClosed && !isUnsupported;
                if (isFailure)
                {
                    FailCreation(failure!, isLasting, slot.Attempt, renter, renter is not null, section);
                }
                else if (isUnsupported)
                {
                    FailOwn(renter, failure, section);
                }

                Requeue(renter, section);
            }

            Pump(section);
        }

        if (isFailure)
        {
            _meter.CreateFailed(Name, failure!);
        }
        else if (resource is not null)
        {
            _meter.Created(Name, start);
            EndLate(slot, isLate ? resource : null);
        }
    }

    /// <summary>Whether a creation ended because the renter, whose thread made it, does not wait any more.</summary>
    private static bool IsOver(Waiter<T> renter, Exception failure, ResourceSlot<T> slot, PoolSection<T> section) =>
        failure is OperationCanceledException && !slot.IsStopped && (renter.Cancellation.IsCancellationRequested || section.Now >= renter.Deadline);

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
            : section.Now + Math.Max(1, lifetime - (long)(lifetime * _settings.LifetimeJitter * _draw()));
        if (slot.State == SlotState.Creating)
        {
            Move(slot, SlotState.Checking); // until it is supplied, in this section
        }
    }

    /// <summary>Notes a failed creation: one renter may learn of it, and the next attempt waits. Under the gate.</summary>
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
        _backoff.Fail(_settings, attempt, isLasting, section.Now, _draw());
        if (_group is not null)
        {
            section.WakeAt(_backoff.Until(isWaitedFor: false)); // a key without callers is forgotten then
        }

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

    /// <summary>Whether no creation will begin soon for the rental that was queued last, because the last one failed for a reason that lasts. Under the gate.</summary>
    private bool IsHopeless(PoolSection<T> section) =>
        _backoff.IsLasting && section.Now < _backoff.Until(isWaitedFor: true) && _waiters.Count > InFlight && _waiters.Count - InFlight <= _max - Used;

    private bool IsLasting(Exception failure)
    {
        try
        {
            return _policy.IsLasting(failure);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("IsLasting", e.ToString(), Name, Key);
            return false;
        }
    }

    private void FailOwn(Waiter<T>? renter, Exception? failure, PoolSection<T> section)
    {
        if (renter is { State: WaiterState.Working })
        {
            Fail(renter, WaiterFailure.CreateFailed, failure, section);
        }
    }

    private async Task CheckAsync(ResourceSlot<T> slot)
    {
        T resource = slot.Resource!;
        DestroyReason? why = IsBroken(resource) ? DestroyReason.Broken : null;
        bool isValidated = false;
        try
        {
            if (why is null && NeedsValidation(slot, Clock.Now) && !await AskPolicy(slot, resets: false).ConfigureAwait(false))
            {
                why = DestroyReason.ValidationFailed;
            }

            isValidated = true;
            if (why is null && slot.IsDirty && !await AskPolicy(slot, resets: true).ConfigureAwait(false))
            {
                why = DestroyReason.ResetFailed;
            }
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed(isValidated ? "ResetAsync" : "ValidateAsync", e.ToString(), Name, Key);
            why = isValidated ? DestroyReason.ResetFailed : DestroyReason.ValidationFailed;
        }

        FinishCheck(slot, why);
    }

    /// <summary>The policy's asynchronous look at a resource, or its reset; perhaps on a renter's thread.</summary>
    private ValueTask<bool> AskPolicy(ResourceSlot<T> slot, bool resets)
    {
        slot.BeginCall();
        try
        {
            return resets ? _policy.ResetAsync(slot.Resource!, slot.Stopping) : _policy.ValidateAsync(slot.Resource!, slot.Stopping);
        }
        finally
        {
            slot.EndCall();
        }
    }

    private async Task KeepAliveAsync(ResourceSlot<T> slot)
    {
        DestroyReason? why = null;
        try
        {
            await _policy.KeepAliveAsync(slot.Resource!, slot.Stopping).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("KeepAliveAsync", e.ToString(), Name, Key);
            why = DestroyReason.KeepAliveFailed;
        }

        FinishCheck(slot, why, keepsDirt: true);
    }

    /// <summary>The answer to a check: the resource serves whoever is first, or ends and something else is tried.</summary>
    private void FinishCheck(ResourceSlot<T> slot, DestroyReason? why, Waiter<T>? renter = null, bool keepsDirt = false)
    {
        T? late = null;
        using (PoolSection<T> section = Gate.Enter("checked"))
        {
            if (slot.State == SlotState.Abandoned)
            {
                late = slot.Resource;
            }
            else
            {
                EndByRenter(slot);
                slot.CheckedAt = slot.KeptAlive = section.Now;
                slot.IsDirty &= keepsDirt;
                Requeue(renter, section);
                if (why is { } reason)
                {
                    Destroy(slot, reason, section);
                }
                else
                {
                    Supply(slot, section);
                }

                if (_holdsKeepAlive)
                {
                    _holdsKeepAlive = false;
                    section.WakeAt(section.Now);
                }
            }

            Requeue(renter, section);
            Pump(section);
        }

        EndLate(slot, late);
    }

    /// <summary>Ends what an operation has left whose place was given up meanwhile.</summary>
    private void EndLate(ResourceSlot<T> slot, T? late)
    {
        if (late is not null)
        {
            _ = DestroyAsync(slot, late, DestroyReason.Abandoned);
        }
    }

    private Task DestroyAsync(ResourceSlot<T> slot, T resource, DestroyReason why) =>
        FinishDestroyAsync(slot, BeginDestroy(resource, why), why, null);

    private ValueTask BeginDestroy(T resource, DestroyReason why)
    {
        try
        {
            return _policy.DestroyAsync(resource, why);
        }
        catch (Exception e)
        {
            return ValueTask.FromException(e);
        }
    }

    /// <summary>Waits for the policy, then frees the place.</summary>
    /// <param name="slot">The slot.</param>
    /// <param name="destruction">What the policy does.</param>
    /// <param name="why">Why it was to go.</param>
    /// <param name="worker">The rental whose parked thread did it, perhaps for another key; only where the policy is done already.</param>
    private async Task FinishDestroyAsync(ResourceSlot<T> slot, ValueTask destruction, DestroyReason why, Waiter<T>? worker)
    {
        Exception? failure = null;
        try
        {
            await destruction.ConfigureAwait(false);
        }
        catch (Exception e)
        {
            failure = e;
            TidepoolEventSource.Log.PolicyFailed("DestroyAsync", e.ToString(), Name, Key);
        }

        _meter.Destroyed(Name, why);
        using PoolSection<T> section = Gate.Enter("destroyed");
        _destroyFailures += failure is null ? 0 : 1;

        // Back in its line before the place comes free: so the place is for whoever has waited for longest, the worker among them.
        worker?.Core.Requeue(worker, section);
        if (slot.State == SlotState.Destroying)
        {
            Release(slot, SlotState.Free, section);
        }

        if (worker is not null && worker.Core != this)
        {
            worker.Core.AskGroup(section);
        }

        Pump(section);
        if (worker is not null && worker.Core != this)
        {
            worker.Core.Pump(section);
        }
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
            section.Then(warming.Complete);
        }

        _warmings.RemoveAll(w => Math.Min(w.Count, max) <= live);
        _warmTarget = _warmings.Count == 0 ? 0 : _warmings.Max(static w => w.Count);
        _warmings = _warmings.Count == 0 ? null : _warmings;
    }
}

namespace Tidepool;

/// <summary>What the owner of a pool changes: clear, renew, resize, warm up, shut down.</summary>
internal sealed partial class ResourceCore<T>
{
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal Task ClearAsync() => Clear(only: null)!;

    /// <summary>The generation of what is created now; each clear begins another one.</summary>
    internal int Generation => Volatile.Read(ref _generation);

    /// <summary>Clears, unless the pool has been cleared since this generation, or was shut down: of many that report the same fault one clears.</summary>
    internal void ClearOnce(int generation) => Clear(generation);

    private Task? Clear(int? only)
    {
        Task done;
        using PoolSection<T> section = Gate.Enter("clear");
        if (only is { } generation && (_isClosed || generation != _generation))
        {
            return null;
        }

        ThrowIfClosed(section);
        if (only is null)
        {
            EndBackoff();
        }

        DrainHot(section);
        Volatile.Write(ref _generation, _generation + 1);
        var clearing = new Clearing();
        while (_idle.Oldest is { } slot)
        {
            clearing.Left++;
            slot.Clearing = clearing;
            Yield(slot, DestroyReason.Cleared, section);
        }

        ClearBacklog(clearing, section);
        if (clearing.Left == 0)
        {
            clearing.Complete();
        }

        done = clearing.Task;
        Pump(section);
        return done;
    }

    /// <summary>Lets the next creation begin at once, whatever has failed before. Under the gate.</summary>
    private void EndBackoff()
    {
        Gate.AssertHeld();
        _backoff.End();
        _lastError = null;
    }

    internal Task RenewAsync(TimeSpan over)
    {
        long interval = ResourceSettings.Milliseconds(over, nameof(over), 1);
        if (interval == ResourceSettings.Forever)
        {
            throw new ArgumentOutOfRangeException(nameof(over), over, "The interval of a renewal is finite.");
        }

        Task done;
        using PoolSection<T> section = Gate.Enter();
        ThrowIfClosed(section);
        SettleHot(section);
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
        done = renewal.Task;
        return done;
    }

    internal void Resize(int min, int max)
    {
        ResourceSettings.CheckSizes(min, max, nameof(min), nameof(max));
        if (_settings.MinIdle > max)
        {
            throw new ArgumentOutOfRangeException(nameof(max), max, $"max is {max}; it may not be below MinIdle ({_settings.MinIdle}).");
        }

        using PoolSection<T> section = Gate.Enter("resize");
        ThrowIfClosed(section);
        DrainHot(section);
        (_min, _max) = (min, max);
        while (Live + Count(SlotState.Creating) > max && _idle.Oldest is { } slot)
        {
            Yield(slot, DestroyReason.Resized, section);
        }

        _isBeyond = Used > max;
        CompleteWarmings(section);
        Pump(section);
    }

    internal Task WarmUpAsync(int count, CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return Task.FromCanceled(cancellation);
        }

        Warming warming;
        using (PoolSection<T> section = Gate.Enter())
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

            warming = new Warming(count);
            (_warmings ??= []).Add(warming);
            _warmTarget = Math.Max(_warmTarget, count);
            Pump(section);
        }

        return cancellation.CanBeCanceled ? warming.Task.WaitAsync(cancellation) : warming.Task;
    }

    /// <summary>Refuses rentals from now on and ends everything; may be called again.</summary>
    /// <param name="drained">Ends when no lease is out.</param>
    /// <param name="ended">Ends when no resource lives and no timer runs.</param>
    internal void Close(out Task drained, out Task ended)
    {
        drained = _drained.Task;
        ended = _ended.Task;
        using PoolSection<T> section = Gate.Enter("close");
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

        while (_idle.Oldest is { } slot)
        {
            Yield(slot, DestroyReason.Shutdown, section);
        }

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
            section.Then(() => warmings.ForEach(w => w.Fail(new ResourcePoolShutdownException(report))));
        }

        EndRenewals(section);
        EndIfDone(section);
    }

    /// <summary>Shuts down and waits: for leases as long as the grace, then for what ends without them.</summary>
    internal async Task<bool> ShutdownAsync(TimeSpan grace)
    {
        Close(out Task drained, out Task ended);
        if (!await IsDoneWithin(drained, grace, Clock.Provider).ConfigureAwait(false))
        {
            return false;
        }

        await ended.ConfigureAwait(false);
        return true;
    }

    internal static async Task<bool> IsDoneWithin(Task task, TimeSpan time, TimeProvider provider)
    {
        if (!task.IsCompleted && time != TimeSpan.Zero)
        {
            using var over = new CancellationTokenSource();
            await Task.WhenAny(task, Task.Delay(time, provider, over.Token)).ConfigureAwait(false);
            await over.CancelAsync().ConfigureAwait(false);
        }

        return task.IsCompleted;
    }

    /// <summary>After the shutdown: tells those who wait for the leases, and for the end. Under the gate.</summary>
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
            if (_group is null)
            {
                section.Then(Timer.Dispose);
                section.Then(PoolName.Free);
            }

            section.Then(() => _ended.TrySetResult());
        }
    }

    /// <summary>Another key needs this one's place among the keys: its idle resources end, and then it is forgotten. Under the gate.</summary>
    internal void GiveUp(PoolSection<T> section)
    {
        while (_idle.Oldest is { } slot)
        {
            Yield(slot, DestroyReason.Stolen, section);
        }
    }

    /// <summary>Forgets a key without a resource, a rental that waits or works, or a failure to wait out. Under the gate.</summary>
    private void LeaveIfEmpty(PoolSection<T> section)
    {
        if (GroupIndex >= 0 && !IsRemoved && !_isClosed && Used == 0 && IsUnused && section.Now >= _backoff.Until(isWaitedFor: false))
        {
            IsRemoved = true;
            _group!.Forget(this, section);
        }
    }

    /// <summary>A rental was over before it had begun: the key may have been made for it alone.</summary>
    private void LeaveIfUnused()
    {
        if (_group is null)
        {
            return;
        }

        using PoolSection<T> section = Gate.Enter();
        LeaveIfEmpty(section);
    }
}

using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Returning: the ticket is retired with one swap, the policy looks at the resource, then it serves the next renter or waits idle.</summary>
internal sealed partial class ResourceCore<T>
{
    internal void Return(ResourceSlot<T> slot, long ticket)
    {
        if (!TryRetire(slot, ticket))
        {
            return;
        }

        if (_leavesAlone && !slot.IsMarked && slot.RentedTicks == 0)
        {
            Settle(slot, null);
        }
        else
        {
            EndUse(slot, isAsync: false);
        }
    }

    /// <summary>A return where the policy, its renter or the meter has something to say.</summary>
    private void EndUse(ResourceSlot<T> slot, bool isAsync)
    {
        DestroyReason? why = Examine(slot);
        if (why is null && _resetMode == ResetMode.OnReturn)
        {
            bool? isReset = ResetHere(slot.Resource!);
            if (isReset is null)
            {
                ResetInBackground(slot);
                return;
            }

            why = isReset.Value ? null : DestroyReason.ResetFailed;
        }
        else if (why is null && _resetMode == ResetMode.Background)
        {
            if (_waitsInReset && HasParked && !isAsync)
            {
                ResetOnAnyThread(slot);
            }
            else
            {
                ResetInBackground(slot);
            }

            return;
        }

        Settle(slot, why);
    }

    internal ValueTask ReturnAsync(ResourceSlot<T> slot, long ticket)
    {
        if (_resetMode is ResetMode.None or ResetMode.OnRent)
        {
            Return(slot, ticket);
            return default;
        }

        if (!TryRetire(slot, ticket))
        {
            return default;
        }

        if (_resetMode == ResetMode.Background)
        {
            EndUse(slot, isAsync: true);
            return default;
        }

        if (Examine(slot) is { } why)
        {
            Settle(slot, why);
            return default;
        }

        Task? reset = ResetInBackground(slot);
        return reset is null ? default : AwaitReset(reset);
    }

    internal bool TryMark(ResourceSlot<T> slot, long ticket, Exception? reason)
    {
        bool isMarked;
        using (PoolSection<T> section = Gate.Enter())
        {
            isMarked = slot.State == SlotState.Leased && slot.Is(ticket);
            slot.IsMarked |= isMarked;
        }

        if (isMarked && reason is not null)
        {
            TidepoolEventSource.Log.ResourceMarkedBroken(reason.ToString(), Name, Key);
        }

        return isMarked;
    }

    internal bool TryDetach(ResourceSlot<T> slot, long ticket, [NotNullWhen(true)] out T? resource)
    {
        resource = null;
        if (!slot.TryRetire(ticket))
        {
            return false;
        }

        using PoolSection<T> section = Gate.Enter("detach");
        resource = slot.Resource!;
        _detached++;
        Release(slot, SlotState.Free, section);
        Pump(section);
        return true;
    }

    /// <summary>Every copy of a lease was dropped. Runs on the finalizer's thread, which must not wait.</summary>
    internal void Reclaim(ResourceSlot<T> slot, long ticket)
    {
        if (!slot.TryRetire(ticket))
        {
            return;
        }

        ThreadPool.UnsafeQueueUserWorkItem(
            static state =>
            {
                (ResourceCore<T> core, ResourceSlot<T> slot) = state;
                string? site;
                using (PoolSection<T> section = core.Gate.Enter())
                {
                    site = slot.Site is { } stack ? RentSite.Describe(stack, core._settings.LeakCapture) : null;
                    core._reclaimed++;
                    core.Destroy(slot, DestroyReason.Leaked, section);
                    core.Pump(section);
                }

                core._meter.Leaked(core.Name);
                TidepoolEventSource.Log.LeaseReclaimed(slot.Id, site ?? string.Empty, core.Name, core.Key);
                PoolDiagnostics.TellLeak(core.PoolName, PoolReport.DescribeReclaimed(core.Name, core.Key, site));
            },
            (this, slot),
            preferLocal: false);
    }

    private bool TryRetire(ResourceSlot<T> slot, long ticket)
    {
        Schedule.Point("retire");
        if (slot.TryRetire(ticket))
        {
            return true;
        }

        Interlocked.Increment(ref _staleDisposes);
        return false;
    }

    /// <summary>Why a returned resource must not be rented again, or null.</summary>
    private DestroyReason? Examine(ResourceSlot<T> slot)
    {
        if (slot.RentedTicks != 0)
        {
            _meter.Used(Name, slot.RentedTicks);
            slot.RentedTicks = 0;
        }

        return slot.IsMarked || IsBroken(slot.Resource!) ? DestroyReason.Broken : null;
    }

    private bool? ResetHere(T resource)
    {
        try
        {
            return _policy.Reset(resource);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("Reset", e.ToString(), Name, Key);
            return false;
        }
    }

    /// <summary>Begins the reset on this thread; what does not end at once goes on without it.</summary>
    /// <returns>What is still to be awaited, or null.</returns>
    private Task? ResetInBackground(ResourceSlot<T> slot)
    {
        ValueTask<bool> reset = BeginReset(slot);
        if (reset.IsCompletedSuccessfully)
        {
            Settle(slot, reset.Result ? null : DestroyReason.ResetFailed);
            return null;
        }

        using (PoolSection<T> section = Gate.Enter())
        {
            EndLease(slot, section);
            Move(slot, SlotState.Checking);
            SetDue(slot, section);
        }

        return FinishResetAsync(slot, reset);
    }

    /// <summary>
    /// The reset after a synchronous return, where others rent synchronously, too: one that was begun here would need a thread of the thread pool
    /// for its end, and all of them may be parked for this resource.
    /// </summary>
    private void ResetOnAnyThread(ResourceSlot<T> slot)
    {
        using PoolSection<T> section = Gate.Enter("return dirty");
        EndLease(slot, section);
        if (Verdict(slot, section) is { } why)
        {
            Destroy(slot, why, section);
        }
        else
        {
            slot.IsDirty = true;
            Move(slot, SlotState.Checking);
            Start(slot, SlotWork.Reset, section);
        }

        Pump(section);
    }

    private ValueTask<bool> BeginReset(ResourceSlot<T> slot)
    {
        try
        {
            return AskPolicy(slot, resets: true);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("ResetAsync", e.ToString(), Name, Key);
            return new(false);
        }
    }

    private async Task FinishResetAsync(ResourceSlot<T> slot, ValueTask<bool> reset)
    {
        bool isReset = false;
        try
        {
            isReset = await reset.ConfigureAwait(false);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.PolicyFailed("ResetAsync", e.ToString(), Name, Key);
        }

        FinishCheck(slot, isReset ? null : DestroyReason.ResetFailed);
    }

    /// <summary>The returner waits for its reset, but not for one that hangs.</summary>
    private async ValueTask AwaitReset(Task reset)
    {
        TimeSpan limit = _settings.PolicyTimeout == ResourceSettings.Forever ? Timeout.InfiniteTimeSpan : TimeSpan.FromMilliseconds(_settings.PolicyTimeout);
        try
        {
            await reset.WaitAsync(limit, Clock.Provider).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // The pool's timer gives its place up.
        }
    }

    /// <summary>The end of a return whose resource needs no more work.</summary>
    private void Settle(ResourceSlot<T> slot, DestroyReason? why)
    {
        long now = Now;
        Schedule.Point("return");
        if (why is not null || !TryLayHot(slot, now))
        {
            SettleSlow(slot, why, now);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void SettleSlow(ResourceSlot<T> slot, DestroyReason? why, long now)
    {
        using PoolSection<T> section = Gate.EnterAt(now);
        EndLease(slot, section);
        if (why is { } reason)
        {
            Destroy(slot, reason, section);
        }
        else
        {
            Supply(slot, section);
        }

        Pump(section);
        OpenHot();
    }

    /// <summary>The renter has gone. Under the gate.</summary>
    private void EndLease(ResourceSlot<T> slot, PoolSection<T> section)
    {
        slot.LastUsed = slot.CheckedAt = slot.KeptAlive = section.Now;
        slot.IsDirty = _resetMode == ResetMode.OnRent;
        slot.Site = null;
        if (slot.IsReported)
        {
            TellRecovery(slot, section);
        }
    }

    /// <summary>A method of its own, because its closure would be allocated with each return.</summary>
    private void TellRecovery(ResourceSlot<T> slot, PoolSection<T> section)
    {
        (long id, long age) = (slot.Id, section.Now - slot.LeasedAt);
        section.Then(() => TidepoolEventSource.Log.LeaseRecovered(id, age, Name, Key));
    }
}

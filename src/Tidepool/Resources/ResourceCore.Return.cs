using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Returning: the ticket is retired with one swap, and the policy looks at the resource. Then it goes to the hot slot
/// (<see cref="TryPutHot"/>), or <c>PoolState.GiveOrKeep</c> decides who gets it.
/// </summary>
internal sealed partial class ResourceCore<T>
{
    internal void Return(ResourceSlot<T> slot, long ticket)
    {
        if (!TryRetire(slot, ticket))
        {
            return;
        }

        Schedule.Point("return");
        if (!IsUsual(slot) || !TryPutHot(slot))
        {
            ReturnSlow(slot);
        }
    }

    /// <summary>Whether nothing is to be said about a return, by the policy, the renter or the meter.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsUsual(ResourceSlot<T> slot) => _leavesAlone && !slot.IsMarked && slot.RentedTicks == 0;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReturnSlow(ResourceSlot<T> slot)
    {
        if (IsUsual(slot))
        {
            CompleteReturnSlow(slot, null);
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
            bool? isReset = Runner.ResetInline(slot.Resource!);
            if (isReset is null)
            {
                Runner.BeginReset(slot);
                return;
            }

            why = isReset.Value ? null : DestroyReason.ResetFailed;
        }
        else if (why is null && _resetMode == ResetMode.Background)
        {
            if (_waitsInReset && HasParked && !isAsync)
            {
                using PoolSection<T> section = Gate.Enter("return dirty");
                State.ReturnDirty(slot, section);
            }
            else
            {
                Runner.BeginReset(slot);
            }

            return;
        }

        CompleteReturn(slot, why);
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
            CompleteReturn(slot, why);
            return default;
        }

        Task? reset = Runner.BeginReset(slot);
        return reset is null ? default : Runner.AwaitReset(reset);
    }

    internal bool TryMark(ResourceSlot<T> slot, long ticket, Exception? reason)
    {
        bool isMarked;
        using (PoolSection<T> section = Gate.Enter())
        {
            isMarked = PoolState<T>.TryMark(slot, ticket, section);
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
        State.Detach(slot, section);
        return true;
    }

    /// <summary>Every copy of a lease was dropped. Runs on the finalizer's thread, which must not wait.</summary>
    internal void Reclaim(ResourceSlot<T> slot, long ticket)
    {
        if (slot.TryRetire(ticket))
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                static state => state.Core.Reclaim(state.Slot), (Core: this, Slot: slot), preferLocal: false);
        }
    }

    private void Reclaim(ResourceSlot<T> slot)
    {
        string site;
        long id;
        using (PoolSection<T> section = Gate.Enter())
        {
            id = slot.Id;
            site = slot.Site is { } stack ? RentSite.Describe(stack, _settings.LeakCapture) : string.Empty;
            State.Reclaim(slot, section);
        }

        _meter.Leaked(Series);
        TidepoolEventSource.Log.LeaseReclaimed(id, site, Name, Key);
        PoolDiagnostics.ReportLeak(PoolName, PoolReport.DescribeReclaimed(Name, Key, site.Length == 0 ? null : site));
    }

    /// <summary>Whether a leased resource may serve more renters at once: it is neither due nor broken, and was not cleared.</summary>
    /// <param name="slot">Its slot; its lease is out.</param>
    /// <param name="looks">Whether the policy is asked, too.</param>
    internal bool IsStillGood(ResourceSlot<T> slot, bool looks)
    {
        bool isGood;
        using (PoolSection<T> section = Gate.Enter())
        {
            isGood = State.IsStillGood(slot, section);
        }

        return isGood && (!looks || !IsBroken(slot.Resource!));
    }

    private bool TryRetire(ResourceSlot<T> slot, long ticket)
    {
        Schedule.Point("retire");
        if (slot.TryRetire(ticket))
        {
            return true;
        }

        State.CountStaleDispose();
        return false;
    }

    /// <summary>Why a returned resource must not be rented again, or null.</summary>
    private DestroyReason? Examine(ResourceSlot<T> slot)
    {
        if (slot.RentedTicks != 0)
        {
            _meter.Used(Series, slot.RentedTicks);
            slot.RentedTicks = 0;
        }

        return slot.IsMarked || IsBroken(slot.Resource!) ? DestroyReason.Broken : null;
    }

    /// <summary>Completes a return whose resource needs no more work.</summary>
    internal void CompleteReturn(ResourceSlot<T> slot, DestroyReason? why)
    {
        Schedule.Point("return");
        NoteReset(slot);
        if (why is not null || !TryPutHot(slot))
        {
            CompleteReturnSlow(slot, why);
        }
    }

    /// <summary>Notes whether the reset of a resource that no renter has is still to be done.</summary>
    internal void NoteReset(ResourceSlot<T> slot) => slot.HasResetPending = _resetsLater && Policy.HasResetPending(slot.Resource!);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void CompleteReturnSlow(ResourceSlot<T> slot, DestroyReason? why)
    {
        using PoolSection<T> section = Gate.Enter();
        State.Return(slot, why, section);
    }

    /// <summary>Puts a returned resource into the hot slot, if that is open: the usual end of a return.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryPutHot(ResourceSlot<T> slot)
    {
        if (!_hot.IsOpen)
        {
            return false;
        }

        long now = Now;
        if (now >= slot.ExpiresAt)
        {
            return false;
        }

        slot.HeldFor += now - slot.LeasedAt;
        slot.LastUsed = now; // the other times follow when it leaves the slot for the idle list
        Schedule.Point("hot: put");
        ResourceSlot<T>? older = _hot.Put(slot);
        Schedule.Point("hot: stored");
        if (older is not null || !_hot.IsOpen || MustMove(slot, now))
        {
            MoveDisplaced(older, slot, now);
        }

        return true;
    }

    /// <summary>
    /// Whether what was put into the hot slot must not stay: the pool was cleared, or the timer would come too late for it. Checked
    /// afterwards, so that a clear or a timer that has just drained the slot is seen. If another thread has taken it meanwhile, either
    /// answer will do: the next return checks what it puts there.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MustMove(ResourceSlot<T> slot, long now)
    {
        long due = Timer.Due;
        return slot.Generation != State.Generation || slot.ExpiresAt < due || due - now > _soonestIdleDue;
    }

    /// <summary>Moves the resource that was in the hot slot before, and the new one too where it must not stay or a caller waits.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void MoveDisplaced(ResourceSlot<T>? older, ResourceSlot<T> slot, long now)
    {
        bool mustMove = MustMove(slot, now);
        if (older is not null)
        {
            MoveFromHot(older);
        }

        if ((mustMove ? _hot.Take() : _hot.TakeIfClosed()) is { } late)
        {
            MoveFromHot(late);
        }
    }

    /// <summary>Takes a resource out of the hot slot: <c>PoolState.GiveOrKeep</c> decides who gets it.</summary>
    private void MoveFromHot(ResourceSlot<T> slot)
    {
        using PoolSection<T> section = Gate.Enter("hot: displaced");
        State.ReturnFromHot(slot, section);
    }
}

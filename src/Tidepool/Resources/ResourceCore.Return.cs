using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Returning: the ticket is retired with one swap, the policy looks at the resource, then it serves the next renter or waits idle.
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
        if (!IsUsual(slot) || !TryLayHot(slot, Now))
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
            SettleSlow(slot, null, Now);
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
                Runner.ResetInBackground(slot);
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
                Runner.ResetInBackground(slot);
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

        Task? reset = Runner.ResetInBackground(slot);
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

        _meter.Leaked(Name);
        TidepoolEventSource.Log.LeaseReclaimed(id, site, Name, Key);
        PoolDiagnostics.TellLeak(PoolName, PoolReport.DescribeReclaimed(Name, Key, site.Length == 0 ? null : site));
    }

    /// <summary>Whether a leased resource may serve more renters at once: it is neither due nor broken, and was not cleared.</summary>
    /// <param name="slot">Its slot; its lease is out.</param>
    /// <param name="looks">Whether the policy is asked, too.</param>
    internal bool MayServe(ResourceSlot<T> slot, bool looks)
    {
        bool isGood;
        using (PoolSection<T> section = Gate.Enter())
        {
            isGood = State.MayServe(slot, section);
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
            _meter.Used(Name, slot.RentedTicks);
            slot.RentedTicks = 0;
        }

        return slot.IsMarked || IsBroken(slot.Resource!) ? DestroyReason.Broken : null;
    }

    /// <summary>The end of a return whose resource needs no more work.</summary>
    internal void Settle(ResourceSlot<T> slot, DestroyReason? why)
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
        State.Return(slot, why, section);
    }

    /// <summary>The usual end of a return.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryLayHot(ResourceSlot<T> slot, long now)
    {
        if (!_fast.IsOpen || now >= slot.ExpiresAt)
        {
            return false;
        }

        slot.LastUsed = now; // the other times follow when it leaves the place for the idle list
        Schedule.Point("hot: lay");
        ResourceSlot<T>? older = _fast.Put(slot);
        Schedule.Point("hot: laid");
        if (older is not null || !_fast.IsOpen || MustMove(slot, now))
        {
            LaidHot(older, slot, now);
        }

        return true;
    }

    /// <summary>
    /// Whether what was put into the hot place must not stay: the pool was cleared, or the timer would come too late for it. Asked
    /// afterwards, so that a clear or a timer that has just drained the place is seen. If another thread has taken it meanwhile, either
    /// answer will do: the next return asks for what it puts there.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool MustMove(ResourceSlot<T> slot, long now)
    {
        long due = Timer.Due;
        return slot.Generation != State.Generation || slot.ExpiresAt < due || due - now > _soonestIdleDue;
    }

    /// <summary>What lay there before goes to the others, and so does what must not stay, because a caller has begun to wait.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LaidHot(ResourceSlot<T>? older, ResourceSlot<T> slot, long now)
    {
        bool mustMove = MustMove(slot, now);
        if (older is not null)
        {
            LayIdle(older);
        }

        if ((mustMove ? _fast.Take() : _fast.TakeIfClosed()) is { } late)
        {
            LayIdle(late);
        }
    }

    /// <summary>Gives a resource that lay in the hot place to the first in the queue, or to the idle list.</summary>
    private void LayIdle(ResourceSlot<T> slot)
    {
        using PoolSection<T> section = Gate.Enter("hot: displaced");
        State.TakeFromHot(slot, section);
    }
}

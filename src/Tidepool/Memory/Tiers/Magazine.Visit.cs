using System.Diagnostics;

namespace Tidepool;

/// <content>What threads other than the owner do: pause, trim, close, count, validate.</content>
internal sealed partial class Magazine
{
    private int _emptying;
    private long _wideCharge; // of an inbox that is narrow again, until its surplus has left

    /// <summary>
    /// The number of idle items, with those in the inbox and without those in the outbox, which others will rent. Right when no thread
    /// works here.
    /// </summary>
    internal int IdleCount => SettledCount + Inbox.Count;

    /// <summary>Whether a rental would find nothing here. Right for the owning thread while no other posts.</summary>
    internal bool IsEmpty => IdleCount == 0;

    private int SettledCount => _state.HotFull + _state.Count + _state.RestingCount + _state.SurplusCount;

    internal long Rented => Volatile.Read(ref _state.Rents);

    /// <summary>Returns counted here, those that wait in the inbox included.</summary>
    internal long Returned => IdleCount - _state.Refilled + _state.Rents + _state.Flushed;

    /// <summary>
    /// First half of a visit: keeps the owner out from now on. Follow with a process-wide barrier and <see cref="TryBegin"/>.
    /// </summary>
    /// <returns>False when another visitor is here or the magazine is closed.</returns>
    internal bool TryPause()
    {
        Schedule.Point("pause");
        return Interlocked.CompareExchange(ref _state.Stop, Paused, Open) == Open;
    }

    /// <summary>Second half, after the barrier.</summary>
    /// <returns>False when the owner is inside: the pause is over then.</returns>
    internal bool TryBegin()
    {
        Schedule.Point("begin visit");
        if (Volatile.Read(ref _state.Busy) == 0)
        {
            return true;
        }

        Resume();
        return false;
    }

    /// <summary>Both halves and the barrier between them.</summary>
    internal bool TryVisit()
    {
        if (!TryPause())
        {
            return false;
        }

        Interlocked.MemoryBarrierProcessWide();
        return TryBegin();
    }

    /// <summary>Ends a visit.</summary>
    internal void Resume()
    {
        Debug.Assert(_state.Stop == Paused, "only a paused magazine is resumed");
        Schedule.Point("resume");
        Volatile.Write(ref _state.Stop, Open);
    }

    /// <summary>
    /// Takes idle items out during a visit: all, or half (rounded up) of those that no rental since the last call can have reached.
    /// Also clears what stale places still refer to.
    /// </summary>
    /// <param name="all">Everything idle.</param>
    /// <param name="isEpoch">Whether an epoch ends, or a caller asked for a trim in between.</param>
    /// <param name="taken">Receives the items.</param>
    /// <returns>True when the magazine has been empty and unused for so long that it may be closed.</returns>
    internal bool Trim(bool all, bool isEpoch, List<object?> taken)
    {
        // Narrow before it is emptied, so that no more come than need no charge; the charge ends when the surplus has left.
        _wideCharge += Inbox.TryNarrow() ? Bucket.WideInboxBytes : 0;
        TakeInbox(owner: false);
        long rents = _state.Rents - _state.SeenRents;
        int idle = SettledCount - _state.RestingCount;
        int untouched = idle - (int)Math.Min(idle, rents);
        int beyondLimit = _state.SurplusCount - Bucket.InboxLimit; // the surplus leaves first
        TakeOldest(all ? idle : Math.Max((untouched + 1) / 2, beyondLimit), taken);
        if (_wideCharge > 0)
        {
            Bucket.Pool.Budget.Refund(_wideCharge);
            _wideCharge = 0;
        }

        if (all || (isEpoch && rents == 0))
        {
            TakeResting(taken);
        }

        ClearStale();
        Owners = null; // they refer to the buffers they had; the owner may go on with the ring it has in hand
        if (!isEpoch)
        {
            return false;
        }

        _state.SeenRents = _state.Rents;
        _state.QuietEpochs = rents == 0 && _state.Sent == 0 && SettledCount == 0 ? _state.QuietEpochs + 1 : 0;
        _state.Sent = 0;
        return _state.QuietEpochs >= 3;
    }

    /// <summary>
    /// Closes the magazine for good: waits for the owner to leave, takes everything out and folds its counts into the pool's.
    /// </summary>
    /// <param name="taken">Receives the idle items.</param>
    internal void Close(List<object?> taken)
    {
        StopForGood();
        Interlocked.MemoryBarrierProcessWide();
        FinishClose(taken);

        // A poster writes its slot and then looks whether this is closed, without a fence of its own: either we see the slot, or it sees
        // that this is closed.
        Interlocked.MemoryBarrierProcessWide();
        EmptyClosedInbox(taken); // posted between the last look and the last write
    }

    /// <summary>First step of <see cref="Close"/>, so that one barrier can serve many magazines.</summary>
    internal void StopForGood()
    {
        var spin = default(SpinWait);
        while (true)
        {
            Schedule.Point("close");
            if (Interlocked.CompareExchange(ref _state.Stop, Shut, Open) != Paused)
            {
                return;
            }

            Schedule.Spin(ref spin);
        }
    }

    /// <summary>Second step of <see cref="Close"/>, after a barrier. After another one, <see cref="EmptyClosedInbox"/> is the last.
    /// </summary>
    internal void FinishClose(List<object?> taken)
    {
        var spin = default(SpinWait);
        while (Volatile.Read(ref _state.Busy) != 0)
        {
            Schedule.Spin(ref spin); // the owner takes no lock in there
        }

        Items outgoing = default;
        try
        {
            int count = TakeOutgoing(Items.Span(ref outgoing));
            taken.AddRange(PostOrTake(Items.Span(ref outgoing)[..count]) ?? []);
            TakeInbox(owner: false);
            TakeOldest(int.MaxValue, taken);
            TakeResting(taken);
            ClearStale();
            Owners = null;
            Charge += _wideCharge + (Inbox.Close() ? Bucket.WideInboxBytes : 0);
            ref TierCounters counters = ref Bucket.Pool.Counters;
            long returned = _state.Rents + _state.Flushed - _state.Refilled;
            Interlocked.Add(ref counters.Rented, _state.Rents);
            Interlocked.Add(ref counters.Returned, returned);
            Interlocked.Add(ref counters.LeasedBytes, (_state.Rents - returned) * Bucket.ItemBytes);
            _state.Rents = _state.Refilled = _state.Flushed = 0;
        }
        finally
        {
            // Also when there was no memory for the list: other threads wait for the end of the closing.
            Schedule.Point("closed");
            Volatile.Write(ref _isClosed, true);
        }
    }

    /// <summary>Takes out what other threads sent home, if the owner is not inside.</summary>
    internal void TakeWaiting(List<object?> taken)
    {
        if (!TryVisit())
        {
            return;
        }

        try
        {
            TakeInbox(owner: false);
            TakeSurplus(int.MaxValue, taken);
        }
        finally
        {
            Resume();
        }
    }

    /// <summary>
    /// No item stands twice, counts are in range, every slot lies at home, is settled, and is reachable once. Quiescent use, Stop = 0.
    /// </summary>
    internal bool IsValid(HashSet<object> seen)
    {
        bool valid = _state.Busy == 0
            && _state.HotFull is 0 or 1
            && _state.Count >= 0 && _state.Count <= _state.Capacity && _state.Capacity <= Places.Length
            && _state.Spare is null or { Count: 0 }
            && (_state.HotFull == 0 || IsIdle(_state.Hot, seen));
        foreach (object? item in Places[.._state.Count])
        {
            valid = valid && IsIdle(item, seen);
        }

        foreach (object? item in RestingItems())
        {
            valid = valid && IsIdle(item, seen);
        }

        foreach (object? item in Outgoing)
        {
            valid = valid && item is Slot slot && slot.Home != this && (!slot.IsPosted || seen.Add(slot));
        }

        int surplus = 0;
        for (Slot? slot = _state.Surplus; slot is not null && valid; slot = slot.Next)
        {
            surplus++;
            valid = IsIdle(slot, seen);
        }

        return valid && surplus == _state.SurplusCount;
    }

    private bool IsIdle(object? item, HashSet<object> seen) =>
        item is not null && seen.Add(item) && item is not RentalState { IsLeased: true } && (item is not Slot slot || slot.Home == this);

    private void TakeOldest(int count, List<object?> taken)
    {
        count -= TakeSurplus(count, taken);
        int items = Math.Min(count, _state.Count);
        if (items > 0)
        {
            Span<object?> places = Places[.._state.Count];
            taken.AddRange(places[..items]);
            places[items..].CopyTo(places);
            _state.Count -= items;
            _state.Flushed += items;
        }

        if (count > items && _state.HotFull != 0)
        {
            taken.Add(_state.Hot);
            _state.HotFull = 0;
            _state.Flushed++;
        }
    }

    private int TakeSurplus(int count, List<object?> taken)
    {
        int moved = 0;
        while (moved < count && _state.Surplus is { } slot)
        {
            _state.Surplus = slot.Next;
            slot.Next = null;
            taken.Add(slot);
            moved++;
        }

        _state.SurplusCount -= moved;
        _state.Flushed += moved;
        return moved;
    }

    private void ClearStale()
    {
        if (_state.HotFull == 0)
        {
            _state.Hot = null;
        }

        Places[_state.Count..].Clear();
        _state.Spare = null;
        ClearStaleResting();
    }

    /// <summary>
    /// Settles what was posted to a closed magazine: no owner can race any more, and the exchange of the inbox gives each slot to one
    /// thread.
    /// </summary>
    internal void EmptyClosedInbox(List<object?> taken)
    {
        // A poster's own write comes before its look: of two that post at once, the later one sees both.
        Interlocked.MemoryBarrier();
        while (!Inbox.IsEmpty)
        {
            EmptyClosedInboxOnce(taken);
            Interlocked.MemoryBarrier();
        }
    }

    private void EmptyClosedInboxOnce(List<object?> taken)
    {
        // Posters empty a closed magazine themselves, perhaps several at once, and an inbox is collected by one at a time.
        var spin = default(SpinWait);
        while (Interlocked.CompareExchange(ref _emptying, 1, 0) != 0)
        {
            Schedule.Spin(ref spin);
        }

        int count = taken.Count;
        try
        {
            TakeInbox(owner: false);
            TakeSurplus(int.MaxValue, taken);
            _state.Flushed = 0; // the counts of a closed magazine are in the pool
        }
        finally
        {
            Volatile.Write(ref _emptying, 0);
        }

        Bucket.Pool.Counters.AddReturns(taken.Count - count, Bucket.ItemBytes);
    }
}

using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>What the owner does off the fast path: refill, and taking in what other threads posted.</content>
internal sealed partial class Magazine
{
    /// <summary>Takes the newest item, or one that came home. Only for the owning thread.</summary>
    /// <returns>Null when there is none, or the magazine is closed.</returns>
    internal object? PopSlow()
    {
        if (!TryEnter())
        {
            return null;
        }

        try
        {
            if (_state.HotFull == 0 && _state.Count == 0)
            {
                TakeHome();
            }

            return PopEntered();
        }
        finally
        {
            Leave();
        }
    }

    /// <summary>Puts items of a chunk into this magazine and takes one of them; what does not fit goes to the shared tier.</summary>
    /// <remarks>Only for the owning thread.</remarks>
    /// <returns>Null when the magazine is closed: the whole chunk has gone to the shared tier.</returns>
    internal object? Refill(Chunk chunk)
    {
        object? item = Bucket.HoldsObjects ? RefillBySwap(chunk) : RefillOneByOne(chunk);
        PutShared(chunk);
        return item;
    }

    private object? RefillOneByOne(Chunk chunk)
    {
        if (!TryEnter())
        {
            return null;
        }

        try
        {
            while (chunk.Count > 0 && !IsFull)
            {
                ref object? place = ref chunk.Places[chunk.Count - 1];
                object item = BringHome(place!);
                place = null;
                chunk.Count--;
                PushEntered(item);
                _state.Refilled++;
            }

            return PopEntered();
        }
        finally
        {
            Leave();
        }
    }

    /// <summary>
    /// Counts a rental of an item that never lay here: it was just made. The owner's thread, or the counters of the pool when closed.
    /// </summary>
    internal void CountCreated()
    {
        if (!TryEnter())
        {
            Bucket.Pool.Counters.AddRental(Bucket.ItemBytes);
            return;
        }

        _state.Refilled++;
        _state.Rents++;
        Leave();
    }

    /// <summary>Ends the rental of <paramref name="generation"/> on the owning thread where <see cref="TryReturn"/> could not.</summary>
    /// <param name="slot">A slot whose home this is.</param>
    /// <param name="generation">The ticket's generation.</param>
    /// <param name="clear">What to clear once the return is certain.</param>
    /// <param name="flushed">What a full magazine gave up, for the shared tier; else null.</param>
    /// <returns>What came of it.</returns>
    internal ReturnOutcome ReturnSlow<TClear>(Slot slot, int generation, TClear clear, out Chunk? flushed)
        where TClear : struct, IClear
    {
        flushed = GrowOrTakeChunk();
        if (!TryEnter())
        {
            return ReturnOutcome.Closed;
        }

        try
        {
            if (slot.IsActive(generation) && slot.State.Posted != 0)
            {
                TakeInbox(owner: true); // a posting that lost its race may still hold the slot
            }

            if (!slot.IsActive(generation))
            {
                return ReturnOutcome.Retired;
            }

            if (slot.State.Posted != 0)
            {
                return ReturnOutcome.Closed;
            }

            FlushIfFull(flushed);
            clear.Run();
            slot.State.Generation = generation + 1;
            PushEntered(slot);
            return ReturnOutcome.Returned;
        }
        finally
        {
            Leave();
        }
    }

    /// <summary>
    /// Ends the rental of <paramref name="generation"/> and leaves the idle slot in the caller's hands. Any thread; from one that is not
    /// the owner this takes a process-wide barrier (about a microsecond).
    /// </summary>
    /// <returns>False when the ticket was retired before.</returns>
    internal bool TryTakeBack(Slot slot, int generation, nuint here)
    {
        if (IsOwnedBy(here) && TryEnter())
        {
            bool active = slot.TryTakeBack(generation);
            Leave();
            return active;
        }

        if (IsPrivate && !IsClosed)
        {
            throw new InvalidOperationException(
                "A lease of a thread handle can be converted or detached only on the thread "
                    + "of its handle, or after the handle was disposed.");
        }

        var spin = default(SpinWait);
        while (!IsClosed)
        {
            if (TryVisit())
            {
                bool active = slot.TryTakeBack(generation);
                Resume();
                return active;
            }

            Schedule.Spin(ref spin);
        }

        return slot.TryTakeBack(generation);
    }

    /// <summary>Keeps an idle item where the fast paths could not. Only for the owning thread.</summary>
    /// <param name="item">The item; a slot becomes one of this home.</param>
    /// <param name="hasTicket">True if a ticket excludes a second return. False: the hot place and the newest items are searched.</param>
    /// <param name="flushed">What had to make way for it, for the shared tier; else null or empty.</param>
    /// <param name="isIdleAlready">True when the item lies here already: nothing was changed.</param>
    /// <returns>False when the magazine is closed or the item lies here already.</returns>
    internal bool PushSlow(object item, bool hasTicket, out Chunk? flushed, out bool isIdleAlready)
    {
        flushed = GrowOrTakeChunk();
        isIdleAlready = false;
        if (!TryEnter())
        {
            return false;
        }

        try
        {
            isIdleAlready = !hasTicket && Contains(item, Compared);
            if (!isIdleAlready)
            {
                object moved = BringHome(item);
                FlushIfFull(flushed);
                PushEntered(moved);
            }

            return !isIdleAlready;
        }
        finally
        {
            Leave();
        }
    }

    private bool TryEnter()
    {
        var spin = default(SpinWait);
        while (!TryEnterAtOnce())
        {
            if (IsShut)
            {
                return false;
            }

            Schedule.Spin(ref spin);
        }

        return true;
    }

    /// <summary>Enters unless a visitor is here or the magazine is closed; does not wait, and so does not throw.</summary>
    private bool TryEnterAtOnce()
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("enter at once");
        if (Volatile.Read(ref _state.Stop) == Open)
        {
            return true;
        }

        Volatile.Write(ref _state.Busy, 0);
        Schedule.Point("shut");
        return false;
    }

    private void Leave()
    {
        Schedule.Point("leave");
        Volatile.Write(ref _state.Busy, 0);
    }

    /// <summary>An item as this magazine keeps it: a slot gets its home here.</summary>
    private object BringHome(object item) => item is Slot slot ? slot.MoveTo(this) : item;

    /// <summary>Takes an item. The caller has entered, paused or closed the magazine.</summary>
    private object? PopEntered()
    {
        object? item = null;
        if (_state.HotFull != 0 && (_state.Count == 0 || !Bucket.HoldsObjects))
        {
            item = _state.Hot;
            _state.HotFull = 0;
        }
        else if (_state.Count > 0)
        {
            _state.Count--;
            item = Places[_state.Count];
        }

        if (item is not null)
        {
            _state.Rents++;
        }

        return item;
    }

    /// <summary>Keeps an item; there is room. The caller has entered, paused or closed the magazine.</summary>
    private void PushEntered(object item)
    {
        if (_state.HotFull == 0)
        {
            StoreIfDifferent(ref _state.Hot, item);
            _state.HotFull = 1;
            return;
        }

        StoreIfDifferent(ref Places[_state.Count], item);
        _state.Count++;
    }

    /// <summary>
    /// Fills the empty magazine from the surplus, then from the ring of the inbox; if both are empty, settles the whole inbox. Only for the
    /// owner inside its busy section. A method of its own, because one with a <c>finally</c> keeps its variables in memory.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void TakeHome()
    {
        RefillFromSurplus();
        while (Bucket.IsInboxDeep && !IsFull && Inbox.TryTake() is { } slot)
        {
            if (TryEndPosted(slot, owner: true))
            {
                PushEntered(slot);
            }
        }

        if (_state.HotFull == 0)
        {
            TakeInbox(owner: true);
            RefillFromSurplus();
        }
    }

    private void RefillFromSurplus()
    {
        while (_state.Surplus is { } slot && !IsFull)
        {
            _state.Surplus = slot.Next;
            _state.SurplusCount--;
            slot.Next = null;
            PushEntered(slot);
        }
    }

    /// <summary>
    /// Settles everything that was posted. The caller is the owner inside its busy section, or has paused or closed the magazine.
    /// </summary>
    /// <param name="owner">True for the owner: only its thread may touch the ring of memory owners.</param>
    private void TakeInbox(bool owner)
    {
        while (Inbox.TryTake() is { } slot)
        {
            TakeIn(slot, owner);
        }

        Slot? linked = Inbox.TakeStack();
        while (linked is not null)
        {
            Slot? next = linked.Next;
            TakeIn(linked, owner);
            linked = next;
        }
    }

    private void TakeIn(Slot slot, bool owner)
    {
        slot.Next = null;
        if (TryEndPosted(slot, owner))
        {
            slot.Next = _state.Surplus;
            _state.Surplus = slot;
            _state.SurplusCount++;
        }
    }

    /// <summary>Ends the rental of a slot taken from the inbox, unless its posting lost a race.</summary>
    private bool TryEndPosted(Slot slot, bool owner)
    {
        if (!slot.TryEndPosted(out object? companion))
        {
            Bucket.Pool.ReportLater(MisuseKind.RacingReturn, static () => new(null, MisuseText.LostRace));
            return false;
        }

        if (companion is not null && owner)
        {
            Owners?.Put(companion);
        }

        return true;
    }
}

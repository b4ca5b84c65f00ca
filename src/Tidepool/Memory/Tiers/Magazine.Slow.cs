namespace Tidepool;

/// <content>What the owner does off the fast path: refill, flush, and taking in what other threads posted.</content>
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
                if (_state.Surplus is null)
                {
                    TakeInbox(owner: true);
                }

                RefillFromSurplus();
            }

            return PopInside();
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
        object? item = Bucket.HoldsObjects ? RefillAtOnce(chunk) : RefillOneByOne(chunk);
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
            while (chunk.Count > 0 && (_state.Count < _state.Capacity || _state.HotFull == 0))
            {
                ref object? place = ref chunk.Places[chunk.Count - 1];
                object item = place is Slot slot ? slot.MoveTo(this) : place!;
                place = null;
                chunk.Count--;
                PushInside(item);
                _state.Refilled++;
            }

            return PopInside();
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
    /// <param name="flushed">The older half of a magazine that was full, for the shared tier; else null.</param>
    /// <returns>What came of it.</returns>
    internal ReturnOutcome ReturnSlow<TClear>(Slot slot, int generation, TClear clear, out Chunk? flushed)
        where TClear : struct, IClear
    {
        flushed = TakeRoom();
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

            MakeRoom(flushed);
            clear.Run();
            slot.State.Generation = generation + 1;
            PushInside(slot);
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
    /// <param name="isOnce">Whether its ticket makes sure that it is returned once; otherwise it is compared with the last ones.</param>
    /// <param name="flushed">What had to make way for it, for the shared tier; else null or empty.</param>
    /// <param name="isTwice">True when the item lies here already: nothing was changed.</param>
    /// <returns>False when the magazine is closed or the item lies here already.</returns>
    internal bool PushSlow(object item, bool isOnce, out Chunk? flushed, out bool isTwice)
    {
        flushed = TakeRoom();
        isTwice = false;
        if (!TryEnter())
        {
            return false;
        }

        try
        {
            isTwice = !isOnce && Contains(item, Compared);
            if (!isTwice)
            {
                object mover = item is Slot slot ? slot.MoveTo(this) : item;
                MakeRoom(flushed);
                PushInside(mover);
            }

            return !isTwice;
        }
        finally
        {
            Leave();
        }
    }

    /// <summary>
    /// Posts a claimed slot from a thread that is not the owner. Any thread. When too many wait, the poster takes them to the shared tier.
    /// </summary>
    internal void Post(Slot slot)
    {
        int waiting = Inbox.Push(slot);
        if (IsClosed)
        {
            var late = new List<object?>();
            EmptyClosedInbox(late);
            PutShared(Bucket, late);
        }
        else if (waiting >= Bucket.InboxLimit && !IsPrivate)
        {
            MoveInboxToShared();
        }
    }

    private bool IsFull => _state.HotFull != 0 && _state.Count >= _state.Capacity;

    private bool TryEnter()
    {
        var spin = default(SpinWait);
        while (true)
        {
            Volatile.Write(ref _state.Busy, 1);
            Schedule.Point("enter");
            int stop = Volatile.Read(ref _state.Stop);
            if (stop == Open)
            {
                return true;
            }

            Volatile.Write(ref _state.Busy, 0);
            Schedule.Point("shut");
            if (stop >= Closing)
            {
                return false;
            }

            Schedule.Spin(ref spin);
        }
    }

    private void Leave()
    {
        Schedule.Point("leave");
        Volatile.Write(ref _state.Busy, 0);
    }

    private object? PopInside()
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

    private void PushInside(object item)
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
    /// An empty chunk if the magazine looks full and may not grow: no lock may be taken and nothing allocated inside, for a throw there
    /// would leave the magazine busy. Only the owner fills it, so one that does not look full is not.
    /// </summary>
    private Chunk? TakeRoom() => IsFull && !TryGrow() ? TakeSpare() ?? Bucket.Shared.TakeEmpty() : null;

    /// <summary>Makes room in a full magazine: the older half (rounded up), of objects all but the newest, moves into a chunk.</summary>
    private void MakeRoom(Chunk? flushed)
    {
        // A visitor may have made room since it looked full.
        if (flushed is null || !IsFull)
        {
            return;
        }

        if (Bucket.HoldsObjects)
        {
            MakeRoomAtOnce(flushed);
        }
        else if (_state.Count == 0)
        {
            // A magazine of one: what lies hot makes way for what is hotter.
            flushed.Add(_state.Hot!);
            _state.HotFull = 0;
            _state.Flushed++;
        }
        else
        {
            RemoveOldest((_state.Count + 1) / 2, flushed);
        }
    }

    private void RemoveOldest(int count, Chunk into)
    {
        Span<object?> items = Items.Span(ref _state.Items);
        into.Add(items[..count]);
        items[count.._state.Count].CopyTo(items);
        _state.Count -= count;
        _state.Flushed += count;
    }

    private void RefillFromSurplus()
    {
        while (_state.Surplus is { } slot && (_state.HotFull == 0 || _state.Count < _state.Capacity))
        {
            _state.Surplus = slot.Next;
            _state.SurplusCount--;
            slot.Next = null;
            PushInside(slot);
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
            Bucket.Pool.ReportLater(MisuseKind.RacingReturn, static () => (null, MisuseText.LostRace));
            return false;
        }

        if (companion is not null && owner)
        {
            Owners?.Put(companion);
        }

        return true;
    }
}

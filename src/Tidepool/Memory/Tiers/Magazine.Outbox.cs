namespace Tidepool;

/// <content>
/// The outbox: slots that this thread returned for others, claimed and on their way home. They are posted several at a time, because a
/// post of its own for each would take the home's inbox from the other processor every time.
/// </content>
internal sealed partial class Magazine
{
    /// <summary>Whether slots wait in the outbox. Any thread; out of date at once.</summary>
    internal bool HasOutgoing => Volatile.Read(ref _state.OutgoingCount) != 0;

    /// <summary>Whether there is an outbox. Only for the owning thread.</summary>
    internal bool HasOutbox => _state.Outgoing is not null;

    private Span<object?> Outgoing => _state.Outgoing.AsSpan(0, _state.OutgoingCount);

    /// <summary>
    /// Makes the outbox, with places that are charged to the budget until the magazine is closed. Only for the owning thread.
    /// </summary>
    /// <returns>False when the budget has no room, threads keep too few of these items, or the magazine is paused or closed.</returns>
    internal bool TryMakeOutbox()
    {
        int places = Math.Min(Bucket.MagazineCapacity, _state.Capacity);
        if (places <= 1)
        {
            return false;
        }

        var outgoing = new object?[places];
        long bytes = places * Bucket.ItemBytes;
        if (!Bucket.Pool.Budget.TryCharge(bytes))
        {
            return false;
        }

        if (!TryEnterAtOnce())
        {
            Bucket.Pool.Budget.Refund(bytes);
            return false;
        }

        _state.Outgoing = outgoing;
        Charge += bytes;
        Leave();
        return true;
    }

    /// <summary>Makes what the way home needs, before the claim: what this throws has changed nothing.</summary>
    /// <param name="mayWait">Whether a slot whose home this is may wait with others in an outbox.</param>
    /// <returns>The running thread's magazine, with an outbox, or null.</returns>
    internal Magazine? PrepareSend(bool mayWait)
    {
        if (IsClosed)
        {
            return null;
        }

        Inbox.MakeRing();
        if (IsPrivate || !mayWait)
        {
            return null;
        }

        Magazine? magazine = ThreadTier.Find(Bucket.Id);
        if (magazine is null || magazine.Bucket != Bucket || !magazine.HasOutbox)
        {
            magazine = ThreadTier.OpenOutbox(Bucket);
        }

        return magazine != this ? magazine : null;
    }

    /// <summary>Sends a claimed slot home, which is here. Any thread.</summary>
    /// <param name="slot">The slot.</param>
    /// <param name="outbox">What <see cref="PrepareSend"/> found.</param>
    /// <returns>False when it cannot come home: the caller ends the rental. The home has closed, or its owner is outside of a return.
    /// </returns>
    internal bool TrySend(Slot slot, Magazine? outbox)
    {
        if (IsClosed)
        {
            return false;
        }

        if (IsPrivate && Inbox.IsRingFull)
        {
            WaitForOwner(); // the stock of a handle is in no table: what it cannot take in must not wait there
            return false;
        }

        if (outbox is null || !outbox.TryPostLater(slot))
        {
            object posted = slot;
            Post(Bucket, new ReadOnlySpan<object?>(in posted));
        }

        return true;
    }

    /// <summary>Keeps a claimed slot for its home, and posts all when the outbox is full. Only for the owning thread.</summary>
    /// <param name="slot">A slot of this bucket whose home is another magazine.</param>
    /// <returns>False when the magazine is paused or closed: the caller posts the slot itself.</returns>
    private bool TryPostLater(Slot slot)
    {
        // Without waiting for a visitor: a claimed slot must not be lost to an interrupt of the wait.
        if (!TryEnterAtOnce())
        {
            return false;
        }

        _state.Sent++;

        object?[] places = _state.Outgoing!;
        places[_state.OutgoingCount] = slot;
        Volatile.Write(ref _state.OutgoingCount, _state.OutgoingCount + 1);
        if (_state.OutgoingCount < places.Length)
        {
            Leave();
            return true;
        }

        Schedule.Point("outbox full");
        Items batch = default;
        int count = TakeOutgoing(Items.Span(ref batch));
        Leave();
        Post(Bucket, Items.Span(ref batch)[..count]);
        return true;
    }

    /// <summary>Takes the slots out of the outbox. The caller has entered, paused or closed the magazine, and posts them.</summary>
    /// <returns>How many there were.</returns>
    internal int TakeOutgoing(Span<object?> into)
    {
        int count = _state.OutgoingCount;
        Outgoing.CopyTo(into);
        Outgoing.Clear();
        Volatile.Write(ref _state.OutgoingCount, 0);
        return count;
    }

    /// <summary>Posts claimed slots to their homes; those that cannot wait there go to the shared tier. The caller holds nothing.</summary>
    private static void Post(Bucket bucket, ReadOnlySpan<object?> slots)
    {
        if (PostOrTake(slots) is { } taken)
        {
            PutShared(bucket, taken);
        }
    }

    /// <summary>
    /// Posts claimed slots to their homes, neighbours with one home by one step, and evicts nothing, so that it may be called under the
    /// gate.
    /// </summary>
    /// <param name="slots">The slots, of one bucket.</param>
    /// <returns>Idle items that cannot wait where they were posted, because their home has closed or too many wait there; or null.
    /// </returns>
    internal static List<object?>? PostOrTake(ReadOnlySpan<object?> slots)
    {
        bool isCrowded = false;
        for (int start = 0, end; start < slots.Length; start = end)
        {
            Magazine home = HomeOf(slots[start]);
            end = start + 1;
            while (end < slots.Length && HomeOf(slots[end]) == home)
            {
                end++;
            }

            home.Inbox.Push(slots[start..end]);
            isCrowded |= home.IsCrowded;
        }

        if (!isCrowded)
        {
            return null;
        }

        // After all are posted: this may run out of memory.
        List<object?> taken = [];
        Magazine? tried = null; // once for neighbours: a visit costs a barrier, also where the owner is at work
        foreach (object? slot in slots)
        {
            Magazine home = HomeOf(slot);
            if (home != tried && home.IsCrowded)
            {
                home.TakeCrowd(taken);
            }

            tried = home;
        }

        return taken;
    }

    /// <summary>Whether nothing may wait in the inbox, or too much does.</summary>
    private bool IsCrowded => IsClosed || (Inbox.IsCrowded && !IsPrivate);

    private void TakeCrowd(List<object?> taken)
    {
        if (IsClosed)
        {
            EmptyClosedInbox(taken);
        }
        else if (!TryWidenInbox() && IsCrowded) // not where another poster has just widened it
        {
            TakeWaiting(taken);
        }
    }

    /// <summary>Widens the inbox until the next trim, and charges it, if half of the budget stays free. Any thread.</summary>
    /// <returns>False when the inbox is wide already, may not be wide, or the budget has no room.</returns>
    internal bool TryWidenInbox()
    {
        Budget budget = Bucket.Pool.Budget;
        long bytes = Bucket.WideInboxBytes;
        if (!Inbox.MayWiden || !budget.IsAmple(bytes) || !budget.TryCharge(bytes))
        {
            return false;
        }

        if (Inbox.TryWiden())
        {
            return true;
        }

        budget.Refund(bytes);
        return false;
    }

    private static Magazine HomeOf(object? slot) => ((Slot)slot!).Home;

    /// <summary>How many returns wait in the outbox. Right when no thread works here.</summary>
    internal int CountOutgoing()
    {
        int count = 0;
        object?[]? places = Volatile.Read(ref _state.Outgoing);
        for (int i = 0; places is not null && i < Math.Min(_state.OutgoingCount, places.Length); i++)
        {
            count += places[i] is Slot { IsPosted: true } ? 1 : 0;
        }

        return count;
    }
}

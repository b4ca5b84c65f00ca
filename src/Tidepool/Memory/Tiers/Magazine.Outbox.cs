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

    /// <summary>Keeps a claimed slot for its home, and posts all when the outbox is full. Only for the owning thread.</summary>
    /// <param name="slot">A slot of this bucket whose home is another magazine.</param>
    /// <returns>False when the magazine is paused or closed: the caller posts the slot itself.</returns>
    internal bool TryPostLater(Slot slot)
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
        PostAll(Items.Span(ref batch)[..count]);
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

    /// <summary>Posts claimed slots to their homes, neighbours with one home by one post. Any thread, with nothing held.</summary>
    private static void PostAll(ReadOnlySpan<object?> slots)
    {
        while (slots.Length > 0)
        {
            Magazine home = HomeOf(slots[0]);
            int run = 1;
            while (run < slots.Length && HomeOf(slots[run]) == home)
            {
                run++;
            }

            try
            {
                home.Post(slots[..run]);
            }
            catch
            {
                PostAll(slots[run..]);
                throw;
            }

            slots = slots[run..];
        }
    }

    /// <summary>Posts claimed slots to their homes and evicts nothing, so that it may be called under the gate.</summary>
    /// <param name="slots">What <see cref="TakeOutgoing"/> gave.</param>
    /// <param name="taken">Receives the items whose home has closed: they are idle.</param>
    internal static void PostOrTake(ReadOnlySpan<object?> slots, List<object?> taken)
    {
        foreach (object? slot in slots)
        {
            HomeOf(slot).Inbox.Push(new ReadOnlySpan<object?>(in slot));
        }

        // After all are posted: this may run out of memory.
        foreach (object? slot in slots)
        {
            Magazine home = HomeOf(slot);
            if (home.IsClosed)
            {
                home.EmptyClosedInbox(taken);
            }
        }
    }

    private static Magazine HomeOf(object? slot) => ((Slot)slot!).Home;

    private int CountOutgoing()
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

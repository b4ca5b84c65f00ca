namespace Tidepool;

/// <summary>
/// The fixed record of one buffer: it lives as long as its item and carries the ticket state. A lease is {slot, generation}.
/// </summary>
/// <remarks>
/// States of a slot, by its generation g and its posted generation p, which share one aligned word (<see cref="TicketState"/>):
/// <list type="bullet">
/// <item><b>idle</b>: g is even; the slot lies in a tier or is in one thread's hands.</item>
/// <item><b>leased</b>: g is odd and equals the generation of exactly one ticket; p is 0, or a stale posting: an older generation.</item>
/// <item><b>posted</b>: returned by a thread other than the home thread: g is odd, p = g, and the slot is, or is about to be, in the
/// inbox of its home.</item>
/// </list>
/// <para>Who may write. The home thread, inside its busy section: g by a plain 32-bit store, after reading g and p. A thread that holds
/// the idle slot: g by a plain store (<see cref="RentalState.Begin"/>). All other threads: the whole word by compare-and-swap, (g, p) to
/// (g, g) to claim, from any thread; (g, g) to (g + 1, 0) to end a posted rental and (g, p) to (g + 1, p) to take back, only from the
/// home thread inside its busy section, from a thread that has paused the home, or when the home is closed. A home return that races with
/// a claim leaves (g + 1, g): a stale posting, which loses.</para>
/// <para>A slot changes home only while it is idle and its p is 0; one with a stale posting is replaced by <see cref="Replace"/>. So the
/// inbox that holds a slot is always that of its home. Generations start at random, so that the ticket of another slot matches
/// with odds of 1 in 2^31; a ticket of this slot matches again after exactly 2^31 rentals.</para>
/// </remarks>
internal abstract class Slot : RentalState
{
    /// <summary>
    /// Of the first of several slots that were pushed at once: the number to the end of the inbox list; a hint, exact unless threads race.
    /// </summary>
    internal int Depth;

    internal Magazine Home = Magazine.None;
    internal Slot? Next;

    // Written by the claimer of the generation PostedGeneration before it pushes the slot; other postings know nothing of them.
    private int _postedGeneration;
    private int _postedLength;
    private object? _postedCompanion;

    /// <summary>Whether the slot is in an inbox, or about to be, with the return of a rental that is still out.</summary>
    internal bool IsPosted
    {
        get
        {
            long seen = Volatile.Read(ref State.Word);
            return TicketState.PostedOf(seen) != 0 && TicketState.PostedOf(seen) == TicketState.GenerationOf(seen);
        }
    }

    /// <summary>
    /// Whether the item lives on when the slot cannot be reached: native memory does, what the garbage collector manages does not.
    /// </summary>
    internal virtual bool OutlivesSlot => false;

    /// <summary>Gives the item of a slot that cannot be reached any more to its source.</summary>
    internal virtual void FreeLost()
    {
    }

    /// <summary>A new slot for the same item; this one is left without it. The caller holds this idle slot.</summary>
    internal abstract Slot Replace();

    /// <summary>Whether the item keeps objects alive, so that the end of a rental clears it.</summary>
    internal bool HoldsReferences { get; init; }

    /// <summary>Clears the first elements, or all, of an item that holds references, so that an idle one keeps no object alive.</summary>
    /// <param name="length">Elements, or -1 for all.</param>
    internal abstract void ClearReferences(int length);

    /// <summary>Claims the right to end the rental of <paramref name="generation"/> against all other threads that are not home.</summary>
    /// <param name="generation">The ticket's generation.</param>
    /// <param name="length">The rented length.</param>
    /// <param name="companion">What travels home with the slot, or null.</param>
    /// <param name="linked">True when a stale posting holds the slot in its home's inbox: it must not be pushed again.</param>
    /// <returns>False when the ticket is retired, or another thread claimed it first.</returns>
    internal bool TryClaim(int generation, int length, object? companion, out bool linked)
    {
        long seen = Volatile.Read(ref State.Word);
        while (TicketState.GenerationOf(seen) == generation && TicketState.PostedOf(seen) != generation)
        {
            Schedule.Point("claim");
            long found = Interlocked.CompareExchange(ref State.Word, TicketState.Of(generation, generation), seen);
            if (found == seen)
            {
                linked = TicketState.PostedOf(seen) != 0;
                // Most carry nothing, and their home need not fetch another cache line.
                if (!linked && (companion is not null || HoldsReferences))
                {
                    _postedGeneration = generation;
                    _postedLength = length;
                    _postedCompanion = companion;
                }

                return true;
            }

            seen = found;
        }

        linked = false;
        return false;
    }

    /// <summary>
    /// Ends a posted rental, or takes a stale posting away. The caller has the slot from its inbox, or claimed it, and may write the
    /// generation.
    /// </summary>
    /// <param name="companion">What came home with it.</param>
    /// <returns>False when the posting had lost against a return by the home thread: the slot is not the caller's.</returns>
    internal bool TryEndPosted(out object? companion)
    {
        long seen = Volatile.Read(ref State.Word);
        while (true)
        {
            Schedule.Point("settle");
            bool valid = TicketState.PostedOf(seen) == TicketState.GenerationOf(seen);
            bool known = valid && _postedGeneration == TicketState.GenerationOf(seen);
            int length = known ? _postedLength : -1;
            companion = known ? _postedCompanion : null;
            if (valid && HoldsReferences)
            {
                ClearReferences(length);
            }

            // Clear the field before publishing the new state: after that, the next claimer may write it.
            object? posted = _postedCompanion;
            if (posted is not null)
            {
                _postedCompanion = null;
            }

            int generation = TicketState.GenerationOf(seen);
            if (valid)
            {
                // No other thread writes now: claims fail on a claimed word. No locked instruction, so that settling many slots overlaps.
                Volatile.Write(ref State.Word, TicketState.Of(generation + 1, posted: 0));
                return true;
            }

            long found = Interlocked.CompareExchange(ref State.Word, TicketState.Of(generation, posted: 0), seen);
            if (found == seen)
            {
                return false;
            }

            _postedCompanion = posted;
            seen = found;
        }
    }

    /// <summary>Ends the rental and leaves the idle slot in the caller's hands. The caller may write the generation.</summary>
    /// <returns>False when the ticket was retired before.</returns>
    internal bool TryTakeBack(int generation)
    {
        long seen = Volatile.Read(ref State.Word);
        while (TicketState.GenerationOf(seen) == generation && TicketState.PostedOf(seen) != generation)
        {
            Schedule.Point("take back");
            long idle = TicketState.Of(generation + 1, TicketState.PostedOf(seen));
            long found = Interlocked.CompareExchange(ref State.Word, idle, seen);
            if (found == seen)
            {
                return true;
            }

            seen = found;
        }

        return false;
    }

    /// <summary>
    /// This slot for a new home, or its replacement when a stale posting holds it in the inbox of the old one. The caller holds the idle
    /// slot.
    /// </summary>
    internal Slot MoveTo(Magazine home)
    {
        Slot mover = this;
        if (Home != home)
        {
            mover = Volatile.Read(ref State.Posted) == 0 ? this : Replace();
            mover.Home = home;
        }

        return mover;
    }
}

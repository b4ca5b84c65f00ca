using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.ConstrainedExecution;

namespace Tidepool;

/// <summary>
/// What is known of one item's rentals: in full checks and for native memory of every item, else of the sampled ones. Its finalizer runs
/// when the item was dropped: the item's slot refers to it, so it dies with the slot.
/// </summary>
/// <remarks>
/// One look at a dead item proves nothing. An ordinary finalizer of a renter that died together with it may have returned it a moment ago,
/// and the next renter may have it by now. So the finalizer remembers the rental that it saw and asks to be run again: an item that is
/// found dead a second time, in the same rental or idle since, has no renter left. The finalizer is a critical one because those run
/// last, after what the ordinary finalizers of the same collection return.
/// </remarks>
/// <param name="pool">The pool of the item that is watched.</param>
/// <param name="slot">The slot that tells whether the item is rented, or null when <see cref="TryBegin"/> and <see cref="TryEnd"/>
/// tell.</param>
/// <param name="bytes">What the item counts for while it is rented.</param>
/// <param name="what">What is dropped when the rental is, as a sentence begins: "A lease".</param>
/// <param name="length">How many elements it has; 0 for what has none.</param>
internal sealed class RentalRecord(TieredPool pool, RentalState? slot, long bytes, string what, int length = 0) : CriticalFinalizerObject
{
    private StackTrace? _rentedAt;
    private StackTrace? _returnedAt;
    private TicketState _own; // where there is no slot: odd while a rental is out
    private long? _wordWhenDead;

    ~RentalRecord()
    {
        if (!Environment.HasShutdownStarted && !TryConclude())
        {
            GC.ReRegisterForFinalize(this);
        }
    }

    /// <summary>Whether the idle buffer is filled with the pattern.</summary>
    internal bool IsPoisoned { get; set; }

    /// <summary>Begins a rental.</summary>
    /// <returns>False when one is out already.</returns>
    internal bool TryBegin(StackTrace? stack)
    {
        if (!TryStep(isOut: false))
        {
            return false;
        }

        (_rentedAt, _returnedAt) = (stack, null);
        return true;
    }

    /// <summary>Ends a rental; where it was made is known, where it ended is recorded too.</summary>
    /// <returns>False when none is out.</returns>
    internal bool TryEnd(Func<StackTrace> capture)
    {
        if (!TryStep(isOut: true))
        {
            return false;
        }

        _returnedAt = _rentedAt is null ? null : capture();
        return true;
    }

    /// <summary>Begins or ends a rental of an item that has no slot.</summary>
    private bool TryStep(bool isOut)
    {
        int seen = Volatile.Read(ref _own.Generation);
        return IsOdd(seen) == isOut && Interlocked.CompareExchange(ref _own.Generation, seen + 1, seen) == seen;
    }

    private static bool IsOdd(int generation) => (generation & 1) != 0;

    /// <summary>The buffer has left the pool in good order.</summary>
    [SuppressMessage(
        "Usage", "CA1816:Dispose methods should call SuppressFinalize",
        Justification = "The finalizer is the leak detector; there is nothing to dispose.")]
    internal void StopWatching() => GC.SuppressFinalize(this);

    /// <summary>
    /// Judges an item that is found dead: a lost rental is counted and reported, and memory that the collector does not manage goes back
    /// to its source.
    /// </summary>
    /// <returns>False when the item must be found dead once more.</returns>
    private bool TryConclude()
    {
        ref TicketState state = ref (slot is null ? ref _own : ref slot.State);
        var seen = new TicketState { Word = Volatile.Read(ref state.Word) };
        if (seen.Word != _wordWhenDead)
        {
            _wordWhenDead = seen.Word;
            return false;
        }

        Slot? native = slot is Slot { OutlivesSlot: true } lost ? lost : null;
        if (IsOdd(seen.Generation) && seen.Posted != seen.Generation)
        {
            // Before memory is freed, the claim retires every ticket.
            bool linked = false;
            if (native is not null && !native.TryClaim(seen.Generation, -1, null, out linked))
            {
                return false;
            }

            Report();
            if (linked)
            {
                return false; // it comes home by its inbox, and is counted there
            }

            pool.Counters.AddReturns(1, bytes);
        }

        native?.FreeLost();
        return true;
    }

    private void Report()
    {
        if (!pool.Retired)
        {
            pool.ReportLater(MisuseKind.NeverReturned, () => new(length == 0 ? what : $"{what} of {length} elements", Where()));
        }
    }

    /// <summary>Where the buffer was rented and returned, as far as it was recorded.</summary>
    internal string? Where()
    {
        string? text = _rentedAt is null ? null : $"Rented at:\n{CallerStack.Describe(_rentedAt)}";
        if (_returnedAt is not null)
        {
            text = $"{text}{(text is null ? null : "\n")}Returned at:\n{CallerStack.Describe(_returnedAt)}";
        }

        return text;
    }
}

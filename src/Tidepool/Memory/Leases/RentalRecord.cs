using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.ConstrainedExecution;

namespace Tidepool;

/// <summary>
/// What is known of one item's rentals: in full checks and for native memory of every item, else of the sampled ones. Its finalizer runs
/// when the item was dropped while rented: the item's slot refers to it, so it dies with the slot.
/// </summary>
/// <remarks>
/// The finalizer is a critical one because those run last: an ordinary finalizer of a renter that died together with the buffer may still
/// return it. Then the buffer is in its pool again, and the record watches on.
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
    private int _out;
    private long? _wordWhenLost;

    ~RentalRecord()
    {
        if (Environment.HasShutdownStarted)
        {
            return;
        }

        if (slot is Slot { OutlivesSlot: true } lost)
        {
            FreeLostItem(lost);
        }
        else if (slot is null ? Volatile.Read(ref _out) != 0 : slot.IsLeased)
        {
            CountLost();
            Report();
        }
    }

    /// <summary>Whether the idle buffer is filled with the pattern.</summary>
    internal bool IsPoisoned { get; set; }

    /// <summary>Begins a rental.</summary>
    /// <returns>False when one is out already.</returns>
    internal bool TryBegin(StackTrace? stack)
    {
        if (Interlocked.Exchange(ref _out, 1) != 0)
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
        if (Interlocked.Exchange(ref _out, 0) == 0)
        {
            return false;
        }

        _returnedAt = _rentedAt is null ? null : capture();
        return true;
    }

    /// <summary>The buffer has left the pool in good order.</summary>
    [SuppressMessage(
        "Usage", "CA1816:Dispose methods should call SuppressFinalize",
        Justification = "The finalizer is the leak detector; there is nothing to dispose.")]
    internal void StopWatching() => GC.SuppressFinalize(this);

    /// <summary>
    /// Gives memory that the collector does not manage to its source when the slot cannot be reached: at once while it is leased, because
    /// the claim retires every ticket. An idle or posted slot may have come back from a finalizer a moment ago; only when it is found
    /// dead a second time and nothing has happened to it in between, it has no renter (the stock of a thread handle that was never
    /// disposed).
    /// </summary>
    private void FreeLostItem(Slot lost)
    {
        var seen = new TicketState { Word = Volatile.Read(ref lost.State.Word) };
        bool isLeased = lost.IsActive(seen.Generation) && (seen.Generation & 1) != 0;
        if (isLeased && lost.TryClaim(seen.Generation, -1, null, out bool linked))
        {
            if (!linked)
            {
                CountLost(); // a linked one comes home and is counted there
            }

            Report();
            if (!linked)
            {
                lost.FreeLost();
                return;
            }
        }
        else if (seen.Word == _wordWhenLost)
        {
            lost.FreeLost();
            return;
        }

        _wordWhenLost = Volatile.Read(ref lost.State.Word);
        GC.ReRegisterForFinalize(this);
    }

    private void Report()
    {
        if (!pool.Retired)
        {
            pool.ReportLater(MisuseKind.NeverReturned, () => new(length == 0 ? what : $"{what} of {length} elements", Where()));
        }
    }

    /// <summary>What is lost is no longer leased.</summary>
    private void CountLost() => pool.Counters.AddReturns(1, bytes);

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

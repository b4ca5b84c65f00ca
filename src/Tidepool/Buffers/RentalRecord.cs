using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool;

/// <summary>
/// What is known of one buffer's rentals: in full checks of every buffer, else of the sampled ones. Its finalizer runs when the buffer was
/// dropped while rented: the buffer refers to it, so it dies with the buffer.
/// </summary>
internal sealed class RentalRecord
{
    private readonly Station _station;
    private readonly Slot? _slot;
    private StackTrace? _rentedAt;
    private StackTrace? _returnedAt;
    private int _out;

    /// <summary>Watches a buffer.</summary>
    /// <param name="station">The pool.</param>
    /// <param name="slot">The slot that tells whether the buffer is rented, or null when <see cref="TryBegin"/> and <see cref="TryEnd"/> tell.</param>
    internal RentalRecord(Station station, Slot? slot)
    {
        _station = station;
        _slot = slot;
    }

    ~RentalRecord()
    {
        bool isOut = _slot is null ? Volatile.Read(ref _out) != 0 : _slot.IsLeased;
        if (isOut && !_station.Retired && !Environment.HasShutdownStarted)
        {
            _station.ReportLater(MisuseKind.NeverReturned, Where());
        }
    }

    /// <summary>Whether the idle buffer is filled with the pattern.</summary>
    internal bool IsPoisoned { get; set; }

    /// <summary>The call site, without files and lines: they are looked up when a report is written, which is slow.</summary>
    internal static StackTrace CaptureStack() => new(2, fNeedFileInfo: false);

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
    [SuppressMessage("Usage", "CA1816:Dispose methods should call SuppressFinalize", Justification = "The finalizer is the leak detector; there is nothing to dispose.")]
    internal void Forget() => GC.SuppressFinalize(this);

    /// <summary>Where the buffer was rented and returned, as far as it was recorded.</summary>
    internal string? Where()
    {
        string? text = _rentedAt is null ? null : $"Rented at:\n{_rentedAt.ToString().TrimEnd()}";
        if (_returnedAt is not null)
        {
            text = $"{text}{(text is null ? null : "\n")}Returned at:\n{_returnedAt.ToString().TrimEnd()}";
        }

        return text;
    }
}

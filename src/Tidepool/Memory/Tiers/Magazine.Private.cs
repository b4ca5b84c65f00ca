using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>
/// Magazines of thread handles: in no table, so that no thread visits them, and used by one thread. Popping needs neither <c>Busy</c> nor
/// <c>Stop</c>. Other threads push to the inbox as long as its ring has places; then they settle what they return themselves, once the
/// owner is not in the middle of a return.
/// </content>
internal sealed partial class Magazine
{
    /// <summary>Set for a magazine that is in no table.</summary>
    internal bool IsPrivate { get; init; }

    /// <summary>What ends this magazine, if it is one of a handle.</summary>
    internal HandleStock? Stock { get; set; }

    /// <summary>Whether the handle of this magazine was disposed.</summary>
    internal bool IsDisposedHandle => IsPrivate && IsClosed;

    /// <summary>Takes the newest item, or null. Only for the thread of the handle.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal object? PopPrivate()
    {
        if (_state.HotFull != 0)
        {
            _state.HotFull = 0;
            _state.Rents++;
            return _state.Hot;
        }

        int last = _state.Count - 1;
        if (last < 0)
        {
            return null;
        }

        _state.Count = last;
        _state.Rents++;
        return Items.At(ref _state.Items, last);
    }

    /// <summary>Ends a rental and keeps the slot. Only for the thread of the handle, and only for slots whose home this is.</summary>
    /// <returns>False when the ticket is retired or posted, the magazine is full, or the handle was disposed.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryReturnPrivate(Slot slot, int generation)
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("return: busy");
        bool isKept = TryKeepPrivate(slot, generation);
        Volatile.Write(ref _state.Busy, 0);
        return isKept;
    }

    /// <summary>
    /// Waits until the owner is outside of a return. A claim that was made before is exact then: the owner has ended the rental, or sees
    /// the claim. Takes a process-wide barrier (about a microsecond). Any thread but the owner's.
    /// </summary>
    internal void WaitForOwner()
    {
        Interlocked.MemoryBarrierProcessWide();
        var spin = default(SpinWait);
        while (Volatile.Read(ref _state.Busy) != 0)
        {
            Schedule.Spin(ref spin);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool TryKeepPrivate(Slot slot, int generation)
    {
        if (slot.State.Generation != generation || slot.State.Posted != 0 || _state.Stop != Open)
        {
            return false;
        }

        Schedule.Point("return: checked");
        if (_state.HotFull == 0)
        {
            slot.State.Generation = generation + 1;
            if (_state.Hot != slot)
            {
                _state.Hot = slot;
            }

            _state.HotFull = 1;
            return true;
        }

        int count = _state.Count;
        if (count >= _state.Capacity)
        {
            return false;
        }

        slot.State.Generation = generation + 1;
        ref object? place = ref Items.At(ref _state.Items, count);
        if (place != slot)
        {
            place = slot;
        }

        _state.Count = count + 1;
        return true;
    }
}

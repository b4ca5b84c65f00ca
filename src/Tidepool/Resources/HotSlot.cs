using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>Holds one item, which is taken without a lock: the one that was put there last, while the slot is open.</summary>
/// <remarks>
/// Opened and closed under the owner's lock. An owner that has to see all items closes the slot first and takes what is in it then. A
/// thread that puts an item looks afterwards whether the slot is still open, and takes the item back if not. Both steps are full fences,
/// so one of the two sees the other, and no item stays in a closed slot.
/// </remarks>
internal sealed class HotSlot<T>
    where T : class
{
    private T? _item;
    private volatile bool _isOpen;

    internal bool IsOpen => _isOpen;

    /// <summary>Whether there is something to take, at this moment.</summary>
    internal bool IsReady
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)] // a hit asks this first
        get => _isOpen && _item is not null;
    }

    /// <summary>Whether an item is in the closed slot; right only while no thread is between putting one there and looking.</summary>
    internal bool IsClosedWithItem => !_isOpen && _item is not null;

    /// <summary>Lets items be put there, under the owner's lock.</summary>
    internal void Open() => _isOpen = true;

    /// <summary>Lets no more items be put there, under the owner's lock.</summary>
    /// <returns>What was there, which is the caller's now; null where the slot was empty, or closed before.</returns>
    internal T? Close()
    {
        if (!_isOpen)
        {
            return null; // the closing has taken what was there, and what is put there later is taken back
        }

        _isOpen = false;
        return Take();
    }

    /// <summary>Takes what is there, whether the slot is open or not.</summary>
    internal T? Take() => Interlocked.Exchange(ref _item, null);

    /// <summary>Puts an item there. Where the slot is closed afterwards, <see cref="TakeIfClosed"/> must follow.</summary>
    /// <returns>What was there before, which is the caller's now; or null.</returns>
    internal T? Put(T item) => Interlocked.Exchange(ref _item, item);

    /// <summary>Takes an item back that was put there while the slot was closed.</summary>
    internal T? TakeIfClosed() => _isOpen ? null : Take();
}

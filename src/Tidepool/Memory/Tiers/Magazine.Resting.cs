using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <content>
/// Places in which items without a ticket rest, first in, first out, before the thread rents them again. A thread that still works on an
/// item which another one has just returned then meets an idle item, and not the next renter's. They lie in front of the stack: a thread
/// that has one item at a time touches nothing else, and puts each item back where it lay, without a write barrier.
/// </content>
internal sealed partial class Magazine
{
    /// <summary>One more than the items that must rest behind an item before it is rented again; a power of two.</summary>
    internal const int RestingPlaces = 8;

    /// <summary>Takes the item that has rested longest, once all others rest behind it. Only for the owning thread.</summary>
    /// <returns>Null when too few rest here, or the magazine is paused or closed.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal object? TryTakeRested()
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("take rested: busy");
        if (Volatile.Read(ref _state.Stop) == Open && _state.RestingCount == RestingPlaces)
        {
            // All places are in use, so the oldest item lies where the next one comes.
            object? item = RestingPlace(_state.NextPlace);
            _state.RestingCount = RestingPlaces - 1;
            _state.Rents++;
            Schedule.Point("take rested: item");
            Volatile.Write(ref _state.Busy, 0);
            return item;
        }

        Volatile.Write(ref _state.Busy, 0);
        Schedule.Point("shut");
        return null;
    }

    /// <summary>Lets an item rest. Only for the owning thread.</summary>
    /// <returns>False when every place is in use, or the magazine is paused or closed.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryRest(object item)
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("rest: busy");
        if (Volatile.Read(ref _state.Stop) == Open && _state.RestingCount < RestingPlaces)
        {
            int place = _state.NextPlace;
            StoreIfDifferent(ref RestingPlace(place), item);
            _state.NextPlace = (place + 1) & (RestingPlaces - 1);
            _state.RestingCount++;
            Schedule.Point("rest: item");
            Volatile.Write(ref _state.Busy, 0);
            return true;
        }

        Volatile.Write(ref _state.Busy, 0);
        Schedule.Point("shut");
        return false;
    }

    /// <summary>Lets an item rest where every place is in use. Only for the owning thread.</summary>
    /// <returns>What has to be kept elsewhere: the item that has rested longest, or <paramref name="item"/> when the magazine is paused
    /// or closed.</returns>
    internal object RestInstead(object item)
    {
        if (!TryEnter())
        {
            return item;
        }

        if (_state.RestingCount == RestingPlaces)
        {
            ref object? place = ref RestingPlace(_state.NextPlace);
            (place, item) = (item, place!);
            _state.NextPlace = (_state.NextPlace + 1) & (RestingPlaces - 1);
        }

        Leave();
        return item;
    }

    private ReadOnlySpan<object?> RestingItems()
    {
        if (_state.RestingCount == 0)
        {
            return [];
        }

        var items = new object?[_state.RestingCount];
        for (int i = 0; i < items.Length; i++)
        {
            items[i] = RestingPlace((_state.NextPlace - items.Length + i) & (RestingPlaces - 1));
        }

        return items;
    }

    private void TakeResting(List<object?> taken)
    {
        taken.AddRange(RestingItems());
        _state.Flushed += _state.RestingCount;
        _state.RestingCount = 0;
    }

    private void ClearStaleResting()
    {
        for (int i = _state.RestingCount; i < (Bucket.IsRested ? RestingPlaces : 0); i++)
        {
            RestingPlace((_state.NextPlace + i - _state.RestingCount) & (RestingPlaces - 1)) = null;
        }
    }

    /// <summary>A place, without a bounds check: the caller knows 0 &lt;= index &lt; RestingPlaces.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref object? RestingPlace(int index) =>
        ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(_state.Resting), (nint)(uint)index);
}

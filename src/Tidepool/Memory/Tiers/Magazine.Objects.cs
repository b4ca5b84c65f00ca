using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <content>
/// Magazines of items without homes: objects. They are a plain stack: items are taken in exactly the reverse order of their return, so
/// each often finds its place still holding it, and the write barrier, which costs more than all the rest, is not needed at any depth. An
/// exchange with the shared tier swaps the stack's array for a chunk's: nothing is copied, and thousands of items find their places too.
/// The lowest place is the hot one, and stands for the array's first: a thread that has one object at a time reads nothing else.
/// </content>
internal sealed partial class Magazine
{
    // How many of the newest items a return without a ticket is compared with, to find a second return.
    private const int Compared = 15;

    /// <summary>All places but the hot one, those in use first.</summary>
    private Span<object?> Places => Bucket.HoldsObjects ? _state.Stack.AsSpan(1) : Items.Span(ref _state.Items);

    /// <summary>Takes the item that was returned last. Only for the owning thread. No locked instruction, no call.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal object? TryPopLast()
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("pop last: busy");
        if (Volatile.Read(ref _state.Stop) == Open)
        {
            int count = _state.Count;
            if (count > 0)
            {
                object? item = Place(count);
                _state.Count = count - 1;
                _state.Rents++;
                Schedule.Point("pop last: item");
                Volatile.Write(ref _state.Busy, 0);
                return item;
            }

            if (_state.HotFull != 0)
            {
                object? item = _state.Hot;
                _state.HotFull = 0;
                _state.Rents++;
                Schedule.Point("pop last: hot");
                Volatile.Write(ref _state.Busy, 0);
                return item;
            }
        }

        Volatile.Write(ref _state.Busy, 0);
        Schedule.Point("shut");
        return null;
    }

    /// <summary>Keeps an item. Only for the owning thread.</summary>
    /// <param name="item">The item.</param>
    /// <param name="hasTicket">True if a ticket excludes a second return. False: it is compared with the last item.</param>
    /// <returns>False when the slow path must decide: paused, closed, full, or the item is the one that was returned last (returned
    /// twice).</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryPushLast(object item, bool hasTicket)
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("push last: busy");
        if (Volatile.Read(ref _state.Stop) == Open)
        {
            if (_state.HotFull == 0)
            {
                StoreIfDifferent(ref _state.Hot, item);
                _state.HotFull = 1;
                Schedule.Point("push last: hot");
                Volatile.Write(ref _state.Busy, 0);
                return true;
            }

            int count = _state.Count;
            if (count < _state.Capacity && (hasTicket || (count == 0 ? _state.Hot : Place(count)) != item))
            {
                StoreIfDifferent(ref Place(count + 1), item);
                _state.Count = count + 1;
                Schedule.Point("push last: item");
                Volatile.Write(ref _state.Busy, 0);
                return true;
            }
        }

        Volatile.Write(ref _state.Busy, 0);
        Schedule.Point("shut");
        return false;
    }

    /// <summary>Refills by an exchange of arrays, and takes the newest item.</summary>
    private object? RefillBySwap(Chunk chunk)
    {
        int last = chunk.Count - 1;
        object? item = chunk.Places[last]; // before entering: an empty chunk, which there never is, would throw
        if (!TryEnter())
        {
            return null;
        }

        // The newest is rented at once. Nothing in here allocates or throws.
        int moved = Math.Min(last, _state.Capacity + 1 - _state.Count - _state.HotFull);
        if (moved == last && _state.HotFull == 0)
        {
            (_state.Stack, chunk.Places) = (chunk.Places, _state.Stack);
            chunk.Count = 0;
            if (moved > 0)
            {
                StoreIfDifferent(ref _state.Hot, Place(0)!);
                _state.HotFull = 1;
                _state.Count = moved - 1;
            }
        }
        else
        {
            Span<object?> source = chunk.Places.AsSpan(last - moved, moved + 1);
            foreach (object? other in source[..moved])
            {
                PushEntered(other!);
            }

            source.Clear();
            chunk.Count = last - moved;
        }

        _state.Refilled += moved + 1;
        _state.Rents++;
        Leave();
        return item;
    }

    /// <summary>Takes a chunk out of the shared tier, and leaves the spare one there. Only for the owning thread.</summary>
    internal Chunk? TakeShared()
    {
        Chunk? spare = TakeSpare();
        Chunk? chunk = Bucket.Shared.TryTake(ref spare);
        KeepSpare(spare);
        return chunk;
    }

    /// <summary>Whether the idle item lies here. Only for the owning thread.</summary>
    internal bool Holds(object item)
    {
        if (!TryEnter())
        {
            return false;
        }

        bool holds = Contains(item, _state.Count);
        Leave();
        return holds;
    }

    /// <summary>Whether the item is the hot one or one of the last ones above it.</summary>
    private bool Contains(object item, int last)
    {
        if (_state.HotFull != 0 && _state.Hot == item)
        {
            return true;
        }

        Span<object?> places = Places[.._state.Count];
        for (int i = places.Length - 1; i >= Math.Max(0, places.Length - last); i--)
        {
            if (places[i] == item)
            {
                return true;
            }
        }

        return false;
    }

    private Chunk? TakeSpare()
    {
        if (_state.Spare is null || !TryEnter())
        {
            return null;
        }

        // Inside, because a visitor clears it, and what its places still refer to.
        Chunk? spare = _state.Spare;
        _state.Spare = null;
        Leave();
        return spare;
    }

    /// <summary>Keeps an empty chunk for the next exchange.</summary>
    private void KeepSpare(Chunk? spare)
    {
        if (spare is not null && TryEnter())
        {
            (_state.Spare, spare) = (spare, _state.Spare);
            Leave();
        }

        if (spare is not null)
        {
            Bucket.Shared.GiveEmpty(spare);
        }
    }

    /// <summary>Puts an item into a place, which often still holds it: comparing is cheaper than the write barrier.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void StoreIfDifferent(ref object? place, object item)
    {
        if (place != item)
        {
            place = item;
        }
    }

    /// <summary>A place of the stack, without a bounds check: the caller knows 0 &lt;= index &lt;= Capacity.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref object? Place(int index) => ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(_state.Stack), (nint)(uint)index);
}

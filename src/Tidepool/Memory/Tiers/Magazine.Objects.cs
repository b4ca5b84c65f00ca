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
    // Items that stay when a full magazine is flushed, so that a thread near the limit does not exchange chunks at each step.
    private const int Newest = 2;

    // A thread that has flushed so many items works with hundreds of them: its magazine may grow.
    private const int Many = 128;

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

    /// <summary>
    /// Puts a chunk into the shared tier as <see cref="PutShared(Bucket, Chunk)"/> does; a magazine of objects takes an empty one from
    /// there for the next time. Only for the owning thread.
    /// </summary>
    internal void PutShared(Chunk? chunk)
    {
        if (chunk is null || !Bucket.HoldsObjects)
        {
            if (!PutShared(Bucket, chunk))
            {
                Owners = null; // they refer to the buffers they had, which the budget has just refused
            }

            return;
        }

        Chunk? spare = chunk.Count == 0 ? chunk : null;
        if (spare is null && !Bucket.Shared.TryPut(chunk, ref spare))
        {
            PutShared(Bucket, chunk);
        }

        KeepSpare(spare);
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

    /// <summary>
    /// Flushes all but the newest two: few exchanges when a thread returns many. The chunk's array becomes the stack, and the stack's the
    /// chunk's.
    /// </summary>
    private void FlushBySwap(Chunk into)
    {
        object?[] full = _state.Stack;
        int stay = Math.Min(Newest, _state.Count);
        int leave = _state.Count + 1 - stay;
        StoreIfDifferent(ref full[0], _state.Hot!);
        _state.Stack = into.Places;
        into.Places = full;
        into.Count = leave;
        _state.Count = _state.HotFull = 0;
        _state.Flushed += leave;
        for (int i = leave; i < leave + stay; i++)
        {
            PushEntered(full[i]!);
        }

        full.AsSpan(leave).Clear();
    }

    /// <summary>
    /// Room for more in the magazine of a thread that has given many to the shared tier, as long as half of the budget stays free for
    /// others: for objects, and for buffers where the budget was tight when the magazine was made. Only for the owning thread.
    /// </summary>
    /// <returns>False when it stays as it is.</returns>
    private bool TryGrow()
    {
        int places = Bucket.GrownCapacity - _state.Capacity;
        long bytes = places * Bucket.ItemBytes;
        Budget budget = Bucket.Pool.Budget;
        if (places <= 0 || _state.Flushed < Many || !budget.IsAmple(bytes) || !budget.TryCharge(bytes))
        {
            return false;
        }

        if (!TryEnter())
        {
            budget.Refund(bytes);
            return false;
        }

        _state.Capacity += places;
        Charge += bytes;
        Leave();
        return true;
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

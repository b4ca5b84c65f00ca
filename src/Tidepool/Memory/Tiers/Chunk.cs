using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>Idle items on their way through the shared tier. Owned by one thread or one stripe at a time.</summary>
internal sealed class Chunk
{
    /// <summary>
    /// The places. Behind the last item there is nothing, but an empty chunk of objects may still show what lay there
    /// (<see cref="ClearPlaces"/>).
    /// </summary>
    internal object?[] Places;

    internal int Count;

    /// <summary>Makes an empty chunk.</summary>
    /// <param name="capacity">The most items; the same for all chunks of a bucket.</param>
    internal Chunk(int capacity) => Places = new object?[capacity];

    internal bool IsFull => Count == Places.Length;

    internal void Add(object item)
    {
        Places.AsSpan()[Count] = item; // through a span, which needs no look at the type of the array's elements
        Count++;
    }

    /// <summary>Adds several at once: one bulk copy instead of a write barrier for each.</summary>
    internal void Add(ReadOnlySpan<object?> items)
    {
        items.CopyTo(Places.AsSpan(Count));
        Count += items.Length;
    }

    /// <summary>Takes the item that was added last out of a chunk that has one.</summary>
    internal object RemoveLast()
    {
        Count--;
        object item = Places[Count]!;
        Places[Count] = null;
        return item;
    }

    /// <summary>Moves the items that were added last into an empty chunk.</summary>
    internal void MoveLast(int count, Chunk into)
    {
        Span<object?> last = Places.AsSpan(Count - count, count);
        into.Add(last);
        last.Clear();
        Count -= count;
    }

    /// <summary>Moves the items that were added first into an empty chunk.</summary>
    internal void MoveOldest(int count, Chunk into)
    {
        Span<object?> items = Places.AsSpan(0, Count);
        into.Add(items[..count]);
        items[count..].CopyTo(items);
        items[^count..].Clear();
        Count -= count;
    }

    /// <summary>Whether the item is one of the newest, down to the place <paramref name="oldest"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool HoldsLately(object item, int oldest)
    {
        // No bounds check: 0 <= oldest, Count <= Places.Length.
        ref object? first = ref MemoryMarshal.GetArrayDataReference(Places);
        for (nint i = Count - 1; i >= oldest; i--)
        {
            if (Unsafe.Add(ref first, i) == item)
            {
                return true;
            }
        }

        return false;
    }

    internal ReadOnlySpan<object?> Content() => Places.AsSpan(0, Count);

    internal void Clear()
    {
        Places.AsSpan(0, Count).Clear();
        Count = 0;
    }

    /// <summary>Clears what the places of an empty chunk still refer to.</summary>
    internal void ClearPlaces() => Places.AsSpan().Clear();
}

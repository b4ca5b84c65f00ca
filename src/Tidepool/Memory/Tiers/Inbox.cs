using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The slots that other threads returned: any thread posts, one thread at a time collects. First a ring, then a lock-free stack
/// without limit.
/// </summary>
/// <remarks>
/// <para>The ring is what makes collecting fast: its places are neighbours, so the collector reads the slots, which lie in other cores'
/// caches, one after the other without waiting for each to learn the next. A poster takes a place by compare-and-swap on the tail and
/// then writes its slot there; the collector empties places until it meets one that is not written yet. This is the bounded queue of D.
/// Vyukov with a null place instead of sequence numbers, which suffices because a place is reused only after the collector has moved the
/// head beyond it.</para>
/// <para>The stack is R. K. Treiber's (1986) without pop: taking all by one exchange leaves no ABA problem.</para>
/// <para>What posters write, what the collector writes and what both only read lies on cache lines apart. Order: a post's write of its
/// place is a release, the collector's read an acquire; the same holds for the stack's compare-and-swap and exchange.</para>
/// </remarks>
internal sealed class Inbox
{
    private const int MostPlaces = 256;
    private const int Never = -1;
    private const int MaxSteps = 1 << 20; // a list that is taken while it is counted may lead anywhere

    private readonly int _places;
    private readonly int _narrow;
    private readonly int _wide; // or never
    private int _limit;
    private Slot? _stack;
    private Place[]? _ring;

    private PaddedInt _tail;
    private PaddedInt _head;

    /// <summary>Makes a narrow inbox.</summary>
    /// <param name="limit">The most slots that may wait in the ring, though never more than 256, and again in the stack before the inbox
    /// is crowded.</param>
    /// <param name="wide">The most that may wait in the stack while the inbox is wide.</param>
    internal Inbox(int limit, int wide)
    {
        _places = Math.Min(limit, MostPlaces);
        (_narrow, _wide, _limit) = (limit, wide > limit ? wide : Never, limit);
    }

    internal bool IsEmpty
    {
        get
        {
            Place[]? ring = Volatile.Read(ref _ring);
            return Volatile.Read(ref _stack) is null
                && (ring is null || Volatile.Read(ref ring[_head.Value & (ring.Length - 1)].Slot) is null);
        }
    }

    /// <summary>Whether the ring has no place left.</summary>
    internal bool IsRingFull => Volatile.Read(ref _tail.Value) - Volatile.Read(ref _head.Value) >= _places;

    /// <summary>Whether the stack has about reached its limit.</summary>
    internal bool IsCrowded => (Volatile.Read(ref _stack) is { } top ? top.Depth : 0) >= Volatile.Read(ref _limit);

    /// <summary>How many returns wait: slots whose posting did not lose a race. Exact when no thread posts or collects.</summary>
    internal int Count
    {
        get
        {
            int count = 0;
            foreach (Place place in Volatile.Read(ref _ring) ?? [])
            {
                count += place.Slot is { IsPosted: true } ? 1 : 0;
            }

            int steps = 0;
            for (Slot? slot = Volatile.Read(ref _stack); slot is not null && steps < MaxSteps; slot = slot.Next)
            {
                steps++;
                count += slot.IsPosted ? 1 : 0;
            }

            return count;
        }
    }

    /// <summary>Whether <see cref="TryWiden"/> may succeed. Any thread; out of date at once.</summary>
    internal bool MayWiden => _wide != Never && Volatile.Read(ref _limit) == _narrow;

    /// <summary>Lets more slots wait. Any thread.</summary>
    /// <returns>False when the inbox is wide or closed: nothing was changed.</returns>
    internal bool TryWiden()
    {
        Schedule.Point("inbox widen");
        return MayWiden && Interlocked.CompareExchange(ref _limit, _wide, _narrow) == _narrow;
    }

    /// <summary>Ends what <see cref="TryWiden"/> began. One visitor at a time.</summary>
    /// <returns>False when the inbox is not wide: nothing was changed.</returns>
    internal bool TryNarrow()
    {
        if (Volatile.Read(ref _limit) != _wide)
        {
            return false;
        }

        Schedule.Point("inbox narrow");
        Volatile.Write(ref _limit, _narrow); // posters change only what is narrow
        return true;
    }

    /// <summary>Stops further widening. One visitor at a time, the last one.</summary>
    /// <returns>Whether the inbox was wide.</returns>
    internal bool Close()
    {
        Schedule.Point("inbox close");
        return Interlocked.Exchange(ref _limit, 0) == _wide;
    }

    /// <summary>Makes the ring, so that <see cref="Push"/> allocates nothing.</summary>
    internal void MakeRing()
    {
        if (Volatile.Read(ref _ring) is null)
        {
            Interlocked.CompareExchange(ref _ring, new Place[BitOperations.RoundUpToPowerOf2((uint)_places)], null);
        }
    }

    /// <summary>Adds claimed slots, as many as there is room for by one step of the ring's tail.</summary>
    internal void Push(ReadOnlySpan<object?> slots)
    {
        Place[] ring = Volatile.Read(ref _ring)!;
        int tail = Volatile.Read(ref _tail.Value);
        int room = _places - (tail - Volatile.Read(ref _head.Value));
        while (slots.Length > 0 && room > 0)
        {
            int count = Math.Min(slots.Length, room);
            Schedule.Point("inbox place");
            int found = Interlocked.CompareExchange(ref _tail.Value, tail + count, tail);
            if (found == tail)
            {
                for (int i = 0; i < count; i++)
                {
                    Schedule.Point("inbox write");
                    Volatile.Write(ref ring[(tail + i) & (ring.Length - 1)].Slot, Unsafe.As<Slot>(slots[i]));
                }

                slots = slots[count..];
                found = tail + count;
            }

            tail = found;
            room = _places - (tail - Volatile.Read(ref _head.Value));
        }

        if (slots.Length > 0)
        {
            PushOnStack(slots);
        }
    }

    /// <summary>Takes one slot from the ring. One thread at a time.</summary>
    internal Slot? TryTake()
    {
        Place[]? ring = Volatile.Read(ref _ring);
        if (ring is null)
        {
            return null;
        }

        int head = _head.Value;
        ref Slot? place = ref ring[head & (ring.Length - 1)].Slot;
        Slot? slot = Volatile.Read(ref place);
        if (slot is not null)
        {
            Schedule.Point("inbox take");
            place = null;
            Volatile.Write(ref _head.Value, head + 1);
        }

        return slot;
    }

    /// <summary>Takes the whole stack: its newest slot, linked by <see cref="Slot.Next"/>.</summary>
    internal Slot? TakeStack()
    {
        if (Volatile.Read(ref _stack) is null)
        {
            return null;
        }

        Schedule.Point("inbox take stack");
        return Interlocked.Exchange(ref _stack, null);
    }

    /// <summary>Links the slots and puts all of them on the stack by one step.</summary>
    private void PushOnStack(ReadOnlySpan<object?> slots)
    {
        Slot first = Unsafe.As<Slot>(slots[0]!);
        Slot last = first;
        foreach (object? slot in slots[1..])
        {
            last.Next = Unsafe.As<Slot>(slot!);
            last = last.Next;
        }

        Slot? head = Volatile.Read(ref _stack);
        while (true)
        {
            first.Depth = slots.Length + (head is null ? 0 : head.Depth);
            last.Next = head;
            Schedule.Point("inbox push");
            Slot? found = Interlocked.CompareExchange(ref _stack, first, head);
            if (found == head)
            {
                return;
            }

            head = found;
        }
    }

    /// <summary>A struct around the reference spares the array's covariance check.</summary>
    private struct Place
    {
        internal Slot? Slot;
    }
}

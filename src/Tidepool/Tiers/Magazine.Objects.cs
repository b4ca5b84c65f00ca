using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>
/// The fast paths of items without homes: objects. The hot place is the bottom of the stack here, so that items are taken in exactly the reverse
/// order of their return and each finds the place that still holds it: the write barrier, dearer than all the rest, is spared at any depth.
/// </content>
internal sealed partial class Magazine
{
    // An empty chunk for the next exchange. Only the owning thread touches it.
    private Chunk? _spare;

    /// <summary>Takes the item that was returned last. Only for the owning thread. No locked instruction, no call.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal object? TryPopLast()
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("pop last: busy");
        if (Volatile.Read(ref _state.Stop) == Open)
        {
            int last = _state.Count - 1;
            if (last >= 0)
            {
                object? item = Items.At(ref _state.Items, last);
                _state.Count = last;
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
    /// <returns>False when the slow path must decide: paused, closed, full, or the item is the one that was returned last (returned twice).</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool TryPushLast(object item)
    {
        Volatile.Write(ref _state.Busy, 1);
        Schedule.Point("push last: busy");
        if (Volatile.Read(ref _state.Stop) == Open)
        {
            if (_state.HotFull == 0)
            {
                // The place often still holds this very item: comparing is cheaper than the write barrier.
                if (_state.Hot != item)
                {
                    _state.Hot = item;
                }

                _state.HotFull = 1;
                Schedule.Point("push last: hot");
                Volatile.Write(ref _state.Busy, 0);
                return true;
            }

            int count = _state.Count;
            if (count < _state.Capacity && (count == 0 ? _state.Hot : Items.At(ref _state.Items, count - 1)) != item)
            {
                ref object? place = ref Items.At(ref _state.Items, count);
                if (place != item)
                {
                    place = item;
                }

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

    /// <summary>Puts items of <paramref name="chunk"/> into this magazine and takes the newest of them: as <see cref="Refill"/>, in one bulk copy. Only for the owning thread.</summary>
    /// <returns>Null when the magazine is closed; the chunk is untouched then. Otherwise the chunk may hold items that did not fit.</returns>
    internal object? RefillHomeless(Chunk chunk)
    {
        if (!TryEnter())
        {
            return null;
        }

        // The newest is rented at once. Nothing in here allocates or throws.
        Span<object?> source = Items.Span(ref chunk.Items);
        int last = chunk.Count - 1;
        object? item = source[last];
        int count = Math.Min(last, _state.Capacity - _state.Count);
        int left = last - count;
        source.Slice(left, count).CopyTo(Items.Span(ref _state.Items)[_state.Count..]);
        source.Slice(left, count + 1).Clear();
        chunk.Count = left;
        _state.Count += count;
        _state.Refilled += count + 1;
        _state.Rents++;
        Leave();
        return item;
    }

    /// <summary>Takes a chunk out of the shared tier, and leaves the spare one there. Only for the owning thread.</summary>
    internal Chunk? TakeShared() => Bucket.Shared.TryTake(ref _spare);

    /// <summary>Puts a chunk into the shared tier as <see cref="PutShared(Bucket, Chunk)"/> does, and takes an empty one from there for the next time. Only for the owning thread.</summary>
    internal void PutShared(Chunk? chunk)
    {
        if (chunk is { Count: 0 } && _spare is null)
        {
            _spare = chunk;
        }
        else if (chunk is null or { Count: 0 } || !Bucket.Shared.TryPut(chunk, ref _spare))
        {
            PutShared(Bucket, chunk);
        }
    }

    /// <summary>Keeps an idle item where <see cref="TryPushLast"/> could not. Only for the owning thread.</summary>
    /// <param name="item">The item.</param>
    /// <param name="flushed">What had to make way for it, for <see cref="PutShared(Chunk)"/>; else null or empty.</param>
    /// <param name="twice">True when the item lies here already: nothing was changed.</param>
    /// <returns>False when the magazine is closed or the item lies here already.</returns>
    internal bool PushHomeless(object item, out Chunk? flushed, out bool twice)
    {
        flushed = TakeRoom(); // here, because nothing inside may throw
        twice = false;
        if (!TryEnter())
        {
            return false;
        }

        twice = Lies(item);
        if (!twice)
        {
            // A visitor may have made room in between.
            if (flushed is not null && _state.HotFull != 0 && _state.Count >= _state.Capacity)
            {
                MakeRoomAtOnce(flushed);
            }

            PushInside(item);
        }

        Leave();
        return !twice;
    }

    /// <summary>Whether the idle item lies here. Only for the owning thread.</summary>
    internal bool Holds(object item)
    {
        if (!TryEnter())
        {
            return false;
        }

        bool holds = Lies(item);
        Leave();
        return holds;
    }

    private bool Lies(object item) => (_state.HotFull != 0 && _state.Hot == item) || Items.Contains(ref _state.Items, item, _state.Count);

    /// <summary>
    /// All but the newest two leave: few exchanges when a thread returns many, and none when it goes to and fro by a few.
    /// </summary>
    private void MakeRoomAtOnce(Chunk into)
    {
        if (_state.Count == 0)
        {
            // A magazine of one: what lies hot makes way for what is hotter.
            into.Add(_state.Hot!);
            _state.HotFull = 0;
            _state.Flushed++;
        }
        else
        {
            RemoveOldest(Math.Max(1, _state.Count - 2), into);
        }
    }
}

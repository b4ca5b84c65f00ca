namespace Tidepool;

/// <summary>
/// One stack of chunks of the shared tier, with the emptied chunks that wait for reuse. Every method holds its lock for a few
/// instructions. Room for empty chunks is made where full ones are put, so that who takes one allocates nothing.
/// </summary>
internal sealed class Stripe
{
    private const int MaxEmpties = 256;

    private readonly Lock _gate = new();
    private readonly Stack<Chunk> _empties = new();
    private readonly List<Chunk> _chunks = [];
    private readonly long _itemBytes;
    private int _low; // the fewest chunks since the last trim
    private int _count;
    private long _held;
    private long _rented; // one at a time
    private long _returned;
    // At least what is held: what was charged stays so until the next trim, so that chunks that come and go cost no charge.
    private long _charged;

    internal Stripe(Bucket bucket) => _itemBytes = bucket.ItemBytes;

    internal bool IsEmpty => Volatile.Read(ref _count) == 0;

    /// <summary>Takes over a chunk.</summary>
    /// <returns>False when the budget has no room.</returns>
    /// <param name="chunk">The chunk.</param>
    /// <param name="budget">What it is charged to.</param>
    /// <param name="spare">Receives an empty chunk where it is null and there is one.</param>
    internal bool TryPush(Chunk chunk, Budget budget, ref Chunk? spare)
    {
        lock (_gate)
        {
            if (!TryHold(chunk.Count * _itemBytes, budget))
            {
                return false;
            }

            Add(chunk);
            if (spare is null && _empties.TryPop(out Chunk? empty))
            {
                spare = empty;
            }

            Volatile.Write(ref _count, _chunks.Count);
            return true;
        }
    }

    /// <summary>Takes the chunk on top, and keeps the empty <paramref name="spare"/> if it is one.</summary>
    internal Chunk? Pop(ref Chunk? spare)
    {
        lock (_gate)
        {
            if (spare is not null && TryKeep(spare))
            {
                spare = null;
            }

            int last = _chunks.Count - 1;
            if (last < 0)
            {
                return null;
            }

            Chunk chunk = _chunks[last];
            _chunks.RemoveAt(last);
            _low = Math.Min(_low, last);
            _held -= chunk.Count * _itemBytes;
            Volatile.Write(ref _count, last);
            return chunk;
        }
    }

    /// <summary>Rents the item on top.</summary>
    internal object? RentOne()
    {
        lock (_gate)
        {
            int last = _chunks.Count - 1;
            if (last < 0)
            {
                return null;
            }

            Chunk top = _chunks[last];
            object item = top.RemoveLast();
            _held -= _itemBytes;
            _rented++;
            if (top.Count == 0)
            {
                _chunks.RemoveAt(last);
                _low = Math.Min(_low, last);
                Volatile.Write(ref _count, last);
                TryKeep(top);
            }

            return item;
        }
    }

    /// <summary>Takes back one rented item, and puts it on top.</summary>
    /// <returns>False when the budget has no room.</returns>
    internal bool TryReturnOne(object item, int chunkCapacity, Budget budget)
    {
        lock (_gate)
        {
            if (!TryHold(_itemBytes, budget))
            {
                return false;
            }

            if (_chunks.Count == 0 || _chunks[^1].Count >= Items.Capacity)
            {
                AddOnTop(_empties.TryPop(out Chunk? empty) ? empty : new Chunk(chunkCapacity));
                Volatile.Write(ref _count, _chunks.Count);
            }

            _chunks[^1].Add(item);
            _returned++;
            return true;
        }
    }

    internal Chunk? PopEmpty()
    {
        lock (_gate)
        {
            return _empties.TryPop(out Chunk? chunk) ? chunk : null;
        }
    }

    internal void PushEmpty(Chunk chunk)
    {
        lock (_gate)
        {
            TryKeep(chunk);
        }
    }

    /// <summary>Takes the oldest chunks: all, or half of the low-water mark, rounded up.</summary>
    internal void Trim(bool all, List<Chunk> taken)
    {
        lock (_gate)
        {
            int count = all ? _chunks.Count : (_low + 1) / 2;
            for (int i = 0; i < count; i++)
            {
                taken.Add(_chunks[i]);
                _held -= _chunks[i].Count * _itemBytes;
            }

            _chunks.RemoveRange(0, count);
            _low = _chunks.Count;
            Volatile.Write(ref _count, _low);
            if (_low == 0)
            {
                _empties.Clear();
                _chunks.TrimExcess();
            }

            foreach (Chunk empty in _empties)
            {
                empty.ClearPlaces();
            }
        }
    }

    internal void AddTo(ref SharedCounts counts)
    {
        lock (_gate)
        {
            counts.Idle += _held / _itemBytes;
            counts.Rented += _rented;
            counts.Returned += _returned;
        }
    }

    /// <summary>Refunds what is charged beyond what is held.</summary>
    internal void Release(Budget budget)
    {
        lock (_gate)
        {
            budget.Refund(_charged - _held);
            _charged = _held;
        }
    }

    internal bool IsValid(HashSet<object> seen)
    {
        lock (_gate)
        {
            foreach (Chunk chunk in _chunks)
            {
                foreach (object? item in chunk.Content())
                {
                    if (item is null || !seen.Add(item))
                    {
                        return false;
                    }
                }
            }

            return _held == _chunks.Sum(c => c.Count * _itemBytes) && _held <= _charged && _count == _chunks.Count
                && _low <= _count && _chunks.TrueForAll(c => c.Count > 0) && _empties.All(e => e.Count == 0);
        }
    }

    /// <summary>Puts a chunk on top, or its items into the one that is there if they fit: fuller chunks mean fewer locks.</summary>
    private void Add(Chunk chunk)
    {
        Chunk? top = _chunks.Count == 0 ? null : _chunks[^1];
        if (top is null || top.Count + chunk.Count > Items.Capacity)
        {
            AddOnTop(chunk);
            return;
        }

        top.Add(chunk.Content());
        chunk.Clear();
        TryKeep(chunk);
    }

    private void AddOnTop(Chunk chunk)
    {
        _chunks.Add(chunk);
        _empties.EnsureCapacity(Math.Min(_chunks.Capacity, MaxEmpties));
    }

    /// <summary>Counts bytes as held, and charges what was not charged before.</summary>
    private bool TryHold(long bytes, Budget budget)
    {
        long held = _held + bytes;
        if (held > _charged)
        {
            if (!budget.TryCharge(held - _charged))
            {
                return false;
            }

            _charged = held;
        }

        _held = held;
        return true;
    }

    private bool TryKeep(Chunk empty)
    {
        bool hasRoom = _empties.Count < _empties.Capacity;
        if (hasRoom)
        {
            _empties.Push(empty);
        }

        return hasRoom;
    }
}

using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// One stack of chunks of the shared tier, with the emptied chunks that wait for reuse, and on top the one through which single items come
/// and go. Every method holds its lock for a few instructions. Room for empty chunks is made where full ones are put, so that taking
/// one allocates nothing.
/// </summary>
internal sealed class Stripe
{
    private const int MaxEmpties = 256;

    // Threads that wait for the lock twice in so many single items would rather have locks of their own.
    private const int Near = 32;

    private readonly Stack<Chunk> _empties = new();
    private readonly List<Chunk> _chunks = [];
    private readonly Bucket _bucket;
    private readonly long _itemBytes;
    private ShortLock _gate;

    // Above all chunks. It may be empty, and stays here then: one item that comes and goes moves no chunk.
    private Chunk? _singles;
    private int _low; // the fewest chunks below it since the last trim
    private int _lowSingles; // the fewest items in it since then
    private long _held;
    private long _rented; // one at a time
    private long _returned;
    // At least what is held: what was charged stays so until the next trim, so that chunks that come and go cost no charge.
    private long _charged;
    private long _lastMeeting = -Near; // how many single items had come and gone then

    internal Stripe(Bucket bucket) => (_bucket, _itemBytes) = (bucket, bucket.ItemBytes);

    internal bool IsEmpty => Volatile.Read(ref _held) == 0;

    /// <summary>Takes over a chunk.</summary>
    /// <returns>False when the budget has no room.</returns>
    /// <param name="chunk">The chunk.</param>
    /// <param name="budget">What it is charged to.</param>
    /// <param name="spare">Receives an empty chunk where it is null and there is one.</param>
    internal bool TryPush(Chunk chunk, Budget budget, ref Chunk? spare)
    {
        using (_gate.Hold())
        {
            Reserve();
            if (!TryHold(chunk.Count * _itemBytes, budget))
            {
                return false;
            }

            StackSingles();
            Add(chunk);
            if (spare is null && _empties.TryPop(out Chunk? empty))
            {
                spare = empty;
            }

            return true;
        }
    }

    /// <summary>Takes the chunk on top, and keeps the empty <paramref name="spare"/> if it is one.</summary>
    internal Chunk? Pop(ref Chunk? spare)
    {
        using (_gate.Hold())
        {
            if (spare is not null && TryKeep(spare))
            {
                spare = null;
            }

            if (_singles is not { Count: > 0 } && !OpenTop())
            {
                return null;
            }

            Chunk chunk = _singles!;
            _singles = null;
            _lowSingles = 0;
            _held -= chunk.Count * _itemBytes;
            return chunk;
        }
    }

    /// <summary>Rents the item on top, and counts the rental.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal object? RentOne()
    {
        if (!_gate.TryEnter())
        {
            EnterLate();
        }

        // Nothing throws until it is left.
        if (_singles is not { Count: > 0 } singles)
        {
            if (!OpenTop())
            {
                _gate.Exit();
                return null;
            }

            singles = _singles!;
        }

        object item = singles.RemoveLast();
        _held -= _itemBytes;
        _rented++;
        if (singles.Count < _lowSingles)
        {
            _lowSingles = singles.Count;
        }

        _gate.Exit();
        return item;
    }

    /// <summary>Takes back one rented item, puts it on top, and counts the return.</summary>
    /// <param name="item">The item.</param>
    /// <param name="hasTicket">True if a ticket excludes a second return. False: it is compared with the newest items.</param>
    /// <param name="budget">What it is charged to.</param>
    /// <returns>Closed when the budget has no room, retired when the item lies here already: nothing was changed.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ReturnOutcome ReturnOne(object item, bool hasTicket, Budget budget)
    {
        if (!_gate.TryEnter())
        {
            EnterLate();
        }

        // Nothing throws until it is left.
        long held = _held + _itemBytes;
        if (_singles is not { Count: < Items.Capacity } singles || held > _charged)
        {
            _gate.Exit();
            return ReturnFirst(item, hasTicket, budget);
        }

        if (!hasTicket && singles.HoldsLately(item, oldest: 0))
        {
            _gate.Exit();
            return ReturnOutcome.Retired;
        }

        singles.Add(item);
        _held = held;
        _returned++;
        _gate.Exit();
        return ReturnOutcome.Returned;
    }

    /// <summary>Puts a returned item on top, where that may take a chunk or a charge.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReturnOutcome ReturnFirst(object item, bool hasTicket, Budget budget)
    {
        using (_gate.Hold())
        {
            if (!hasTicket && IsNewest(item))
            {
                return ReturnOutcome.Retired;
            }

            if (_singles is { Count: >= Items.Capacity })
            {
                StackSingles();
            }

            _singles ??= _empties.TryPop(out Chunk? empty) ? empty : _bucket.Shared.FindEmpty() ?? new Chunk(_bucket.ChunkCapacity);
            if (!TryHold(_itemBytes, budget))
            {
                return ReturnOutcome.Closed;
            }

            _singles.Add(item);
            _returned++;
            return ReturnOutcome.Returned;
        }
    }

    /// <summary>Whether the item is one of the last few that were put here.</summary>
    internal bool HoldsLately(object item)
    {
        // Without the lock first: what was returned before this return is seen, unless a trim is moving it. A place may still show what
        // another thread has taken from it, so what is found there is looked at again.
        if (Volatile.Read(ref _singles) is { Count: > 0 } singles && !singles.HoldsLately(item, oldest: 0))
        {
            return false;
        }

        using (_gate.Hold())
        {
            return IsNewest(item);
        }
    }

    /// <summary>Enters, where another thread was inside.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void EnterLate()
    {
        _gate.Enter();
        NoteMeeting();
    }

    /// <summary>Notes that two threads have met at the lock. The caller holds it.</summary>
    internal void NoteMeeting()
    {
        long now = _rented + _returned;
        if (now - _lastMeeting < Near && _bucket.Shared.IsGathered)
        {
            _bucket.Shared.IsGathered = false; // written once: all threads read it
        }

        _lastMeeting = now;
    }

    /// <summary>Takes an empty chunk, if there is one.</summary>
    /// <param name="waits">Whether to wait for another thread that is inside. If not, there is none then.</param>
    internal Chunk? PopEmpty(bool waits)
    {
        if (waits)
        {
            _gate.Enter();
        }
        else if (_empties.Count == 0 || !_gate.TryEnter()) // the count is a hint
        {
            return null;
        }

        _empties.TryPop(out Chunk? chunk); // throws nothing
        _gate.Exit();
        return chunk;
    }

    internal void PushEmpty(Chunk chunk)
    {
        using (_gate.Hold())
        {
            TryKeep(chunk);
        }
    }

    /// <summary>
    /// Takes all items; or the oldest chunks, half of those that no rental reached since the last call, rounded up. The open chunk counts
    /// as one of them where some of its items were not reached: these leave, the others stay.
    /// </summary>
    internal void Trim(bool all, List<Chunk> taken)
    {
        using (_gate.Hold())
        {
            taken.EnsureCapacity(taken.Count + _chunks.Count + 1); // before anything changes: with no memory left it throws
            if (all)
            {
                StackSingles();
            }
            else if (_low == 0 && _lowSingles > 0)
            {
                // No chunk has come below the open one since, or it would be another one.
                taken.Add(TakeOldestSingles(_lowSingles));
            }

            int idle = _low + (_lowSingles > 0 ? 1 : 0);
            int count = all ? _chunks.Count : Math.Min((idle + 1) / 2, _low);
            for (int i = 0; i < count; i++)
            {
                taken.Add(_chunks[i]);
                _held -= _chunks[i].Count * _itemBytes;
            }

            _chunks.RemoveRange(0, count);
            (_low, _lowSingles) = (_chunks.Count, _singles?.Count ?? 0);
            if (_low + _lowSingles == 0)
            {
                _singles = null;
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
        using (_gate.Hold())
        {
            counts.Idle += _held / _itemBytes;
            counts.Rented += _rented;
            counts.Returned += _returned;
        }
    }

    /// <summary>Refunds what is charged beyond what is held.</summary>
    internal void Release(Budget budget)
    {
        using (_gate.Hold())
        {
            if (_charged > _held)
            {
                budget.Refund(_charged - _held);
                _charged = _held;
            }
        }
    }

    internal bool IsValid(HashSet<object> seen)
    {
        using (_gate.Hold())
        {
            List<Chunk> chunks = _singles is { Count: > 0 } ? [.. _chunks, _singles] : _chunks;
            foreach (Chunk chunk in chunks)
            {
                foreach (object? item in chunk.Content())
                {
                    if (item is null || !seen.Add(item))
                    {
                        return false;
                    }
                }
            }

            return _held == chunks.Sum(c => c.Count * _itemBytes) && _held <= _charged
                && _low <= _chunks.Count && _lowSingles <= (_singles?.Count ?? 0)
                && chunks.TrueForAll(c => c.Count > 0) && _empties.All(e => e.Count == 0 && e != _singles);
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
        Reserve();
        _chunks.Add(chunk);
    }

    /// <summary>Makes room for two more chunks, before anything changes: with no memory left it throws.</summary>
    private void Reserve()
    {
        _chunks.EnsureCapacity(_chunks.Count + 2);
        _empties.EnsureCapacity(Math.Min(_chunks.Capacity, MaxEmpties));
    }

    /// <summary>Whether the item is one of the last few of the chunk on top.</summary>
    private bool IsNewest(object item)
    {
        Chunk? top = _singles is { Count: > 0 } ? _singles : _chunks.Count > 0 ? _chunks[^1] : null;
        return top is not null && top.HoldsLately(item, Math.Max(0, top.Count - Items.Capacity));
    }

    /// <summary>Lets single items come and go through the chunk on top; that one has been empty.</summary>
    /// <returns>False when there is none.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool OpenTop()
    {
        int last = _chunks.Count - 1;
        if (last < 0)
        {
            return false;
        }

        if (_singles is not null)
        {
            TryKeep(_singles);
        }

        _singles = _chunks[last];
        _chunks.RemoveAt(last);
        _low = Math.Min(_low, last);
        return true;
    }

    /// <summary>Puts what has come back one at a time below what comes next.</summary>
    private void StackSingles()
    {
        if (_singles is { Count: > 0 })
        {
            AddOnTop(_singles);
            _singles = null;
            _lowSingles = 0;
        }
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

    private Chunk TakeOldestSingles(int count)
    {
        var oldest = new Chunk(_bucket.ChunkCapacity); // before anything changes, too
        _singles!.MoveOldest(count, oldest);
        _held -= count * _itemBytes;
        return oldest;
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

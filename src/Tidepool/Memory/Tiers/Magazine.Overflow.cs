namespace Tidepool;

/// <content>
/// What happens when a magazine overflows. It grows, or it is flushed: older items leave in a chunk (<see cref="FlushIfFull"/>), the chunk
/// goes to the shared tier (<see cref="PutShared(Chunk)"/>), and the pool evicts what the budget refuses.
/// </content>
internal sealed partial class Magazine
{
    // Items that stay when a full magazine is flushed, so that a thread near the limit does not exchange chunks at each step.
    private const int Newest = 2;

    // A thread that has flushed so many items works with hundreds of them: its magazine may grow.
    private const int Many = 128;

    /// <summary>
    /// Whether what comes back goes past this magazine: it is full of large items. Not past a handle's, which counts both ends of its
    /// rentals, and not past one that may still grow. Only for the owning thread; it does not matter when a visitor has just made room.
    /// </summary>
    internal bool PassesOn => Bucket.MovesSingles && IsFull && !IsPrivate && _state.Capacity == Bucket.MagazineCapacity;

    private bool IsFull => _state.HotFull != 0 && _state.Count >= _state.Capacity;

    /// <summary>Grows a magazine that looks full, or takes an empty chunk to flush it into. Only for the owning thread.</summary>
    /// <remarks>
    /// Before the magazine is entered, because this may lock or allocate, and a throw inside would leave the magazine busy. Only the owner
    /// adds items: "not full" stays true, "full" may be out of date.
    /// </remarks>
    /// <returns>Null where there is room.</returns>
    private Chunk? GrowOrTakeChunk() => IsFull && !TryGrow() ? TakeSpare() ?? Bucket.Shared.TakeEmpty() : null;

    /// <summary>Flushes a full magazine into a chunk: of buffers the older half of the stack, rounded up; of objects, and of arrays on
    /// a thread that only returns, all but two.</summary>
    private void FlushIfFull(Chunk? flushed)
    {
        // A visitor may have made room since it looked full.
        if (flushed is null || !IsFull)
        {
            return;
        }

        if (Bucket.HoldsObjects)
        {
            FlushBySwap(flushed);
        }
        else if (_state.Count == 0)
        {
            // Room for one item only: it leaves, and the new one takes the hot place.
            flushed.Add(_state.Hot!);
            _state.HotFull = 0;
            _state.Flushed++;
        }
        else
        {
            // A thread that has rented no array since the last flush returns what others rent: it needs none of them itself.
            int half = (_state.Count + 1) / 2;
            bool onlyReturns = Bucket.HoldsArrays && _state.FlushedAtRents == _state.Rents;
            RemoveOldest(onlyReturns ? Math.Max(half, _state.Count + 1 - Newest) : half, flushed);
            _state.FlushedAtRents = _state.Rents;
        }
    }

    private void RemoveOldest(int count, Chunk into)
    {
        Span<object?> items = Items.Span(ref _state.Items);
        into.Add(items[..count]);
        items[count.._state.Count].CopyTo(items);
        _state.Count -= count;
        _state.Flushed += count;
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

    /// <summary>
    /// Puts a chunk into the shared tier as <see cref="PutShared(Bucket, Chunk)"/> does; the magazine takes an empty one from there
    /// for the next time, by the same step. Only for the owning thread.
    /// </summary>
    internal void PutShared(Chunk? chunk)
    {
        if (chunk is null)
        {
            return;
        }

        Chunk? spare = chunk.Count == 0 ? chunk : null;
        if (spare is null && !Bucket.Shared.TryPut(chunk, ref spare) && !PutShared(Bucket, chunk))
        {
            Owners = null; // they refer to the buffers they had, which the budget has just refused
        }

        KeepSpare(spare);
    }

    /// <summary>Puts a chunk into the shared tier; when the budget refuses it, its items are evicted.</summary>
    /// <returns>False when they were.</returns>
    internal static bool PutShared(Bucket bucket, Chunk? chunk)
    {
        if (chunk is null)
        {
            return true;
        }

        bool isKept = chunk.Count > 0
            && (bucket.Shared.TryPut(chunk) || (bucket.Pool.RecallPlaces(bucket) && bucket.Shared.TryPut(chunk)));
        if (isKept)
        {
            return true;
        }

        bool isEmpty = chunk.Count == 0;
        if (!isEmpty)
        {
            PutWhatFits(bucket, chunk);
            bucket.Pool.EvictDropped(bucket, chunk.Content());
        }

        bucket.Shared.GiveEmpty(chunk);
        return isEmpty;
    }

    /// <summary>Puts as many items of a chunk into the shared tier as the budget has room for.</summary>
    private static void PutWhatFits(Bucket bucket, Chunk chunk)
    {
        int fitting = (int)Math.Clamp(bucket.Pool.Budget.Left / bucket.ItemBytes, 0, chunk.Count - 1);
        if (fitting == 0)
        {
            return;
        }

        Chunk part = bucket.Shared.TakeEmpty();
        chunk.MoveLast(fitting, part);
        if (!bucket.Shared.TryPut(part))
        {
            part.MoveLast(fitting, chunk); // another thread was faster
            bucket.Shared.GiveEmpty(part);
        }
    }

    /// <summary>Puts idle items into the shared tier of their bucket; what the budget refuses is evicted.</summary>
    internal static void PutShared(Bucket bucket, List<object?> items)
    {
        for (int start = 0; start < items.Count; start += Items.Capacity)
        {
            Chunk chunk = bucket.Shared.TakeEmpty();
            for (int i = start; i < Math.Min(items.Count, start + Items.Capacity); i++)
            {
                chunk.Add(items[i]!);
            }

            PutShared(bucket, chunk);
        }
    }
}

using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>The tier sequence of slots, arrays and objects: where a rental finds its item, and where a returned item waits.</content>
internal abstract partial class TieredPool
{
    // A budget of fewer items is used up by the places of a few threads, so that each single place counts.
    private const int SmallBudget = 1024;

    /// <summary>Makes an item. What it throws goes to the renter, and nothing has changed.</summary>
    /// <remarks>Called without any lock held and outside of every magazine.</remarks>
    protected abstract object Make(Bucket bucket);

    /// <summary>Turns an idle item of a bucket's sibling into one of the bucket. Calls no foreign code.</summary>
    protected virtual object Convert(Bucket bucket, object item) => item;

    /// <summary>The bucket of the next size, where one of its items may serve instead of a new one; null where none may.</summary>
    protected virtual Bucket? FindNext(Bucket bucket) => null;

    /// <summary>Takes an idle item or makes one, and counts its rental. For rentals that the fast path could not serve.</summary>
    /// <param name="bucket">The kind of item.</param>
    /// <param name="isNew">Whether it was made for this rental.</param>
    protected object Take(Bucket bucket, out bool isNew)
    {
        while (!IsTight && ThreadTier.FindOpen(bucket) is { } magazine)
        {
            if (TakeThrough(magazine, out isNew) is { } item)
            {
                return item;
            }

            // The magazine was closed meanwhile.
        }

        return TakeWithoutMagazine(bucket, out isNew);
    }

    /// <summary>Takes an idle item through a magazine of the running thread, or makes one whose home that is.</summary>
    /// <returns>Null when the magazine was closed meanwhile: nothing was taken.</returns>
    protected object? TakeThrough(Magazine magazine, out bool isNew)
    {
        // 1. What this thread holds, then what other threads sent home.
        isNew = false;
        if (magazine.PopSlow() is { } own)
        {
            return own;
        }

        // 2. An item of the shared tier, where large ones come one at a time; else a chunk of it, or one of the sibling's: one item is
        // rented, the others wait here.
        Bucket bucket = magazine.Bucket;
        if (bucket.MovesSingles && !magazine.IsPrivate && bucket.Shared.TryRentOne() is { } single)
        {
            return single is Slot found ? found.MoveTo(magazine) : single;
        }

        if ((magazine.TakeShared() ?? TakeFromSibling(bucket)) is { } chunk)
        {
            return magazine.Refill(chunk);
        }

        // 3. An item of the next size.
        if (!magazine.IsPrivate && FindNext(bucket) is { Shared.IsEmpty: false } next && TakeThroughEmpty(next) is { } longer)
        {
            return longer;
        }

        // 4. What other threads keep, where the budget is used up: a new item would find no room when it comes back.
        if (Budget.Left < bucket.ItemBytes && RecallPlaces(bucket))
        {
            isNew = false;
            return null; // this magazine was closed too: the caller looks into the shared tier
        }

        // 5. A new one.
        object made = Create(bucket);
        if (made is Slot slot)
        {
            slot.Home = magazine;
        }

        magazine.CountCreated();
        isNew = true;
        return made;
    }

    /// <summary>Keeps an idle item in the thread's magazine, else in the shared tier, and gives up what the budget refuses.</summary>
    /// <param name="bucket">The kind of item.</param>
    /// <param name="item">The item.</param>
    /// <param name="hasTicket">Whether its ticket makes sure that it is returned once.</param>
    /// <returns>False when the item lies idle already, as far as was looked: nothing was changed.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    protected bool Put(Bucket bucket, object item, bool hasTicket)
    {
        // 1. In the thread's magazine, from which others may have to leave for the shared tier. What is large goes there itself.
        Magazine? passed = null;
        while (!Retired && !IsTight && ThreadTier.FindOpen(bucket) is { } magazine)
        {
            if (magazine.PassesOn)
            {
                if (!hasTicket && IsIdle(bucket, magazine, item))
                {
                    return false;
                }

                passed = magazine;
                break;
            }

            bool isKept = magazine.PushSlow(item, hasTicket, out Chunk? flushed, out bool isIdleAlready);
            magazine.PutShared(flushed);
            if (isKept || isIdleAlready)
            {
                return isKept;
            }
        }

        // 2. In the shared tier, as a single item.
        ReturnOutcome outcome = bucket.Shared.ReturnOne(item, hasTicket);
        if (outcome == ReturnOutcome.Closed && RecallPlaces(bucket))
        {
            outcome = bucket.Shared.ReturnOne(item, hasTicket);
        }

        if (outcome == ReturnOutcome.Closed)
        {
            // 3. The budget refuses it: it is given up, and owners that wait for reuse may refer to it.
            passed?.Owners = null;
            EvictReturned(bucket, item);
        }

        return outcome != ReturnOutcome.Retired;
    }

    /// <summary>
    /// Whether an item without a ticket lies idle, as far as is looked: in the thread's magazine, and among the newest of the shared tier
    /// where that has what a thread does not keep.
    /// </summary>
    /// <param name="bucket">The kind of item.</param>
    /// <param name="magazine">The running thread's, or null where it has none.</param>
    /// <param name="item">The item.</param>
    protected static bool IsIdle(Bucket bucket, Magazine? magazine, object item) =>
        magazine?.Holds(item) == true || ((magazine is null || bucket.MovesSingles) && bucket.Shared.HoldsLately(item));

    /// <summary>Keeps a returned item in the shared tier, where the budget leaves threads no places of their own.</summary>
    /// <returns>Closed for <see cref="Put"/> to decide, retired when the item lies there already.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    protected ReturnOutcome PutTight(Bucket bucket, object item, bool hasTicket) =>
        IsTight ? bucket.Shared.ReturnOne(item, hasTicket) : ReturnOutcome.Closed;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void EvictReturned(Bucket bucket, object item)
    {
        Counters.AddReturns(1, bucket.ItemBytes);
        EvictDropped(bucket, [item]);
    }

    /// <summary>
    /// Makes room where the pool's own budget is used up: takes back the places that threads keep free. Where that helped, the shared
    /// tier serves all threads from then on, until an epoch ends with half of the budget free.
    /// </summary>
    /// <param name="bucket">What there is no room for.</param>
    /// <returns>
    /// Whether places were taken back. False for a pool that shares the process's budget, and at a second call in one epoch.
    /// </returns>
    internal bool RecallPlaces(Bucket bucket)
    {
        if (Retired || Budget == Budget.Process
            || Volatile.Read(ref _recalled) != 0 || Interlocked.Exchange(ref _recalled, 1) != 0)
        {
            return false;
        }

        // First of all, so that no thread makes another magazine.
        IsTight = true;
        ReleaseReserves();
        ThreadTier.Recall(this);
        bool isSmall = Budget.Limit / bucket.ItemBytes < SmallBudget;
        IsTight = Budget.Left >= (isSmall ? bucket.ItemBytes : Budget.Limit / 16);
        return true;
    }

    /// <summary>Ends an epoch: places may be recalled again, and threads may keep items again where half of the budget is free.</summary>
    internal void EndEpoch()
    {
        if (IsTight || Volatile.Read(ref _recalled) != 0) // a recall may say that it is tight when its epoch has ended
        {
            IsTight = IsTight && !Budget.IsAmple(0);
            Volatile.Write(ref _recalled, 0);
        }
    }

    /// <summary>Gives up items that no tier has room for, and counts them.</summary>
    internal void EvictDropped(Bucket bucket, ReadOnlySpan<object?> items)
    {
        Interlocked.Add(ref Counters.Dropped, items.Length);
        if (bucket.IsKept)
        {
            PoolShadow.Of(this)?.CountDropped(bucket.ItemLength, bucket.ItemBytes, items.Length);
        }

        WriteDropped(bucket.Id, items);
        Evict(bucket, items);
    }

    /// <summary>Makes an item and counts that no tier had one.</summary>
    protected object Create(Bucket bucket)
    {
        object made = Make(bucket);
        CountMiss(bucket.ItemLength, bucket.ItemBytes, bucket.IsKept);
        return made;
    }

    /// <summary>Counts that no tier had an item.</summary>
    protected void CountMiss(int length, long bytes, bool isKept)
    {
        Interlocked.Increment(ref Counters.Missed);
        PoolShadow.Of(this)?.CountMissed(length, bytes, isKept);
    }

    /// <summary>Rents an item of the shared tier, or a new one.</summary>
    /// <remarks>
    /// For items that are too large for a thread to keep, for a budget that is tight or has no room for a magazine, and for a thread that
    /// is ending.
    /// </remarks>
    private object TakeWithoutMagazine(Bucket bucket, out bool isNew)
    {
        object? item = TakeOne(bucket);
        if (item is null && Budget.Left < bucket.ItemBytes && RecallPlaces(bucket))
        {
            item = TakeOne(bucket);
        }

        isNew = item is null;
        if (item is null)
        {
            item = Create(bucket);
            Counters.AddRental(bucket.ItemBytes);
        }

        return item is Slot slot ? slot.MoveTo(bucket.ClosedHome) : item;
    }

    /// <summary>Rents an item of the shared tier, of this form or the sibling's, and counts the rental; or null.</summary>
    private object? TakeOne(Bucket bucket)
    {
        object? item = bucket.Shared.TryRentOne();
        if (item is null && TakeFromSibling(bucket) is { } chunk)
        {
            item = chunk.RemoveLast();
            Counters.AddRental(bucket.ItemBytes);
            Magazine.PutShared(bucket, chunk);
        }

        return item;
    }

    /// <summary>Takes an item of the shared tier through this thread's magazine of that bucket, if that one is empty.</summary>
    /// <returns>Null also where another thread was faster.</returns>
    private static object? TakeThroughEmpty(Bucket bucket)
    {
        Magazine? magazine = ThreadTier.FindOpen(bucket);
        return magazine is { IsEmpty: true } && magazine.TakeShared() is { } chunk ? magazine.Refill(chunk) : null;
    }

    /// <summary>A chunk of the sibling's shared tier, its items in this bucket's form.</summary>
    private Chunk? TakeFromSibling(Bucket bucket)
    {
        if (bucket.Sibling?.Shared.TryTake() is not { } chunk)
        {
            return null;
        }

        for (int i = 0; i < chunk.Count; i++)
        {
            ref object? place = ref chunk.Places[i];
            place = Convert(bucket, place!);
        }

        return chunk;
    }
}

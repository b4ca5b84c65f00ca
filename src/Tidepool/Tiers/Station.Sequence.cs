using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>The tier sequence of slots, arrays and objects: where a rental finds its item, and where a returned item waits.</content>
internal abstract partial class Station
{
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
        while (ThreadTier.FindOpen(bucket) is { } magazine)
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

        // 2. A chunk of the shared tier, or one of the sibling's: one item is rented, the others wait here.
        Bucket bucket = magazine.Bucket;
        if ((magazine.TakeShared() ?? TakeFromSibling(bucket)) is { } chunk)
        {
            return magazine.Refill(chunk);
        }

        // 3. An item of the next size.
        if (!magazine.IsPrivate && FindNext(bucket) is { Shared.IsEmpty: false } next && TakeShared(next) is { } longer)
        {
            return longer;
        }

        // 4. A new one.
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
    /// <param name="isOnce">Whether its ticket makes sure that it is returned once.</param>
    /// <returns>False when the item lies in the thread's magazine already: nothing was changed.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    protected bool Put(Bucket bucket, object item, bool isOnce)
    {
        // 1. In the thread's magazine, from which others may have to leave for the shared tier.
        while (!Retired && ThreadTier.FindOpen(bucket) is { } magazine)
        {
            bool isKept = magazine.PushSlow(item, isOnce, out Chunk? flushed, out bool isTwice);
            magazine.PutShared(flushed);
            if (isKept || isTwice)
            {
                return isKept;
            }
        }

        // 2. In the shared tier, alone; 3. or with the source.
        Counters.AddReturns(1, bucket.ItemBytes);
        Chunk one = bucket.Shared.TakeEmpty();
        one.Add(item);
        Magazine.PutShared(bucket, one);
        return true;
    }

    /// <summary>Makes an item and counts that no tier had one.</summary>
    protected object Create(Bucket bucket)
    {
        object made = Make(bucket);
        Interlocked.Increment(ref Counters.Missed);
        return made;
    }

    /// <summary>Takes an item from the shared tier, or makes one.</summary>
    /// <remarks>It is too large for a thread to keep, the budget has no room for a magazine, or the thread is ending.</remarks>
    private object TakeWithoutMagazine(Bucket bucket, out bool isNew)
    {
        object? item = null;
        if ((bucket.Shared.TryTake() ?? TakeFromSibling(bucket)) is { } chunk)
        {
            item = chunk.RemoveLast();
            Magazine.PutShared(bucket, chunk);
        }

        isNew = item is null;
        item ??= Create(bucket);
        Counters.AddRental(bucket.ItemBytes);
        return item is Slot slot ? slot.MoveTo(bucket.ClosedHome) : item;
    }

    /// <summary>An item of the shared tier through this thread's magazine of that bucket, or null when another thread was faster.</summary>
    private static object? TakeShared(Bucket bucket)
    {
        Magazine? magazine = ThreadTier.FindOpen(bucket);
        return magazine is { IdleCount: 0 } && magazine.TakeShared() is { } chunk ? magazine.Refill(chunk) : null;
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

using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Objects of one kind that the library itself reuses, in a pool that lives as long as the process. Items carry no ticket: whoever derives
/// from it makes sure that an item is returned once. Each may come with a companion, which waits behind others before it is rented again.
/// </summary>
internal abstract class ItemPool<T> : ItemStation
    where T : class
{
    private readonly Bucket _bucket;
    private readonly int _fastId;

    /// <summary>Makes a pool that lives as long as the process.</summary>
    /// <param name="name">The name in messages, events and metrics.</param>
    /// <param name="itemBytes">What an idle item is charged to the process's budget.</param>
    /// <param name="isSlow">Whether every rental must be seen by <see cref="OnSlowRental"/>.</param>
    protected ItemPool(string name, long itemBytes, bool isSlow)
        : base(PoolName.Take(name, name), Tidepool.Budget.Process, itemBytes)
    {
        _bucket = AddBucket();
        _fastId = isSlow ? NoId : _bucket.Id;
        Start();
    }

    /// <summary>An idle item, or a new one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal T Rent() =>
        ThreadTier.Find(_fastId) is { } magazine && magazine.TryPopLast() is { } item ? Unsafe.As<T>(item) : RentSlow();

    /// <summary>An idle item, or a new one, and a companion that was returned at least 16 rentals ago, or null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal T Rent(out object? companion)
    {
        companion = null;
        if (ThreadTier.Find(_fastId) is { } magazine && magazine.TryPopLast() is { } item)
        {
            companion = magazine.Owners?.TryTake();
            return Unsafe.As<T>(item);
        }

        return RentSlow();
    }

    /// <summary>Takes an item back. The caller has made sure that nobody else returns it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Return(T item)
    {
        if (ThreadTier.Find(_fastId) is not { } magazine || !magazine.TryPushLast(item, isOnce: true))
        {
            Keep(_bucket, item, isOnce: true);
        }
    }

    /// <summary>Takes an item back, and a companion that waits behind others until it is rented again.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Return(T item, object companion)
    {
        if (ThreadTier.Find(_fastId) is { } magazine && magazine.Owners is { } ring)
        {
            ring.Put(companion);
            if (magazine.TryPushLast(item, isOnce: true))
            {
                return;
            }
        }
        else
        {
            KeepCompanion(companion);
        }

        Keep(_bucket, item, isOnce: true);
    }

    /// <summary>Makes an item. Called without any lock held.</summary>
    protected abstract T Make();

    protected sealed override object Make(Bucket bucket) => Make();

    /// <summary>Sees a rental that the thread tier could not serve at once; all of them when the pool is slow.</summary>
    protected virtual void OnSlowRental(T item)
    {
    }

    /// <summary>Sees an idle item that leaves the pool for good.</summary>
    protected virtual void OnDiscard(T item)
    {
    }

    internal override void Discard(Bucket bucket, ReadOnlySpan<object?> items)
    {
        foreach (object? item in items)
        {
            OnDiscard(Unsafe.As<T>(item!));
        }
    }

    internal override void ReturnItem(Bucket bucket, object item) => Keep(bucket, item, isOnce: true);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private T RentSlow()
    {
        T item = Unsafe.As<T>(Take(_bucket, out _));
        OnSlowRental(item);
        return item;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void KeepCompanion(object companion)
    {
        // Those that always wait come from rentals: the ring hands out none before it holds more than its delay.
        if (ThreadTier.Find(_fastId) is { } magazine)
        {
            magazine.Owners ??= new OwnerRing();
            magazine.Owners.Put(companion);
        }
    }
}

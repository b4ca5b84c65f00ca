using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Objects of one kind that the library itself reuses, in a pool that lives as long as the process. Items carry no ticket: a derived pool
/// makes sure that an item is returned once. A returned item rests behind others before the same thread rents it again.
/// </summary>
internal abstract class InternalObjectPool<T> : TieredObjectPool
    where T : class
{
    private readonly Bucket _bucket;
    private readonly int _fastId;

    /// <summary>Makes a pool that lives as long as the process.</summary>
    /// <param name="name">The name in messages, events and metrics.</param>
    /// <param name="itemBytes">What an idle item is charged to the process's budget.</param>
    /// <param name="isSlow">Whether every rental must be seen by <see cref="OnSlowRental"/>.</param>
    protected InternalObjectPool(string name, long itemBytes, bool isSlow)
        : base(PoolName.Take(name, name), Tidepool.Budget.Process, itemBytes)
    {
        _bucket = AddBucket(isRested: true);
        _fastId = isSlow ? NoId : _bucket.Id;
        Start();
    }

    /// <summary>What the pool has done and holds.</summary>
    internal PoolStatistics Statistics => GetStatistics();

    /// <summary>Takes an idle item, or makes one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal T Rent() =>
        ThreadTier.Find(_fastId) is { } magazine && magazine.TryTakeRested() is { } item ? Unsafe.As<T>(item) : RentSlow();

    /// <summary>
    /// Takes an item back, which rests behind others before this thread rents it again. The caller has made sure that it is returned
    /// once.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Return(T item)
    {
        if (ThreadTier.Find(_fastId) is not { } magazine || !magazine.TryRest(item))
        {
            ReturnSlow(item);
        }
    }

    /// <summary>Charges what waits beside the items.</summary>
    /// <returns>False when the budget has no room; nothing is charged then.</returns>
    protected bool TryCharge(long bytes) => Budget.TryCharge(bytes);

    /// <summary>Gives back what <see cref="TryCharge"/> charged.</summary>
    protected void Refund(long bytes) => Budget.Refund(bytes);

    /// <summary>Makes an item. Called without any lock held.</summary>
    protected abstract T Make();

    protected sealed override object Make(Bucket bucket) => Make();

    /// <summary>Sees a rental that the thread tier could not serve at once; all of them when the pool is slow.</summary>
    protected virtual void OnSlowRental(T item)
    {
    }

    /// <summary>Sees an idle item that leaves the pool for good.</summary>
    protected virtual void OnEvicted(T item)
    {
    }

    /// <summary>Answers the use of a ticket that has ended.</summary>
    /// <param name="kind">What was done.</param>
    /// <param name="isOutAgain">Whether the item has another renter by now.</param>
    /// <param name="item">What the ticket was for.</param>
    /// <param name="describe">Gives the name of the lease's type, and what is known of the rental or null. Only for a report.</param>
    protected void OnRetired(MisuseKind kind, bool isOutAgain, T item, Func<T, RentalText> describe) =>
        AnswerRetired(kind, isOutAgain, ProcessChecks.Mode, item, describe);

    internal override void Evict(Bucket bucket, ReadOnlySpan<object?> items)
    {
        foreach (object? item in items)
        {
            OnEvicted(Unsafe.As<T>(item!));
        }
    }

    internal override void ReturnItem(Bucket bucket, object item) => Put(bucket, item, hasTicket: true);

    /// <summary>
    /// Too few items rest here, or the fast look-up does not know the thread: one that has rested and made way for others, or what the
    /// tiers have.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private T RentSlow()
    {
        Magazine? magazine = ThreadTier.FindOpen(_bucket);
        T item = Unsafe.As<T>(magazine?.TryTakeRested() ?? magazine?.TryPopLast() ?? Take(_bucket, out _));
        OnSlowRental(item);
        return item;
    }

    /// <summary>
    /// Every place to rest is in use: the item that has rested longest makes way. Or the fast look-up does not know the thread, whose items
    /// rest all the same.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReturnSlow(T item)
    {
        object idle = item;
        if (ThreadTier.FindOpen(_bucket) is { } magazine)
        {
            if (magazine.TryRest(item))
            {
                return;
            }

            idle = magazine.RestInstead(item);
            if (magazine.TryPushLast(idle, hasTicket: true))
            {
                return;
            }
        }

        Put(_bucket, idle, hasTicket: true);
    }
}

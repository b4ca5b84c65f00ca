using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Objects of one kind in the tiers: thread tier, shared tier, budget, trimming and counters as buffers have them. Whoever derives from it
/// decides what is made and makes sure that an item is returned once: items carry no ticket.
/// </summary>
internal abstract class ItemPool<T> : Station
    where T : class
{
    private readonly Bucket _bucket;
    private readonly int _fastId;

    /// <summary>Makes a pool that lives as long as the process.</summary>
    /// <param name="name">The name in messages, events and metrics.</param>
    /// <param name="itemBytes">What an idle item is charged to the process's budget.</param>
    /// <param name="isSlow">Whether every rental must be seen by <see cref="OnSlowRental"/>.</param>
    protected ItemPool(string name, long itemBytes, bool isSlow)
        : base(Tidepool.Budget.Process)
    {
        Name = name;
        _bucket = new Bucket(this, ThreadTier.AllocateId(), 1, itemBytes);
        _fastId = isSlow ? int.MaxValue : _bucket.Id;
        Trimmer.Add(this);
    }

    internal sealed override string Name { get; }

    /// <summary>An idle item, or a new one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal T Rent() =>
        ThreadTier.Find(_fastId) is { } magazine && magazine.TryPop() is { } item ? Unsafe.As<T>(item) : RentSlow();

    /// <summary>An idle item, or a new one, and a companion that was returned at least 16 rentals ago, or null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal T Rent(out object? companion)
    {
        companion = null;
        if (ThreadTier.Find(_fastId) is { } magazine && magazine.TryPop() is { } item)
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
        if (ThreadTier.Find(_fastId) is not { } magazine || !magazine.TryPush(item, null))
        {
            ReturnSlow(item);
        }
    }

    /// <summary>Takes an item back, and a companion that waits behind others until it is rented again.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Return(T item, object companion)
    {
        if (ThreadTier.Find(_fastId) is { } magazine && magazine.Owners is { } ring)
        {
            ring.Put(companion);
            if (magazine.TryPush(item, null))
            {
                return;
            }
        }
        else
        {
            KeepCompanion(companion);
        }

        ReturnSlow(item);
    }

    /// <summary>Makes an item. Called without any lock held.</summary>
    protected abstract T Make();

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

    internal override void EndRest()
    {
    }

    internal override void ReturnItem(Bucket bucket, object item) => ReturnSlow(Unsafe.As<T>(item));

    internal override void WriteReport(MisuseKind kind, string? detail)
    {
        if (TidepoolEventSource.Log.IsEnabled())
        {
            TidepoolEventSource.Log.Misuse(kind.ToString(), MisuseText.Describe(kind, Name, detail), Name);
        }
    }

    internal override void WriteDropped(int bucketId, ReadOnlySpan<object?> items)
    {
        if (TidepoolEventSource.Log.IsEnabled())
        {
            foreach (object? item in items)
            {
                TidepoolEventSource.Log.BufferDropped(item!.GetHashCode(), 1, Name.GetHashCode(StringComparison.Ordinal), bucketId);
            }
        }
    }

    internal override void WriteTrimmed(long count)
    {
        if (count > 0 && TidepoolEventSource.Log.IsEnabled())
        {
            TidepoolEventSource.Log.BufferTrimmed(count, Name);
        }
    }

    internal override void OnRentalsChanged()
    {
    }

    internal override IEnumerable<Bucket> Buckets() => [_bucket];

    internal override PoolStatistics GetStatistics()
    {
        long rented, returned, idle = 0;
        lock (ThreadTier.Gate)
        {
            rented = Volatile.Read(ref Counters.Rented);
            returned = Volatile.Read(ref Counters.Returned);
            ThreadTier.ForEach(magazine =>
            {
                if (magazine.Bucket == _bucket)
                {
                    rented += magazine.Rented;
                    returned += magazine.Returned;
                    idle += magazine.IdleCount;
                }
            });
        }

        idle += _bucket.Shared.Count;
        return new PoolStatistics
        {
            Rented = rented,
            Returned = returned,
            BytesLeased = (rented - returned) * _bucket.ItemBytes,
            BytesIdle = idle * _bucket.ItemBytes,
            Missed = Volatile.Read(ref Counters.Missed),
            Dropped = Volatile.Read(ref Counters.Dropped),
            Trimmed = Volatile.Read(ref Counters.Trimmed),
            Misuse = Counters.Misuse,
        };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private T RentSlow()
    {
        T item = Take();
        OnSlowRental(item);
        return item;
    }

    private T Take()
    {
        while (ThreadTier.FindSlow(_bucket) is { } magazine)
        {
            if (magazine.PopSlow() is { } item)
            {
                return Unsafe.As<T>(item);
            }

            if (_bucket.Shared.TryTake() is { } chunk)
            {
                item = magazine.Refill(chunk);
                Magazine.PutShared(_bucket, chunk);
                if (item is not null)
                {
                    return Unsafe.As<T>(item);
                }

                continue; // the magazine was closed meanwhile
            }

            T born = Birth();
            magazine.CountBirth();
            return born;
        }

        // The budget has no room for a magazine: what others returned, or a new one.
        T? taken = null;
        if (_bucket.Shared.TryTake() is { } rest)
        {
            rest.Count--;
            ref object? last = ref Items.At(ref rest.Items, rest.Count);
            taken = Unsafe.As<T>(last);
            last = null;
            Magazine.PutShared(_bucket, rest);
        }

        taken ??= Birth();
        Counters.AddRental(_bucket.ItemBytes);
        return taken;
    }

    private T Birth()
    {
        T born = Make();
        Interlocked.Increment(ref Counters.Missed);
        return born;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReturnSlow(T item)
    {
        while (ThreadTier.FindSlow(_bucket) is { } magazine)
        {
            bool kept = magazine.PushSlow(item, out Chunk? flushed, out bool twice);
            Magazine.PutShared(_bucket, flushed);
            if (kept || twice)
            {
                return;
            }
        }

        Counters.AddReturns(1, _bucket.ItemBytes);
        Chunk one = _bucket.Shared.TakeEmpty();
        one.Add(item);
        Magazine.PutShared(_bucket, one);
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

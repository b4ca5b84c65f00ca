using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Objects in the tiers: thread tier, shared tier, budget, trimming and counters as buffers have them. Whoever derives from it says which
/// kinds of items there are, makes and destroys them, and makes sure that each is returned once.
/// </summary>
internal abstract class ItemStation : Station
{
    /// <summary>Stands for a bucket that the fast path must not find.</summary>
    internal const int NoId = int.MaxValue;

    private readonly List<Bucket> _buckets = [];
    private readonly long _itemBytes;

    /// <summary>Makes a station; <see cref="Start"/> makes it known.</summary>
    /// <param name="name">The name in messages, events and metrics.</param>
    /// <param name="budget">What idle items are charged to.</param>
    /// <param name="itemBytes">What one idle item is charged.</param>
    protected ItemStation(PoolName name, Budget budget, long itemBytes)
        : base(name, budget) => _itemBytes = itemBytes;

    /// <summary>A new kind of item. Only in constructors.</summary>
    /// <param name="isRested">Whether returned items rest behind others before they are rented again.</param>
    protected Bucket AddBucket(bool isRested = false)
    {
        var bucket = new Bucket(this, ThreadTier.AllocateId(), 1, _itemBytes, isHomeless: true) { IsRested = isRested };
        _buckets.Add(bucket);
        return bucket;
    }

    /// <summary>Joins trimming and metrics, once the constructor has done its work.</summary>
    protected void Start()
    {
        Trimmer.Add(this);
        PoolMeter.Start();
    }

    /// <summary>Makes an item. Called without any lock held and outside of every magazine; what it throws goes to the renter, and nothing has changed.</summary>
    protected abstract object Make(Bucket bucket);

    /// <summary>An idle item of a bucket's twin as one of the bucket. Calls no foreign code.</summary>
    protected virtual object Convert(Bucket bucket, object item) => item;

    internal sealed override IEnumerable<Bucket> Buckets() => _buckets;

    internal override void EndRest()
    {
    }

    internal override void OnRentalsChanged()
    {
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

    internal override PoolStatistics GetStatistics()
    {
        long rented, returned, idle = 0;
        lock (ThreadTier.Gate)
        {
            // Under the gate no magazine is closed, which would move its counts from the one place to the other.
            rented = Volatile.Read(ref Counters.Rented);
            returned = Volatile.Read(ref Counters.Returned);
            ThreadTier.ForEach(magazine =>
            {
                if (magazine.Bucket.Station == this)
                {
                    rented += magazine.Rented;
                    returned += magazine.Returned;
                    idle += magazine.IdleCount;
                }
            });
        }

        _buckets.ForEach(bucket => idle += bucket.Shared.Count);
        return new PoolStatistics
        {
            Rented = rented,
            Returned = returned,
            BytesLeased = (rented - returned) * _itemBytes,
            Idle = idle,
            BytesIdle = idle * _itemBytes,
            Missed = Volatile.Read(ref Counters.Missed),
            Dropped = Volatile.Read(ref Counters.Dropped),
            Trimmed = Volatile.Read(ref Counters.Trimmed),
            Refused = Volatile.Read(ref Counters.Refused),
            Failures = Volatile.Read(ref Counters.Failures),
            StaleDisposes = Volatile.Read(ref Counters.StaleDisposes),
            Misuse = Counters.Misuse,
        };
    }

    /// <summary>No item waits in two places, every magazine and stripe is in order, and the budget adds up. Quiescent use.</summary>
    /// <exception cref="InvalidOperationException">An invariant is broken; the message names it.</exception>
    internal void Validate()
    {
        var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
        var faults = new List<string>();
        ThreadTier.ForEach(magazine =>
        {
            if (magazine.Bucket.Station == this && !magazine.IsValid(seen))
            {
                faults.Add("a thread's magazine");
            }
        });
        if (!_buckets.TrueForAll(bucket => bucket.Shared.IsValid(seen)))
        {
            faults.Add("the shared tier");
        }

        if (!Budget.IsValid())
        {
            faults.Add("the budget (less than nothing is charged)");
        }

        CheckItems(seen, faults);
        if (faults.Count > 0)
        {
            throw new InvalidOperationException($"Pool '{Name}' is not valid: {string.Join("; ", faults)}.");
        }
    }

    /// <summary>Adds what is wrong with the idle items themselves.</summary>
    protected virtual void CheckItems(HashSet<object> idle, List<string> faults)
    {
    }

    /// <summary>Takes every idle item out of the tiers and destroys it. The station is retired.</summary>
    protected void Drain()
    {
        ThreadTier.Retire(this);
        Leave();
        foreach (Bucket bucket in _buckets)
        {
            var chunks = new List<Chunk>();
            bucket.Shared.Trim(all: true, chunks);
            chunks.ForEach(c => Discard(bucket, c.Content()));
        }
    }

    /// <summary>An idle item or a new one, its rental counted: own magazine, shared tier, the twin's shared tier, then <see cref="Make"/>.</summary>
    /// <param name="bucket">The kind of item.</param>
    /// <param name="isNew">Whether it was made for this rental.</param>
    protected object Take(Bucket bucket, out bool isNew)
    {
        isNew = false;
        while (Find(bucket) is { } magazine)
        {
            // The fast path has seen an empty magazine, or one that a visitor had paused.
            object? item;
            Chunk? chunk = magazine.TakeShared();
            if (chunk is null)
            {
                item = magazine.PopSlow();
                if (item is not null)
                {
                    return item;
                }

                chunk = TakeFromTwin(bucket);
            }

            if (chunk is not null)
            {
                item = magazine.RefillHomeless(chunk);
                magazine.PutShared(chunk);
                if (item is not null)
                {
                    return item;
                }

                continue; // the magazine was closed meanwhile
            }

            object born = Birth(bucket);
            magazine.CountBirth();
            isNew = true;
            return born;
        }

        return TakeWithoutMagazine(bucket, out isNew);
    }

    /// <summary>Keeps an idle item: in the thread's magazine, from which others may have to go to the shared tier, else there.</summary>
    /// <param name="bucket">The kind of item.</param>
    /// <param name="item">The item.</param>
    /// <param name="isOnce">Whether its ticket makes sure that it is returned once.</param>
    /// <returns>False when the item lies in the thread's magazine already: nothing was changed.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    protected bool Keep(Bucket bucket, object item, bool isOnce)
    {
        while (Find(bucket) is { } magazine)
        {
            bool kept = magazine.PushHomeless(item, isOnce, out Chunk? flushed, out bool twice);
            magazine.PutShared(flushed);
            if (kept || twice)
            {
                return kept;
            }
        }

        Counters.AddReturns(1, bucket.ItemBytes);
        Chunk one = bucket.Shared.TakeEmpty();
        one.Add(item);
        Magazine.PutShared(bucket, one);
        return true;
    }

    /// <summary>The budget has no room for a magazine, or the thread is going away: what others returned, or a new item.</summary>
    private object TakeWithoutMagazine(Bucket bucket, out bool isNew)
    {
        object? taken = null;
        if ((bucket.Shared.TryTake() ?? TakeFromTwin(bucket)) is { } chunk)
        {
            chunk.Count--;
            ref object? last = ref chunk.Places[chunk.Count];
            taken = last;
            last = null;
            Magazine.PutShared(bucket, chunk);
        }

        isNew = taken is null;
        taken ??= Birth(bucket);
        Counters.AddRental(bucket.ItemBytes);
        return taken;
    }

    /// <summary>The thread's magazine by the fast look-up where it is open.</summary>
    private static Magazine? Find(Bucket bucket) =>
        ThreadTier.Find(bucket.Id) is { } magazine && magazine.Bucket == bucket && !magazine.IsShut ? magazine : ThreadTier.FindSlow(bucket);

    private Chunk? TakeFromTwin(Bucket bucket)
    {
        if (bucket.Twin?.Shared.TryTake() is not { } chunk)
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

    private object Birth(Bucket bucket)
    {
        object born = Make(bucket);
        Interlocked.Increment(ref Counters.Missed);
        return born;
    }
}

namespace Tidepool;

/// <summary>
/// What lives of a buffer pool behind its facade: buckets, births and deaths. Slots refer to it, the facade does too, and it refers to
/// neither, so a facade without references can be collected while buffers are idle or out.
/// </summary>
internal sealed partial class BufferCore<T> : TieredPool, ILivePool
{
    internal readonly BufferPoolSettings<T> Settings;

    internal readonly Quarantine<T>? Quarantine;

    private readonly Lock _gate = new();
    private readonly BucketTable<T> _slots;
    private readonly List<BucketTable<T>> _tables = [];
    private int _slotsMade;

    internal BufferCore(BufferPoolSettings<T> settings)
        : base(settings.Name, settings.Budget)
    {
        Settings = settings;
        _slots = AddTable(settings.Sizes, holdsArrays: false);
        if (settings.Checks == PoolChecks.Full)
        {
            Quarantine = new Quarantine<T>(settings.CaptureStacks);
        }

        Trimmer.Add(this);
        LivePools.Add(this);
    }

    PoolName ILivePool.PoolName => PoolName;

    long ILivePool.BudgetBytes => OwnBudgetBytes;

    int ILivePool.PoolId => PoolId;

    int ILivePool.ElementBytes => (int)BufferPoolSettings<T>.BytesOf(1);

    PoolInfo ILivePool.Describe() => new(Name, PoolKind.Buffers) { Statistics = GetStatistics() };

    internal override bool IsOnHeap => !Settings.IsNative;

    internal override List<Bucket> Buckets()
    {
        var buckets = new List<Bucket>();
        lock (_gate)
        {
            _tables.ForEach(table => table.AddMade(buckets));
        }

        return buckets;
    }

    internal void ThrowIfRetired()
    {
        if (Retired)
        {
            throw new ObjectDisposedException(
                $"BufferPool<{TypeName.Of<T>()}>", $"Pool '{Name}' was disposed; nothing can be rented from it.");
        }
    }

    /// <summary>The ids of the buckets of leases; see <see cref="BucketTable{T}.FastIds"/>.</summary>
    internal int[] FastIds => _slots.FastIds;

    /// <summary>The bucket of leases of <paramref name="length"/> elements, or null when the pool keeps none of that length.</summary>
    internal Bucket? FindBucket(int length) => _slots.Find(length);

    /// <summary>The slots of the class after <paramref name="bucket"/>'s, if it exists and wastes at most a quarter.</summary>
    protected override Bucket? FindNext(Bucket bucket)
    {
        Bucket? next = bucket.HoldsArrays ? null : _slots.FindNext(bucket.ItemLength);
        return next is not null && next.ItemLength - bucket.ItemLength <= bucket.ItemLength / 4 ? next : null;
    }

    /// <summary>A set of buckets with size classes of its own.</summary>
    internal BucketTable<T> AddTable(SizeClasses sizes, bool holdsArrays)
    {
        var table = new BucketTable<T>(this, sizes, holdsArrays);
        lock (_gate)
        {
            _tables.Add(table);
        }

        return table;
    }

    /// <summary>Makes a bucket and connects it with one of equal length, so that idle buffers can change their form.</summary>
    internal Bucket MakeBucket(int length, bool holdsArrays)
    {
        long bytes = BufferPoolSettings<T>.BytesOf(length);
        int id = Bucket.FitsThreadTier(bytes) && !Retired ? ThreadTier.AllocateId() : -1;
        var bucket = new Bucket(this, id, length, bytes, holdsReferences: BufferPoolSettings<T>.HoldsReferences)
        {
            HoldsArrays = holdsArrays,
        };
        if (Settings.HasWholeArrays && FindMade(length, !holdsArrays) is { } sibling)
        {
            bucket.Sibling = sibling;
            sibling.Sibling ??= bucket;
        }

        return bucket;
    }

    private Bucket? FindMade(int length, bool holdsArrays) =>
        Buckets().Find(b => b.ItemLength == length && b.HoldsArrays == holdsArrays);

    internal Lock BucketGate => _gate;

    /// <summary>Makes a slot with a new buffer, or a new array.</summary>
    /// <exception cref="OutOfMemoryException">The source has no memory left.</exception>
    protected override object Make(Bucket bucket) => bucket.HoldsArrays ? MakeArray(bucket.ItemLength) : MakeSlot(bucket);

    /// <summary>Turns an idle array into a slot, or the other way round.</summary>
    protected override object Convert(Bucket bucket, object item)
    {
        if (item is PooledSlot<T> idle)
        {
            idle.Record?.StopWatching();
            Remember(idle.Array!, idle.Tag);
            return idle.Array!;
        }

        var slot = new PooledSlot<T>(this, bucket);
        slot.Adopt(Unregister((T[])item));
        slot.ClearReferences(-1); // arrays come back as their renters left them, leases clear
        return slot;
    }

    private PooledSlot<T> MakeSlot(Bucket bucket)
    {
        SourceBuffer<T> buffer = Allocate(bucket.ItemLength);
        var slot = new PooledSlot<T>(this, bucket);
        slot.Adopt(buffer);
        if (Settings.ClearsNew)
        {
            slot.Whole().Clear();
        }

        bool isSampled = Quarantine is null
            && Settings.LeakSampling > 0
            && Interlocked.Increment(ref _slotsMade) % Settings.LeakSampling == 0;
        if (isSampled || Quarantine is not null || slot.OutlivesSlot)
        {
            slot.Record = new RentalRecord(this, slot, bucket.ItemBytes, "A leased buffer", bucket.ItemLength);
        }

        if (isSampled)
        {
            slot.Record!.TryBegin(CallerStack.Capture());
        }

        return slot;
    }

    private T[] MakeArray(int length)
    {
        SourceBuffer<T> buffer = Allocate(length);
        T[] array = buffer.Array!;
        Remember(array, buffer.Tag);
        if (Settings.ClearsNew)
        {
            Array.Clear(array);
        }

        return array;
    }

    /// <summary>Reports a new slot or array, where events are listened to.</summary>
    private void WriteAllocated(object item, int poolId, int bucketId, int requested)
    {
        if (TidepoolEventSource.IsHeard)
        {
            TidepoolEventSource.Log.BufferAllocated(item.GetHashCode(), LengthOf(item), poolId, bucketId, requested);
        }
    }

    internal override void Evict(Bucket bucket, ReadOnlySpan<object?> items)
    {
        foreach (object? item in items)
        {
            if (item is PooledSlot<T> slot)
            {
                slot.Record?.StopWatching();
                if (slot.TryTakeBuffer(out SourceBuffer<T> buffer))
                {
                    Free(buffer);
                }
            }
            else if (item is T[] array)
            {
                Free(Unregister(array));
            }
        }
    }

    /// <summary>The facade while it lives; it must be told when a listener asks for every rental.</summary>
    internal WeakReference<BufferPool<T>>? Facade { get; set; }

    internal override void OnRentalsChanged()
    {
        if (Facade is not null && Facade.TryGetTarget(out BufferPool<T>? pool))
        {
            pool.ChoosePath();
        }
    }

    /// <summary>Ends the pool: tiers are emptied, and what is out is given to the source when it comes back.</summary>
    internal void Retire()
    {
        StopFastPaths(); // first of all, so that no rental succeeds on a pool that has ended, whatever happens then
        if (TryRetire())
        {
            StopFastPaths(); // buckets created concurrently are published by now, and drained
            Drain();
        }
    }

    private void StopFastPaths()
    {
        lock (_gate)
        {
            _tables.ForEach(static t => t.Stop());
        }
    }

    protected override int LengthOf(object item) => item is PooledSlot<T> slot ? slot.Capacity : ((T[])item).Length;

    private SourceBuffer<T> Allocate(int length)
    {
        SourceBuffer<T> buffer = Settings.Source.Allocate(length, Settings.Alignment);
        if (buffer.Length == length)
        {
            return buffer;
        }

        Free(buffer);
        throw new InvalidOperationException(
            $"{Settings.Source.GetType()} was asked for {length} elements and made {buffer.Length} (pool '{Name}').");
    }

    /// <summary>A source that throws must not end the trim timer's thread, nor keep other buffers from their death.</summary>
    private void Free(in SourceBuffer<T> buffer)
    {
        try
        {
            Settings.Source.Free(buffer);
        }
        catch (Exception e)
        {
            TidepoolEventSource.Log.SourceFailed(e.ToString(), Name);
        }
    }
}

using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// What lives of a buffer pool behind its facade: buckets, births and deaths. Slots refer to it, the facade does too, and it refers to
/// neither, so a facade without references can be collected while buffers are idle or out.
/// </summary>
internal sealed partial class BufferCore<T> : TieredPool
{
    internal readonly BufferPoolSettings<T> Settings;

    /// <summary>
    /// Bucket ids by class for the fast look-up; <see cref="TieredPool.NoId"/> where the slow path must look, and everywhere once retired.
    /// </summary>
    internal readonly int[] FastIds;

    internal readonly Quarantine<T>? Quarantine;

    private readonly Lock _gate = new();
    private readonly Bucket?[] _buckets;
    private readonly List<RawBuckets<T>> _raws = [];
    private readonly int _lastIndex;
    private int _slotsMade;

    internal BufferCore(BufferPoolSettings<T> settings)
        : base(settings.Name, settings.Budget)
    {
        Settings = settings;
        _buckets = new Bucket?[settings.Sizes.Count];
        _lastIndex = settings.LastIndexOf(settings.Sizes);
        FastIds = new int[settings.Sizes.IsDefault ? SizeClasses.FineCount : settings.Sizes.Count];
        Array.Fill(FastIds, NoId);
        if (settings.Checks == PoolChecks.Full)
        {
            Quarantine = new Quarantine<T>(settings.CaptureStacks);
        }

        Trimmer.Add(this);
    }

    internal override bool IsOnHeap => !Settings.IsNative;

    internal override IEnumerable<Bucket> Buckets()
    {
        lock (_gate)
        {
            var all = _buckets.Where(static b => b is not null).ToList();
            foreach (RawBuckets<T> raw in _raws)
            {
                all.AddRange(raw.Made());
            }

            return all!;
        }
    }

    internal void ThrowIfRetired()
    {
        if (Retired)
        {
            throw new ObjectDisposedException(
                $"BufferPool<{typeof(T).Name}>", $"Pool '{Name}' was disposed; nothing can be rented from it.");
        }
    }

    /// <summary>The bucket that serves <paramref name="length"/> elements, or null when the pool keeps no buffers of that length.</summary>
    internal Bucket? FindBucket(int length)
    {
        int index = Settings.Sizes.IndexOf(length);
        if (index < 0 || index > _lastIndex)
        {
            return null;
        }

        return Volatile.Read(ref _buckets[index]) ?? MakeBucket(index);
    }

    /// <summary>The slots of the class after <paramref name="bucket"/>'s, if it exists and wastes at most a quarter.</summary>
    protected override Bucket? FindNext(Bucket bucket)
    {
        int index = Settings.Sizes.IndexOf(bucket.ItemLength) + 1;
        if (bucket.HoldsArrays || index >= _buckets.Length)
        {
            return null;
        }

        Bucket? next = Volatile.Read(ref _buckets[index]);
        return next is not null && next.ItemLength - bucket.ItemLength <= bucket.ItemLength / 4 ? next : null;
    }

    /// <summary>A set of buckets for whole arrays, with size classes of its own.</summary>
    internal RawBuckets<T> AddRaw(SizeClasses sizes)
    {
        var raw = new RawBuckets<T>(this, sizes);
        lock (_gate)
        {
            _raws.Add(raw);
        }

        return raw;
    }

    /// <summary>Makes a bucket of this pool.</summary>
    internal Bucket NewBucket(int length, bool holdsArrays)
    {
        long bytes = BufferPoolSettings<T>.BytesOf(length);
        int id = Bucket.FitsThreadTier(bytes) && !Retired ? ThreadTier.AllocateId() : -1;
        return new Bucket(this, id, length, bytes) { HoldsArrays = holdsArrays };
    }

    /// <summary>Connects the buckets of equal length, so that idle buffers can change their form.</summary>
    internal void FindSibling(Bucket bucket)
    {
        if (!Settings.HasWholeArrays)
        {
            return;
        }

        Bucket? sibling = bucket.HoldsArrays
            ? Array.Find(_buckets, b => b?.ItemLength == bucket.ItemLength)
            : _raws.SelectMany(static r => r.Made()).FirstOrDefault(b => b.ItemLength == bucket.ItemLength);
        if (sibling is not null)
        {
            bucket.Sibling = sibling;
            sibling.Sibling ??= bucket;
        }
    }

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
        if (TidepoolEventSource.Log.IsEnabled())
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
        // First of all, so that no rental succeeds on a pool that has ended, whatever happens then.
        lock (_gate)
        {
            Array.Fill(FastIds, NoId);
            _raws.ForEach(static r => r.Stop());
        }

        if (!TryRetire())
        {
            return;
        }

        // Buckets created concurrently are published by now; the loop below finds them.
        lock (_gate)
        {
            Array.Fill(FastIds, NoId);
            _raws.ForEach(static r => r.Stop());
        }

        Drain();
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

    private Bucket MakeBucket(int index)
    {
        lock (_gate)
        {
            if (_buckets[index] is { } made)
            {
                return made;
            }

            Bucket bucket = NewBucket(Settings.Sizes.LengthOf(index), holdsArrays: false);
            FindSibling(bucket);
            Volatile.Write(ref _buckets[index], bucket);
            if (index < FastIds.Length && bucket.Id >= 0)
            {
                FastIds[index] = bucket.Id;
            }

            return bucket;
        }
    }
}

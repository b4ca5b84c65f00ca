using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// What lives of a buffer pool behind its facade: buckets, births and deaths. Slots refer to it, the facade does too, and it refers to
/// neither, so a facade that nobody holds can be collected while buffers are idle or out.
/// </summary>
internal sealed partial class BufferCore<T> : Station
{
    internal readonly BufferGeometry<T> Geometry;

    /// <summary>Bucket ids by class for the fast look-up; <see cref="NoId"/> where the slow path must look, and everywhere once retired.</summary>
    internal readonly int[] FastIds;

    internal readonly Guard<T>? Guard;

    private const int NoId = int.MaxValue;

    private readonly Lock _gate = new();
    private readonly Bucket?[] _buckets;
    private readonly List<RawBuckets<T>> _raws = [];
    private readonly int _lastIndex;
    private int _births;

    internal BufferCore(BufferGeometry<T> geometry)
        : base(geometry.Name, geometry.Budget)
    {
        Geometry = geometry;
        _buckets = new Bucket?[geometry.Sizes.Count];
        _lastIndex = geometry.LastIndexOf(geometry.Sizes);
        FastIds = new int[geometry.Sizes.IsDefault ? SizeClasses.FineCount : geometry.Sizes.Count];
        Array.Fill(FastIds, NoId);
        if (geometry.Checks == PoolChecks.Full)
        {
            Guard = new Guard<T>(geometry.CaptureStacks);
        }

        Trimmer.Add(this);
    }

    internal override bool IsOnHeap => !Geometry.IsNative;

    /// <summary>The number that stands for the pool in events.</summary>
    internal int PoolId => Name.GetHashCode(StringComparison.Ordinal);

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
            throw new ObjectDisposedException($"BufferPool<{typeof(T).Name}>", $"Pool '{Name}' was disposed; nothing can be rented from it.");
        }
    }

    /// <summary>The bucket that serves <paramref name="length"/> elements, or null when the pool keeps no buffers of that length.</summary>
    internal Bucket? FindBucket(int length)
    {
        int index = Geometry.Sizes.IndexOf(length);
        if (index < 0 || index > _lastIndex)
        {
            return null;
        }

        return Volatile.Read(ref _buckets[index]) ?? MakeBucket(index);
    }

    /// <summary>The bucket of the class after <paramref name="bucket"/>'s, if it exists and wastes at most a quarter.</summary>
    internal Bucket? FindNext(Bucket bucket)
    {
        int index = Geometry.Sizes.IndexOf(bucket.ItemLength) + 1;
        if (index >= _buckets.Length)
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

    /// <summary>Makes a bucket of this pool; the twin is the lease bucket of the same length for arrays, and the other way round.</summary>
    internal Bucket NewBucket(int length)
    {
        long bytes = BufferGeometry<T>.BytesOf(length);
        int id = Bucket.FitsThreadTier(bytes) && !Retired ? ThreadTier.AllocateId() : -1;
        return new Bucket(this, id, length, bytes);
    }

    /// <summary>Connects the buckets of equal length, so that idle buffers can change their form.</summary>
    internal void FindTwin(Bucket bucket, bool raw)
    {
        if (!Geometry.HasWholeArrays)
        {
            return;
        }

        Bucket? twin = raw
            ? Array.Find(_buckets, b => b?.ItemLength == bucket.ItemLength)
            : _raws.SelectMany(static r => r.Made()).FirstOrDefault(b => b.ItemLength == bucket.ItemLength);
        if (twin is not null)
        {
            bucket.Twin = twin;
            twin.Twin ??= bucket;
        }
    }

    internal Lock BucketGate => _gate;

    /// <summary>Makes a slot with a new buffer.</summary>
    /// <exception cref="OutOfMemoryException">The source has no memory left.</exception>
    internal PooledSlot<T> Birth(Bucket bucket, int requested)
    {
        SourceBuffer<T> buffer = Allocate(bucket.ItemLength);
        var slot = new PooledSlot<T>(this, bucket);
        slot.Adopt(buffer);
        if (Geometry.ClearsNew)
        {
            slot.Whole().Clear();
        }

        Interlocked.Increment(ref Counters.Missed);
        bool isSampled = Guard is null && Geometry.LeakSampling > 0 && Interlocked.Increment(ref _births) % Geometry.LeakSampling == 0;
        if (isSampled || Guard is not null || slot.OutlivesSlot)
        {
            slot.Record = new RentalRecord(this, slot, bucket.ItemBytes, "A leased buffer", bucket.ItemLength);
        }

        if (isSampled)
        {
            slot.Record!.TryBegin(CallerStack.Capture());
        }

        if (TidepoolEventSource.Log.IsEnabled())
        {
            TidepoolEventSource.Log.BufferAllocated(slot.GetHashCode(), bucket.ItemLength, PoolId, bucket.Id, requested);
        }

        return slot;
    }

    internal T[] BirthArray(int length, int requested, int poolId, bool cleared)
    {
        SourceBuffer<T> buffer = Allocate(length);
        T[] array = buffer.Array!;
        Remember(array, buffer.Tag);
        if (Geometry.ClearsNew || (cleared && !BufferGeometry<T>.HoldsReferences))
        {
            Array.Clear(array);
        }

        Interlocked.Increment(ref Counters.Missed);
        if (TidepoolEventSource.Log.IsEnabled())
        {
            TidepoolEventSource.Log.BufferAllocated(array.GetHashCode(), array.Length, poolId, -1, requested);
        }

        return array;
    }

    internal override void Discard(Bucket bucket, ReadOnlySpan<object?> items)
    {
        foreach (object? item in items)
        {
            if (item is PooledSlot<T> slot)
            {
                slot.Record?.Forget();
                if (slot.TryTakeBuffer(out SourceBuffer<T> buffer))
                {
                    Free(buffer);
                }
            }
            else if (item is T[] array)
            {
                Free(Forget(array));
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

    internal override void WriteDropped(int bucketId, ReadOnlySpan<object?> items)
    {
        if (!TidepoolEventSource.Log.IsEnabled())
        {
            return;
        }

        foreach (object? item in items)
        {
            int length = item is PooledSlot<T> slot ? slot.Capacity : ((T[])item!).Length;
            TidepoolEventSource.Log.BufferDropped(item.GetHashCode(), length, PoolId, bucketId);
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
        long rented, returned, leasedBytes, idle = 0, idleBytes = 0;
        lock (ThreadTier.Gate)
        {
            // Under the gate no magazine is closed, which would move its counts from the one place to the other.
            rented = Volatile.Read(ref Counters.Rented);
            returned = Volatile.Read(ref Counters.Returned);
            leasedBytes = Volatile.Read(ref Counters.LeasedBytes);
            ThreadTier.ForEach(magazine =>
            {
                if (magazine.Bucket.Station == this)
                {
                    long here = magazine.Rented, back = magazine.Returned;
                    rented += here;
                    returned += back;
                    leasedBytes += (here - back) * magazine.Bucket.ItemBytes;
                    int waiting = magazine.IdleCount;
                    idle += waiting;
                    idleBytes += waiting * magazine.Bucket.ItemBytes;
                }
            });
        }

        foreach (Bucket bucket in Buckets())
        {
            long waiting = bucket.Shared.Count;
            idle += waiting;
            idleBytes += waiting * bucket.ItemBytes;
        }

        // What rests in quarantine has been returned and is counted by a tier only when it gets there.
        long restingBytes = Guard?.RestingBytes ?? 0;
        int resting = Guard?.RestingCount ?? 0;
        returned += resting;
        return new PoolStatistics
        {
            Rented = rented,
            Returned = returned,
            BytesLeased = leasedBytes - restingBytes,
            Idle = idle + resting,
            BytesIdle = idleBytes + restingBytes,
            Missed = Volatile.Read(ref Counters.Missed),
            Dropped = Volatile.Read(ref Counters.Dropped),
            Trimmed = Volatile.Read(ref Counters.Trimmed),
            StaleDisposes = Volatile.Read(ref Counters.StaleDisposes),
            Misuse = Counters.Misuse,
        };
    }

    /// <summary>Ends the pool: tiers are emptied, and what is out is given to the source when it comes back.</summary>
    internal void Retire()
    {
        // First of all, so that whatever happens then nobody rents from a pool that has ended.
        lock (_gate)
        {
            Array.Fill(FastIds, NoId);
            _raws.ForEach(static r => r.Stop());
        }

        if (!TryRetire())
        {
            return;
        }

        // Whoever was making a bucket with an id has put it where it is found below.
        lock (_gate)
        {
            Array.Fill(FastIds, NoId);
            _raws.ForEach(static r => r.Stop());
        }

        ThreadTier.Retire(this);
        Leave();
        EndRest();
        foreach (Bucket bucket in Buckets())
        {
            var chunks = new List<Chunk>();
            bucket.Shared.Trim(all: true, chunks);
            chunks.ForEach(c => Discard(bucket, c.Content()));
        }
    }

    private SourceBuffer<T> Allocate(int length)
    {
        SourceBuffer<T> buffer = Geometry.Source.Allocate(length, Geometry.Alignment);
        if (buffer.Length == length)
        {
            return buffer;
        }

        Free(buffer);
        throw new InvalidOperationException(
            $"{Geometry.Source.GetType()} was asked for {length} elements and made {buffer.Length} (pool '{Name}').");
    }

    /// <summary>A source that throws must not end the trim timer's thread, nor keep other buffers from their death.</summary>
    private void Free(in SourceBuffer<T> buffer)
    {
        try
        {
            Geometry.Source.Free(buffer);
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

            Bucket bucket = NewBucket(Geometry.Sizes.LengthOf(index));
            FindTwin(bucket, raw: false);
            Volatile.Write(ref _buckets[index], bucket);
            if (index < FastIds.Length && bucket.Id >= 0)
            {
                FastIds[index] = bucket.Id;
            }

            return bucket;
        }
    }
}

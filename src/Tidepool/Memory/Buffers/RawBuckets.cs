namespace Tidepool;

/// <summary>The buckets of one <see cref="PooledArrayPool{T}"/>: whole arrays, by size classes that may differ from the pool's.</summary>
internal sealed class RawBuckets<T>
{
    /// <summary>
    /// Bucket ids of the fast path by class; <see cref="TieredPool.NoId"/> where the slow path must look. Empty for tables without a fast
    /// look-up.
    /// </summary>
    internal readonly int[] FastIds;

    private readonly BufferCore<T> _core;
    private readonly SizeClasses _sizes;
    private readonly Bucket?[] _buckets;
    private readonly int _lastIndex;

    internal RawBuckets(BufferCore<T> core, SizeClasses sizes)
    {
        _core = core;
        _sizes = sizes;
        _buckets = new Bucket?[sizes.Count];
        _lastIndex = core.Settings.LastIndexOf(sizes);
        FastIds = new int[sizes.IsDefault ? SizeClasses.FineCount : sizes == SizeClasses.PowersOfTwo ? sizes.Count : 0];
        Array.Fill(FastIds, TieredPool.NoId);
    }

    internal IEnumerable<Bucket> Made() => _buckets.Where(static b => b is not null)!;

    /// <summary>The bucket that serves <paramref name="length"/> elements, or null when arrays of that length are not kept.</summary>
    internal Bucket? Find(int length)
    {
        int index = length <= _core.Settings.Source.MaxLength ? _sizes.IndexOf(length) : -1;
        if (index < 0 || index > _lastIndex)
        {
            return null;
        }

        return Volatile.Read(ref _buckets[index]) ?? Make(index);
    }

    /// <summary>Whether some class has exactly this length.</summary>
    internal bool IsClassLength(int length)
    {
        int index = _sizes.IndexOf(length);
        return index >= 0 && _sizes.LengthOf(index) == length;
    }

    /// <summary>The length of the longest class that is kept, in elements.</summary>
    internal int MaxLength => _lastIndex < 0 ? 0 : _sizes.LengthOf(_lastIndex);

    /// <summary>Sends every caller to the slow path.</summary>
    internal void Stop() => Array.Fill(FastIds, TieredPool.NoId);

    private Bucket Make(int index)
    {
        lock (_core.BucketGate)
        {
            if (_buckets[index] is { } made)
            {
                return made;
            }

            Bucket bucket = _core.NewBucket(_sizes.LengthOf(index), holdsArrays: true);
            _core.FindSibling(bucket);
            Volatile.Write(ref _buckets[index], bucket);
            if (bucket.Id >= 0 && index < FastIds.Length)
            {
                FastIds[index] = bucket.Id;
            }

            return bucket;
        }
    }
}

namespace Tidepool;

/// <summary>
/// Buckets by size class: those of a pool's leases, or those of whole arrays, whose size classes may differ from the pool's.
/// </summary>
internal sealed class BucketTable<T>
{
    /// <summary>
    /// Bucket ids by class for the fast look-up; <see cref="TieredPool.NoId"/> where the slow path must look, and everywhere once retired.
    /// </summary>
    internal readonly int[] FastIds;

    private readonly BufferCore<T> _core;
    private readonly SizeClasses _sizes;
    private readonly bool _holdsArrays;
    private readonly Bucket?[] _buckets;
    private readonly int _lastIndex;

    internal BucketTable(BufferCore<T> core, SizeClasses sizes, bool holdsArrays)
    {
        _core = core;
        _sizes = sizes;
        _holdsArrays = holdsArrays;
        _buckets = new Bucket?[sizes.Count];
        _lastIndex = core.Settings.LastIndexOf(sizes);
        FastIds = new int[sizes.IsDefault ? SizeClasses.FineCount : sizes.Count];
        Array.Fill(FastIds, TieredPool.NoId);
    }

    /// <summary>Adds the buckets that were made so far. Under the gate of buckets.</summary>
    internal void AddMade(List<Bucket> buckets)
    {
        foreach (Bucket? bucket in _buckets)
        {
            if (bucket is not null)
            {
                buckets.Add(bucket);
            }
        }
    }

    /// <summary>The bucket that serves <paramref name="length"/> elements, or null when the pool keeps none of that length.</summary>
    internal Bucket? Find(int length)
    {
        int index = length <= _core.Settings.Source.MaxLength ? _sizes.IndexOf(length) : -1;
        if (index < 0 || index > _lastIndex)
        {
            return null;
        }

        return Volatile.Read(ref _buckets[index]) ?? Make(index);
    }

    /// <summary>The bucket of the class after the one that serves <paramref name="length"/> elements, if it was made.</summary>
    internal Bucket? FindNext(int length)
    {
        int index = _sizes.IndexOf(length) + 1;
        return index < _buckets.Length ? Volatile.Read(ref _buckets[index]) : null;
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

            Bucket bucket = _core.MakeBucket(_sizes.LengthOf(index), _holdsArrays);
            Volatile.Write(ref _buckets[index], bucket);
            if (bucket.Id >= 0 && index < FastIds.Length)
            {
                FastIds[index] = bucket.Id;
            }

            return bucket;
        }
    }
}

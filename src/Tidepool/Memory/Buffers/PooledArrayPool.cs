using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A buffer pool behind the type <see cref="ArrayPool{T}"/>, behaving as that type does in every case that its users can see.
/// </summary>
internal sealed class PooledArrayPool<T> : ArrayPool<T>
{
    private readonly BufferPool<T> _pool;
    private readonly BufferCore<T> _core;
    private readonly BucketTable<T> _raw;
    private readonly Type _arrayType = typeof(T[]); // an array of a derived element type must not reach a renter who may store into it
    private readonly int _id; // for events, as ArrayPool<T>'s own
    private int[] _ids = [];

    internal PooledArrayPool(BufferPool<T> pool, SizeClasses sizes)
    {
        _pool = pool;
        _core = pool.Core;
        _raw = _core.AddTable(sizes, holdsArrays: true);
        Sizes = sizes;
        _id = GetHashCode();
    }

    internal SizeClasses Sizes { get; }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public override T[] Rent(int minimumLength)
    {
        int[] ids = _ids;
        int index = SizeClasses.PowerIndexOf(minimumLength);
        if ((uint)index < (uint)ids.Length
            && ThreadTier.Find(ids[index]) is { } magazine
            && magazine.TryPop() is { } item)
        {
            return Unsafe.As<T[]>(item);
        }

        return minimumLength == 0 ? [] : RentSlow(minimumLength);
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public override void Return(T[] array, bool clearArray = false)
    {
        if (array is not null)
        {
            if (array.Length == 0)
            {
                return;
            }

            if (clearArray)
            {
                Array.Clear(array);
            }

            int[] ids = _ids;
            int index = SizeClasses.PowerIndexOf(array.Length);
            if ((uint)index < (uint)ids.Length
                && array.Length == SizeClasses.SmallestLength << index
                && ThreadTier.Find(ids[index]) is { } magazine
                && magazine.TryPush(array, typeof(T).IsValueType ? null : _arrayType))
            {
                return;
            }
        }

        ReturnSlow(array!);
    }

    internal void ChoosePath(bool slow) =>
        _ids = slow || Sizes != SizeClasses.PowersOfTwo || !_core.Settings.TakesForeignArrays ? [] : _raw.FastIds;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private T[] RentSlow(int minimumLength)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(minimumLength);
        _core.ThrowIfRetired();
        T[] array = _raw.Find(minimumLength) is { } bucket
            ? _core.RentArray(bucket, minimumLength, _id, cleared: !_pool.IsShared)
            : _core.RentUnkeptArray(minimumLength, _id, cleared: !_pool.IsShared);
        if (TidepoolEventSource.Rentals)
        {
            TidepoolEventSource.Log.BufferRented(array.GetHashCode(), array.Length, _id, -1, minimumLength);
        }

        GC.KeepAlive(_pool);
        return array;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReturnSlow(T[] array)
    {
        ArgumentNullException.ThrowIfNull(array);
        if (!_raw.IsClassLength(array.Length) && array.Length <= _raw.MaxLength)
        {
            PoolMisuseException misuse = _core.Misuse(MisuseKind.WrongLength, null, $"Its length is {array.Length}.");
            throw new ArgumentException(misuse.Message, nameof(array));
        }

        if (TidepoolEventSource.Rentals)
        {
            TidepoolEventSource.Log.BufferReturned(array.GetHashCode(), array.Length, _id);
        }

        Bucket? bucket = (typeof(T).IsValueType || array.GetType() == _arrayType) && _core.IsOurs(array) ? _raw.Find(array.Length) : null;
        if (bucket is null)
        {
            _core.EvictArray(array);
        }
        else
        {
            _core.ReturnArray(bucket, array);
        }
    }
}

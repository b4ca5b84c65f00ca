using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A pool of buffers: rent, use, return. Faster than allocating, bounded by default, gives idle memory back by itself, and detects misuse
/// in Release builds.
/// </summary>
/// <typeparam name="T">Any element type.</typeparam>
/// <remarks>
/// Thread-safe. A rental takes, in this order: the newest buffer that this thread holds (no locked instruction), what came home from other
/// threads, the shared tier (one lock per up to 14 buffers), the source. See <c>docs/trace.md</c> for one rent and one return step by step.
/// </remarks>
/// <example>
/// <code>
/// using BufferLease&lt;byte&gt; lease = BufferPool&lt;byte&gt;.Shared.Rent(1000);
/// lease.Span.Fill(1);                        // exactly 1000 bytes
/// await Task.Yield();                        // a lease may cross an await
/// Console.WriteLine(lease.Memory.Length);    // the end of the scope returns it
/// </code>
/// </example>
[DebuggerDisplay("{Name,nq}")]
public sealed class BufferPool<T> : IDisposable
{
    private readonly BufferCore<T> _core;
    private readonly Lock _gate = new();
    private readonly List<PooledArrayPool<T>> _arrayPools = [];
    private int[] _ids = [];
    private bool _slow;
    private int[] _scopeIds = [];
    private BucketTable<T>? _scopes;
    private PooledMemoryPool<T>? _memoryPool;

    private BufferPool(BufferPoolOptions<T> options, bool isShared)
    {
        IsShared = isShared;
        _core = new BufferCore<T>(new BufferPoolSettings<T>(options));
        _core.Facade = new WeakReference<BufferPool<T>>(this);
        PoolMeter.Start();
        ChoosePath();
    }

    /// <summary>Gives the idle buffers of a pool without references to the source.</summary>
    ~BufferPool() => _core?.Retire();

    /// <summary>The pool of the process for this element type. Disposing it does nothing.</summary>
    public static BufferPool<T> Shared { get; } = new(new BufferPoolOptions<T> { Name = $"Shared<{TypeName.Of<T>()}>" }, isShared: true);

    /// <summary>The name in messages, events and metrics.</summary>
    public string Name => _core.Name;

    /// <summary>How much the pool checks.</summary>
    public PoolChecks Checks => _core.Settings.Checks;

    internal bool IsShared { get; }

    /// <summary>False while every rental must be seen.</summary>
    internal bool IsFast => !_slow;

    internal bool IsDisposed => _core.Retired;

    internal BufferCore<T> Core => _core;

    /// <summary>Makes an independent pool: its buffers never mix with those of others.</summary>
    /// <param name="options">What it is made of; null for all defaults.</param>
    /// <exception cref="ArgumentOutOfRangeException">An option is out of range; the message names it and its range.</exception>
    public static BufferPool<T> Create(BufferPoolOptions<T>? options = null) => new(options ?? new BufferPoolOptions<T>(), isShared: false);

    /// <summary>Rents a buffer.</summary>
    /// <param name="length">Its length in elements, 0 to <see cref="Array.MaxLength"/> (less where the source makes only shorter
    /// ones).</param>
    /// <param name="clear">Whether the rented elements are zeroed. What the array holds behind them is as the last renter left it.</param>
    /// <returns>A lease of exactly <paramref name="length"/> elements; dispose it to return the buffer.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is out of range.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    /// <exception cref="OutOfMemoryException">No tier had a buffer and the source has no memory.</exception>
    /// <remarks>Allocates nothing on a hit.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BufferLease<T> Rent(int length, bool clear = false)
    {
        BufferSlot<T>? slot = null;
        int[] ids = _ids;
        int index = SizeClasses.FineIndexOf(length);
        if ((uint)index < (uint)ids.Length && ThreadTier.Find(ids[index]) is { } magazine)
        {
            slot = Unsafe.As<BufferSlot<T>>(magazine.TryPop());
        }

        slot ??= RentSlow(length);
        var lease = new BufferLease<T>(slot, slot.Begin(), length);
        if (clear)
        {
            lease.Span.Clear();
        }

        return lease;
    }

    /// <summary>Rents a plain array for the current scope. Use it with <c>using</c>.</summary>
    /// <param name="length">The length in elements, 0 to <see cref="Array.MaxLength"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is out of range.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    /// <exception cref="NotSupportedException">The buffers of this pool are not whole arrays.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ArrayScope<T> RentScope(int length)
    {
        int[] ids = _scopeIds;
        int index = SizeClasses.FineIndexOf(length);
        Magazine? magazine = null;
        T[]? array = null;
        if ((uint)index < (uint)ids.Length)
        {
            magazine = ThreadTier.Find(ids[index]);
            array = Unsafe.As<T[]>(magazine?.TryPop());
        }

        if (array is null)
        {
            (array, magazine) = RentScopeSlow(length);
        }

        // Made once, whichever way: of two the compiler makes a copy by a wide load, which waits for the narrow stores before it.
        return new ArrayScope<T>(array, magazine, length);
    }

    /// <summary>A private stock for a tight loop on the calling thread.</summary>
    /// <param name="maxLength">The longest length that will be rented, in elements.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxLength"/> is out of range, or longer than what the pool
    /// keeps.</exception>
    /// <exception cref="NotSupportedException">The pool does something on every rental (full checks, clearing, secrets), so a stock would
    /// gain nothing.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    public ThreadHandle<T> GetThreadHandle(int maxLength)
    {
        _core.ThrowIfRetired();
        _core.CheckLength(maxLength);
        if (_core.Settings.IsAlwaysSlow)
        {
            throw new NotSupportedException($"Pool '{Name}' checks or clears on every rental; rent from the pool itself.");
        }

        Bucket? bucket = _core.FindBucket(maxLength);
        if (bucket is null || bucket.Id < 0)
        {
            throw new ArgumentOutOfRangeException(
                nameof(maxLength),
                maxLength,
                $"Threads keep no buffers of that length of pool '{Name}'; rent from the pool itself.");
        }

        // Without room in the budget the handle holds nothing and every rental goes to the pool.
        Magazine? magazine = Magazine.TryMake(bucket, ThreadTier.OpenHandle(out Shard shard), isPrivate: true);
        if (magazine is null)
        {
            ThreadTier.CloseHandle(shard);
            magazine = bucket.ClosedHome;
        }
        else
        {
            magazine.Stock = new HandleStock(magazine, shard);
        }

        return new ThreadHandle<T>(magazine, this, maxLength);
    }

    /// <summary>
    /// This pool as an <see cref="ArrayPool{T}"/>, with the power-of-two lengths that users of one expect. The same instance on each
    /// call.
    /// </summary>
    /// <exception cref="NotSupportedException">The buffers of this pool are not whole arrays.</exception>
    public ArrayPool<T> AsArrayPool() => AsArrayPool(SizeClasses.PowersOfTwo);

    /// <summary>This pool as an <see cref="ArrayPool{T}"/> with lengths of your choice.</summary>
    /// <param name="sizes">The lengths of its arrays.</param>
    /// <exception cref="ArgumentNullException"><paramref name="sizes"/> is null.</exception>
    /// <exception cref="NotSupportedException">The buffers of this pool are not whole arrays.</exception>
    public ArrayPool<T> AsArrayPool(SizeClasses sizes)
    {
        ArgumentNullException.ThrowIfNull(sizes);
        lock (_gate)
        {
            foreach (PooledArrayPool<T> made in _arrayPools)
            {
                if (made.Sizes == sizes)
                {
                    return made;
                }
            }

            CheckWholeArrays();
            var pool = new PooledArrayPool<T>(this, sizes);
            pool.ChoosePath(_slow);
            _arrayPools.Add(pool);
            return pool;
        }
    }

    /// <summary>
    /// This pool as a <see cref="MemoryPool{T}"/>; each rental allocates one small owner. The same instance on each call. Disposing it
    /// does nothing.
    /// </summary>
    public MemoryPool<T> AsMemoryPool()
    {
        lock (_gate)
        {
            return _memoryPool ??= new PooledMemoryPool<T>(this, OwnerReuse.Never, ignoresDispose: true);
        }
    }

    /// <summary>
    /// Gives every idle buffer back to the source now, those of other threads included. Takes a process-wide barrier and a lock.
    /// </summary>
    public void Trim()
    {
        _core.EndRest();
        ThreadTier.ReapDead();
        Trimmer.TrimNow(_core);
    }

    /// <summary>What the pool has done and holds. Walks all threads' magazines under a lock: for dashboards, not for loops.</summary>
    public PoolStatistics GetStatistics() => _core.GetStatistics();

    /// <summary>Checks every invariant of the tiers. For tests: call it while no thread rents or returns.</summary>
    /// <exception cref="InvalidOperationException">An invariant is broken; the message names it.</exception>
    public void Validate() => _core.Validate();

    /// <summary>
    /// Ends the pool: idle buffers go to the source. Leases that are out stay usable, and their buffers go to the source when they are
    /// returned.
    /// </summary>
    public void Dispose()
    {
        if (!IsShared)
        {
            _core.Retire();
            GC.SuppressFinalize(this);
        }
    }

    /// <summary>An idle slot whose home is the magazine of a thread handle; more may be put in with it.</summary>
    internal BufferSlot<T> RefillHandle(Magazine magazine)
    {
        BufferSlot<T> slot = _core.RefillHandle(magazine);
        GC.KeepAlive(this);
        return slot;
    }

    /// <summary>Chooses between the fast path and the one that sees every rental.</summary>
    internal void ChoosePath()
    {
        lock (_gate)
        {
            bool slow = _core.Settings.IsAlwaysSlow || TidepoolEventSource.Rentals;
            _slow = slow;
            _ids = slow || !_core.Settings.Sizes.IsDefault ? [] : _core.FastIds;
            _scopeIds = slow || _scopes is null || !_core.Settings.Sizes.IsDefault ? [] : _scopes.FastIds;
            _arrayPools.ForEach(p => p.ChoosePath(slow));
        }
    }

    /// <summary>The slot of a rental that the thread tier could not serve at once.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal BufferSlot<T> RentSlow(int length)
    {
        BufferSlot<T> slot = _core.Rent(length, isSlow: _slow);
        GC.KeepAlive(this); // a pool that is being rented from is not collected
        return slot;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private (T[] Array, Magazine Home) RentScopeSlow(int length)
    {
        _core.CheckLength(length);
        _core.ThrowIfRetired();
        BucketTable<T> scopes = Scopes();
        if (scopes.Find(length) is not { } bucket)
        {
            // Longer than what the pool keeps: it comes back to be wiped and counted, and dies then.
            Magazine closed = _core.NewUnkeptBucket(length).ClosedHome;
            return (_core.RentUnkeptArray(length, _core.PoolId, cleared: false), closed);
        }

        T[] array = _core.RentArray(bucket, length, _core.PoolId, cleared: false);
        if (TidepoolEventSource.Rentals)
        {
            TidepoolEventSource.Log.BufferRented(array.GetHashCode(), array.Length, _core.PoolId, bucket.Id, length);
        }

        Magazine home = (_slow ? null : ThreadTier.FindSlow(bucket)) ?? bucket.ClosedHome;
        GC.KeepAlive(this);
        return (array, home);
    }

    private BucketTable<T> Scopes()
    {
        if (_scopes is { } made)
        {
            return made;
        }

        CheckWholeArrays();
        lock (_gate)
        {
            _scopes ??= _core.AddTable(_core.Settings.Sizes, holdsArrays: true);
        }

        ChoosePath();
        return _scopes;
    }

    private void CheckWholeArrays()
    {
        if (!_core.Settings.HasWholeArrays)
        {
            throw new NotSupportedException(
                $"The buffers of pool '{Name}' are not whole arrays ({_core.Settings.Source.GetType().Name}, alignment "
                    + $"{_core.Settings.Alignment}); rent leases from it.");
        }
    }
}

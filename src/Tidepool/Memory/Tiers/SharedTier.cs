using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Where the idle items of one bucket wait for any thread: chunks, last in first out, in one stripe for each processor so that threads on
/// different ones seldom meet. One short lock per chunk, that is per seven to fourteen buffers or up to 62 objects, and one for each
/// large item.
/// </summary>
/// <remarks>
/// A lock and not a lock-free stack: it is entered once per chunk, so its cost per rental is under 2 ns, and it lets trimming take the
/// oldest chunks from the bottom. A miss looks at the stripes' counts first: one load each and no lock when the tier is empty.
/// </remarks>
internal sealed class SharedTier
{
    /// <summary>A setting of the runtime that stands for the number of processors: for tests, whose order of items must not depend on
    /// where a thread runs, and for measurements.</summary>
    private const string Property = "Tidepool.SharedStripes";

    private const int MaxStripes = 32;

    private static readonly int StripeCount =
        StripesFor(int.TryParse(AppContext.GetData(Property) as string, out int given) ? given : Environment.ProcessorCount);

    private readonly Bucket _bucket;
    private readonly Stripe?[] _stripes;
    private bool _isGathered;

    internal SharedTier(Bucket bucket)
        : this(bucket, StripeCount)
    {
    }

    /// <summary>Makes a tier with as many stripes, a power of two.</summary>
    internal SharedTier(Bucket bucket, int stripes) => (_bucket, _stripes) = (bucket, new Stripe?[stripes]);

    /// <summary>
    /// Whether single items come and go through one stripe, whatever processor a thread runs on: in a tight pool, until threads meet at its
    /// lock.
    /// </summary>
    internal bool IsGathered
    {
        get => Volatile.Read(ref _isGathered);
        set => Volatile.Write(ref _isGathered, value);
    }

    /// <summary>One stripe for each processor, rounded up to a power of two.</summary>
    internal static int StripesFor(int processors) =>
        (int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)Math.Clamp(processors, 1, MaxStripes));

    internal bool IsEmpty
    {
        get
        {
            foreach (Stripe? stripe in _stripes)
            {
                if (stripe is { IsEmpty: false })
                {
                    return false;
                }
            }

            return true;
        }
    }

    /// <summary>The number of idle items, and what went through one at a time.</summary>
    internal SharedCounts Count()
    {
        SharedCounts sum = default;
        foreach (Stripe? stripe in _stripes)
        {
            stripe?.AddTo(ref sum);
        }

        return sum;
    }

    /// <summary>Takes over a chunk with at least one item.</summary>
    /// <returns>False when the budget has no room or the pool is retired: the chunk stays the caller's.</returns>
    internal bool TryPut(Chunk chunk)
    {
        Chunk? none = chunk; // not null: no empty chunk is wanted
        return TryPut(chunk, ref none);
    }

    /// <summary>Takes over a chunk, and hands out an empty one where <paramref name="spare"/> is null and there is one.</summary>
    internal bool TryPut(Chunk chunk, ref Chunk? spare)
    {
        TieredPool pool = _bucket.Pool;
        if (!_bucket.IsKept || pool.Retired)
        {
            return false;
        }

        Schedule.Point("shared put");
        Stripe own = StripeAt(Home());
        if (!own.TryPush(chunk, pool.Budget, ref spare))
        {
            // Room that other stripes keep charged for chunks that were taken from them may be enough.
            pool.ReleaseReserves();
            if (!own.TryPush(chunk, pool.Budget, ref spare))
            {
                return false;
            }
        }

        AfterPut();
        return true;
    }

    /// <summary>Takes back one rented item, and counts its return.</summary>
    /// <param name="item">The item.</param>
    /// <param name="hasTicket">True if a ticket excludes a second return. False: it is compared with the newest items.</param>
    /// <returns>
    /// Closed when the budget has no room or the pool is retired: the item stays the caller's. Retired when it lies here already.
    /// </returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ReturnOutcome ReturnOne(object item, bool hasTicket)
    {
        TieredPool pool = _bucket.Pool;
        if (!_bucket.IsKept || pool.Retired)
        {
            return ReturnOutcome.Closed;
        }

        Schedule.Point("shared return one");
        Stripe own = StripeAt(HomeOfOne());
        ReturnOutcome outcome = own.ReturnOne(item, hasTicket, pool.Budget);
        if (outcome == ReturnOutcome.Closed)
        {
            outcome = ReturnAgain(own, item, hasTicket);
        }

        if (outcome == ReturnOutcome.Returned)
        {
            AfterPut();
        }

        return outcome;
    }

    /// <summary>As for chunks: room that other stripes keep charged may be enough.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReturnOutcome ReturnAgain(Stripe own, object item, bool hasTicket)
    {
        if (_bucket.ItemBytes > _bucket.Pool.Budget.Limit)
        {
            return ReturnOutcome.Closed; // no reserves are as much
        }

        _bucket.Pool.ReleaseReserves();
        return own.ReturnOne(item, hasTicket, _bucket.Pool.Budget);
    }

    /// <summary>Whether the item is one of the last few that some stripe took.</summary>
    internal bool HoldsLately(object item)
    {
        foreach (Stripe? stripe in _stripes)
        {
            if (stripe is { IsEmpty: false } && stripe.HoldsLately(item))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Rents the item that was put last, from the caller's stripe first, and counts the rental.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal object? TryRentOne()
    {
        Stripe?[] stripes = _stripes;
        int start = HomeOfOne();
        for (int step = 0; step < stripes.Length; step++)
        {
            Schedule.Point("shared rent one");
            if (Volatile.Read(ref stripes[(start + step) & (stripes.Length - 1)]) is { IsEmpty: false } stripe
                && stripe.RentOne() is { } item)
            {
                return item;
            }
        }

        return null;
    }

    /// <summary>Takes the chunk that was put last, from the caller's stripe first.</summary>
    internal Chunk? TryTake()
    {
        Chunk? none = null;
        return TryTake(ref none);
    }

    /// <summary>Takes the chunk that was put last, and leaves the empty chunk <paramref name="spare"/> for others, if it is one.</summary>
    internal Chunk? TryTake(ref Chunk? spare)
    {
        Stripe?[] stripes = _stripes;
        int start = Home();
        for (int step = 0; step < stripes.Length; step++)
        {
            Schedule.Point("shared take");
            if (Volatile.Read(ref stripes[(start + step) & (stripes.Length - 1)]) is { IsEmpty: false } stripe
                && stripe.Pop(ref spare) is { } chunk)
            {
                return chunk;
            }
        }

        return null;
    }

    /// <summary>
    /// An empty chunk of some stripe, for one that has none: a thread that has moved to another processor takes items from one and returns
    /// them to another. May be called under a stripe's lock, for it waits for none.
    /// </summary>
    internal Chunk? FindEmpty()
    {
        Stripe?[] stripes = _stripes;
        int start = Home() + 1; // the caller's own one, where it has looked, comes last
        for (int step = 0; step < stripes.Length; step++)
        {
            if (Volatile.Read(ref stripes[(start + step) & (stripes.Length - 1)])?.PopEmpty(waits: false) is { } empty)
            {
                return empty;
            }
        }

        return null;
    }

    /// <summary>An empty chunk, used before where possible.</summary>
    internal Chunk TakeEmpty() =>
        Volatile.Read(ref _stripes[Home()])?.PopEmpty(waits: true) ?? FindEmpty() ?? new Chunk(_bucket.ChunkCapacity);

    /// <summary>Gives an emptied chunk back for reuse. Makes no stripe, which would have no room for it: rentals end here too.</summary>
    internal void GiveEmpty(Chunk chunk)
    {
        chunk.Clear();
        Volatile.Read(ref _stripes[Home()])?.PushEmpty(chunk);
    }

    /// <summary>Takes idle chunks out: all, or half of those that were not needed since the last call (rounded up).</summary>
    internal void Trim(bool all, List<Chunk> taken)
    {
        foreach (Stripe? stripe in _stripes)
        {
            stripe?.Trim(all, taken);
            stripe?.Release(_bucket.Pool.Budget);
        }
    }

    /// <summary>Refunds what is charged for chunks that are no longer here.</summary>
    internal void Release()
    {
        foreach (Stripe? stripe in _stripes)
        {
            stripe?.Release(_bucket.Pool.Budget);
        }
    }

    /// <summary>Every chunk has items, no item stands twice, and what is held is charged. Quiescent use.</summary>
    internal bool IsValid(HashSet<object> seen) => Array.TrueForAll(_stripes, s => s is null || s.IsValid(seen));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void AfterPut()
    {
        if (!Trimmer.IsRunning)
        {
            Trimmer.Wake();
        }

        if (_bucket.Pool.Retired)
        {
            EvictLate();
        }
    }

    /// <summary>The pool has been retired while something was put: its drain may have passed this stripe already.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void EvictLate()
    {
        if (TryTake() is { } left)
        {
            _bucket.Pool.Evict(_bucket, left.Content());
        }

        Release();
    }

    private int Home() => _stripes.Length == 1 ? 0 : Thread.GetCurrentProcessorId() & (_stripes.Length - 1);

    /// <summary>Where a single item goes to, and where one is looked for first.</summary>
    private int HomeOfOne() => IsGathered ? 0 : Home();

    private Stripe StripeAt(int index)
    {
        ref Stripe? place = ref _stripes[index];
        return Volatile.Read(ref place) ?? Interlocked.CompareExchange(ref place, new Stripe(_bucket), null) ?? place;
    }
}

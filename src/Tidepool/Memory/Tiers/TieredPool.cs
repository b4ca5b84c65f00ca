namespace Tidepool;

/// <summary>
/// What the tiers know of the pool that they serve: its budget and counters, and a place to put items that they may not keep.
/// The pool implements it; tiers never call a source.
/// </summary>
internal abstract partial class TieredPool
{
    /// <summary>The id of no bucket: no table is as long, so the slow path looks.</summary>
    internal const int NoId = int.MaxValue;

    internal TierCounters Counters;
    private int _retired;
    private int _recalled;
    private volatile bool _isTight;
    private long _trimmedUnwritten;

    /// <summary>Makes a pool.</summary>
    /// <param name="name">The name of the pool, which it has until it is retired or collected.</param>
    /// <param name="budget">What idle items are charged to.</param>
    protected TieredPool(PoolName name, Budget budget) => (PoolName, Budget) = (name, budget);

    internal Budget Budget { get; }

    /// <summary>The most bytes that may wait idle; -1 where the pool shares the budget of the process.</summary>
    protected long OwnBudgetBytes => Budget == Budget.Process ? -1 : Budget.Limit;

    /// <summary>The pool's name in messages and metrics.</summary>
    internal string Name => PoolName.Text;

    /// <summary>The name as the registry of live pools has it.</summary>
    internal PoolName PoolName { get; }

    /// <summary>The number that stands for the pool in events.</summary>
    internal int PoolId => Name.GetHashCode(StringComparison.Ordinal);

    /// <summary>Whether what it gives up is the garbage collector's to free.</summary>
    internal virtual bool IsOnHeap => true;

    /// <summary>No renter will come any more: idle items are given up, and what comes back is given to the source.</summary>
    internal bool Retired => Volatile.Read(ref _retired) != 0;

    /// <summary>Whether the budget is too small for the places that threads would keep.</summary>
    internal bool IsTight
    {
        get => _isTight;
        private set
        {
            _isTight = value;
            foreach (Bucket bucket in Buckets())
            {
                bucket.Shared.IsGathered = value;
            }

            OnTightChanged();
        }
    }

    /// <summary>Takes items that leave the tiers for good. Called without any lock held.</summary>
    internal abstract void Evict(Bucket bucket, ReadOnlySpan<object?> items);

    /// <summary>Puts what rests outside the tiers (a quarantine) into them, or gives up what no renter has asked for.</summary>
    internal virtual void EndRest()
    {
    }

    /// <summary>Ends the rental of a raw item that the thread tier could not take.</summary>
    internal abstract void ReturnItem(Bucket bucket, object item);

    /// <summary>Reports misuse that was counted already.</summary>
    internal void WriteReport(MisuseKind kind, string? detail, string? what = null) =>
        PoolDiagnostics.Report(PoolName, kind, MisuseText.Describe(kind, Name, detail, what));

    /// <summary>Counts and reports misuse, and makes the exception that a caller may throw.</summary>
    /// <param name="kind">What was done.</param>
    /// <param name="what">What was rented without a lease, or null.</param>
    /// <param name="details">What else is known.</param>
    internal PoolMisuseException Misuse(MisuseKind kind, string? what, params ReadOnlySpan<string?> details)
    {
        string? detail = null;
        foreach (string? part in details)
        {
            detail = part is null ? detail : detail is null ? part : $"{detail}\n{part}";
        }

        Counters.Misuse.Increment(kind);
        string message = MisuseText.Describe(kind, Name, detail, what);
        PoolDiagnostics.Report(PoolName, kind, message);
        return new PoolMisuseException(kind, Name, message);
    }

    /// <summary>Answers the use of a ticket that has ended: a use always throws, a return with checks on, a disposal never.</summary>
    /// <remarks>A late disposal is counted; it is misuse only once the item has another renter.</remarks>
    /// <param name="kind">What was done.</param>
    /// <param name="isOutAgain">Whether the item has another renter by now.</param>
    /// <param name="checks">The checks of the pool.</param>
    /// <param name="item">What the ticket was for.</param>
    /// <param name="describe">Gives the name of the lease's type, and what is known of the rental or null. Only for a report.</param>
    protected void AnswerRetired<TItem>(
        MisuseKind kind, bool isOutAgain, PoolChecks checks, TItem item, Func<TItem, RentalText> describe)
    {
        if (kind == MisuseKind.StaleDispose)
        {
            Interlocked.Increment(ref Counters.StaleDisposes);
            if (isOutAgain)
            {
                Counters.Misuse.Increment(kind);
                if (PoolDiagnostics.IsHeard)
                {
                    WriteReport(kind, describe(item).Detail);
                }
            }

            return;
        }

        RentalText rental = describe(item);
        PoolMisuseException misuse = Misuse(kind, null, rental.Detail);
        if (kind == MisuseKind.UseAfterReturn)
        {
            throw new ObjectDisposedException(rental.What, misuse.Message);
        }

        if (kind == MisuseKind.DoubleReturn && checks != PoolChecks.Off)
        {
            throw misuse;
        }
    }

    /// <summary>Reports returned items that could not be kept, where events are listened to.</summary>
    internal void WriteDropped(int bucketId, ReadOnlySpan<object?> items)
    {
        if (!TidepoolEventSource.IsHeard)
        {
            return;
        }

        foreach (object? item in items)
        {
            TidepoolEventSource.Log.BufferDropped(item!.GetHashCode(), LengthOf(item), PoolId, bucketId);
        }
    }

    /// <summary>Counts items that trimming gave to the source.</summary>
    internal void CountTrimmed(long count)
    {
        Interlocked.Add(ref Counters.Trimmed, count);
        Interlocked.Add(ref _trimmedUnwritten, count);
    }

    /// <summary>Reports what was trimmed since the last report, where events are listened to.</summary>
    internal void WriteTrimmed()
    {
        long count = Interlocked.Exchange(ref _trimmedUnwritten, 0);
        if (count > 0 && TidepoolEventSource.IsHeard)
        {
            TidepoolEventSource.Log.BufferTrimmed(count, Name);
        }
    }

    /// <summary>Threads have lost the places that they keep items in, or may have them again.</summary>
    protected virtual void OnTightChanged()
    {
    }

    /// <summary>A listener has begun or ceased to ask for every rental.</summary>
    internal virtual void OnRentalsChanged()
    {
    }

    /// <summary>
    /// Counts misuse now and reports it later, on another thread: for places where no foreign code may run. Never throws.
    /// </summary>
    internal void ReportLater(MisuseKind kind, Func<RentalText>? describe = null)
    {
        Counters.Misuse.Increment(kind);
        try
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                _ =>
                {
                    RentalText rental = describe?.Invoke() ?? default;
                    WriteReport(kind, rental.Detail, rental.What);
                },
                null);
        }
        catch (OutOfMemoryException)
        {
            // The caller may be inside a magazine, where nothing may throw. The count stands; only the report is lost.
        }
    }

    /// <summary>Every bucket that the pool has made so far.</summary>
    internal abstract List<Bucket> Buckets();

    /// <summary>Refunds what the shared tiers keep charged without holding anything for it.</summary>
    internal void ReleaseReserves()
    {
        foreach (Bucket bucket in Buckets())
        {
            bucket.Shared.Release();
        }
    }

    /// <summary>Marks the pool as retired.</summary>
    /// <returns>True for the first caller.</returns>
    internal bool TryRetire() => Interlocked.Exchange(ref _retired, 1) == 0;

    /// <summary>The length of an item in elements, for events; 1 for objects.</summary>
    protected virtual int LengthOf(object item) => 1;

    /// <summary>Takes every idle item out of the tiers and gives it up. The pool is retired.</summary>
    protected void Drain()
    {
        ThreadTier.Retire(this);
        Trimmer.Remove(this);
        PoolName.Free(); // another pool may have the name
        EndRest();
        foreach (Bucket bucket in Buckets())
        {
            var chunks = new List<Chunk>();
            bucket.Shared.Trim(all: true, chunks);
            chunks.ForEach(chunk => Evict(bucket, chunk.Content()));
        }
    }
}

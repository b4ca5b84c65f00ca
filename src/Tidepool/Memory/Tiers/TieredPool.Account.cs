namespace Tidepool;

/// <content>What a pool has done and holds, and whether its tiers are in order.</content>
internal abstract partial class TieredPool
{
    /// <summary>The items that rest outside the tiers (a quarantine), and their bytes. They count as idle.</summary>
    protected virtual (int Count, long Bytes) Resting => default;

    /// <summary>Counts what the pool has done and holds.</summary>
    internal PoolStatistics GetStatistics()
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
                if (magazine.Bucket.Pool == this)
                {
                    long here = magazine.Rented, back = magazine.Returned;
                    rented += here;
                    returned += back;
                    leasedBytes += (here - back) * magazine.Bucket.ItemBytes;
                    AddIdle(magazine.IdleCount, magazine.Bucket);
                }
            });
        }

        foreach (Bucket bucket in Buckets())
        {
            SharedCounts shared = bucket.Shared.Count();
            rented += shared.Rented;
            returned += shared.Returned;
            leasedBytes += (shared.Rented - shared.Returned) * bucket.ItemBytes;
            AddIdle(shared.Idle, bucket);
        }

        // What rests has been returned, and a tier counts it only when it gets there.
        (int resting, long restingBytes) = Resting;
        return new PoolStatistics
        {
            Rented = rented,
            Returned = returned + resting,
            BytesLeased = leasedBytes - restingBytes,
            Idle = idle + resting,
            BytesIdle = idleBytes + restingBytes,
            Missed = Volatile.Read(ref Counters.Missed),
            Dropped = Volatile.Read(ref Counters.Dropped),
            Trimmed = Volatile.Read(ref Counters.Trimmed),
            Refused = Volatile.Read(ref Counters.Refused),
            Failures = Volatile.Read(ref Counters.Failures),
            StaleDisposes = Volatile.Read(ref Counters.StaleDisposes),
            Misuse = Counters.Misuse,
        };

        void AddIdle(long count, Bucket bucket)
        {
            idle += count;
            idleBytes += count * bucket.ItemBytes;
        }
    }

    /// <summary>Checks that no item waits in two places, all tiers are in order, and the budget adds up. Quiescent use.</summary>
    /// <exception cref="InvalidOperationException">An invariant is broken; the message names it.</exception>
    internal void Validate()
    {
        var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
        var faults = new List<string>();
        ThreadTier.ForEach(magazine =>
        {
            if (magazine.Bucket.Pool == this && !magazine.IsValid(seen))
            {
                faults.Add($"a thread's magazine{Of(magazine.Bucket)}");
            }
        });
        foreach (Bucket bucket in Buckets())
        {
            if (!bucket.Shared.IsValid(seen))
            {
                faults.Add($"the shared tier{Of(bucket)}");
            }
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
    /// <param name="idle">The items of all tiers.</param>
    /// <param name="faults">What is wrong.</param>
    protected virtual void CheckItems(HashSet<object> idle, List<string> faults)
    {
    }

    private static string Of(Bucket bucket) => bucket.HoldsObjects ? "" : $" of {bucket.ItemLength} elements";
}

namespace Tidepool;

/// <content>What a pool has done and holds, and whether its tiers are in order.</content>
internal abstract partial class TieredPool
{
    /// <summary>The items that rest outside the tiers (a quarantine), and their bytes. They count as idle.</summary>
    protected virtual (int Count, long Bytes) Resting => default;

    /// <summary>Counts what the pool has done and holds.</summary>
    /// <remarks>
    /// Against the way of what is returned: the shared tier, then magazines with their inboxes, outboxes last. An item that moves on
    /// meanwhile by that way is missed for an instant, as if its return came a little later, and is not counted twice. What rentals move
    /// the other way, from the shared tier into a magazine or to another thread that returns it again, may be: a chunk for each rental and
    /// each return that overlaps the count.
    /// </remarks>
    internal PoolStatistics GetStatistics()
    {
        long rented = 0, returned = 0, leasedBytes = 0, idle = 0, idleBytes = 0;
        List<Bucket> buckets = Buckets();
        foreach (Bucket bucket in buckets)
        {
            SharedCounts shared = bucket.Shared.Count();
            rented += shared.Rented;
            leasedBytes += shared.Rented * bucket.ItemBytes;
            AddReturned(shared.Returned, shared.Idle, bucket);
        }

        using (ThreadTier.Gate.Hold())
        {
            // Under the gate no magazine is closed, which would move its counts from the one place to the other.
            rented += Volatile.Read(ref Counters.Rented);
            returned += Volatile.Read(ref Counters.Returned);
            leasedBytes += Volatile.Read(ref Counters.LeasedBytes);
            ThreadTier.ForEach(buckets, AddMagazine);
            ThreadTier.ForEach(buckets, AddOutbox);
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

        void AddMagazine(Magazine magazine)
        {
            long here = magazine.Rented;
            rented += here;
            leasedBytes += here * magazine.Bucket.ItemBytes;
            AddReturned(magazine.Returned, magazine.IdleCount, magazine.Bucket);
        }

        void AddOutbox(Magazine magazine)
        {
            int outgoing = magazine.CountOutgoing();
            AddReturned(outgoing, outgoing, magazine.Bucket);
        }

        void AddReturned(long returns, long idleNow, Bucket bucket)
        {
            returned += returns;
            leasedBytes -= returns * bucket.ItemBytes;
            idle += idleNow;
            idleBytes += idleNow * bucket.ItemBytes;
        }
    }

    /// <summary>Checks that no item waits in two places, all tiers are in order, and the budget adds up. Quiescent use.</summary>
    /// <exception cref="InvalidOperationException">An invariant is broken; the message names it.</exception>
    internal void Validate()
    {
        var seen = new HashSet<object>(ReferenceEqualityComparer.Instance);
        var faults = new List<string>();
        ThreadTier.ForEach(Buckets(), magazine =>
        {
            if (!magazine.IsValid(seen))
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

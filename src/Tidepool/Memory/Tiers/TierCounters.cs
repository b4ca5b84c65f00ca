namespace Tidepool;

/// <summary>
/// Counts of a pool that are not in a live magazine: slow-path events, and what retired magazines had counted. Changed by interlocked adds.
/// </summary>
internal struct TierCounters
{
    internal long Rented;
    internal long Returned;
    internal long LeasedBytes;
    internal long Missed;
    internal long Dropped;
    internal long Trimmed;
    internal long Refused;
    internal long Failures;
    internal long StaleDisposes;
    internal MisuseCounts Misuse;

    /// <summary>A rental that no magazine counts.</summary>
    internal void AddRental(long bytes)
    {
        Interlocked.Increment(ref Rented);
        Interlocked.Add(ref LeasedBytes, bytes);
    }

    /// <summary>Takes back the count of a rental that failed.</summary>
    internal void UndoRental(long bytes)
    {
        Interlocked.Decrement(ref Rented);
        Interlocked.Add(ref LeasedBytes, -bytes);
    }

    /// <summary>Returns that no magazine counts.</summary>
    internal void AddReturns(long count, long bytesEach)
    {
        Interlocked.Add(ref Returned, count);
        Interlocked.Add(ref LeasedBytes, -count * bytesEach);
    }
}

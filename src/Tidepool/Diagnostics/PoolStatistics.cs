namespace Tidepool;

/// <summary>
/// What a pool has done and holds. Exact when nothing is rented or returned while it is counted.
/// </summary>
/// <remarks>
/// Otherwise the shared tier and each thread are read one after the other, without stopping any: an item that changes its place meanwhile
/// may be counted twice, or not at all. Each rental and each return that overlaps the count changes the place of one item, or of one chunk
/// (up to 14 buffers, 64 objects), so <see cref="Idle"/> and <see cref="Leased"/> are off by no more than these. A later count does not
/// inherit the error.
/// </remarks>
public readonly record struct PoolStatistics
{
    /// <summary>Rentals since the pool was made.</summary>
    public long Rented { get; init; }

    /// <summary>
    /// Returns since the pool was made; rentals that were detached, or found to be dropped without return, count as returned.
    /// </summary>
    public long Returned { get; init; }

    /// <summary>Rentals that no tier could serve, so that the source or policy made an item.</summary>
    public long Missed { get; init; }

    /// <summary>
    /// Returned items that were given to the source or destroyed because the budget was used up, the pool was disposed, or no tier takes
    /// their size.
    /// </summary>
    public long Dropped { get; init; }

    /// <summary>Idle items that trimming gave to the source, or destroyed.</summary>
    public long Trimmed { get; init; }

    /// <summary>Objects that were not used again because resetting or validating them said so or failed. 0 for buffers.</summary>
    public long Refused { get; init; }

    /// <summary>Exceptions of a policy that no caller got: validating or destroying an object threw. 0 for buffers.</summary>
    public long Failures { get; init; }

    /// <summary>Items that wait for a renter.</summary>
    public long Idle { get; init; }

    /// <summary>Bytes of buffers that wait for a renter; for objects what their pool takes them to weigh.</summary>
    public long BytesIdle { get; init; }

    /// <summary>
    /// Bytes of the items that are out: their full capacity. A rental that was dropped without return counts until it is found and
    /// reported.
    /// </summary>
    public long BytesLeased { get; init; }

    /// <summary>Disposals of leases that had been returned: harmless, and a hint at code that disposes twice.</summary>
    public long StaleDisposes { get; init; }

    /// <summary>Returns that misused the pool, and sampled rentals that were never returned.</summary>
    public long Misuses => Misuse.Sum();

    /// <summary>
    /// Rentals that are out. Arrays from elsewhere that were returned here count as returned, so with them it is too low.
    /// </summary>
    public long Leased => Rented - Returned;

    internal MisuseCounts Misuse { get; init; }

    /// <summary>How often one kind of misuse was seen.</summary>
    /// <param name="kind">The kind.</param>
    public long GetMisuse(MisuseKind kind) => Misuse[kind];
}

namespace Tidepool.Advice;

/// <summary>What one second of a watched process looked like. Rates are per second; null is not known.</summary>
internal sealed record WatchFrame
{
    /// <summary>The seconds since the watch began.</summary>
    public double Seconds { get; init; }

    /// <summary>Bytes allocated per second.</summary>
    public double? AllocatedPerSecond { get; init; }

    /// <summary>Bytes of the collected heap, as the last collection left it.</summary>
    public double? HeapBytes { get; init; }

    /// <summary>Bytes of memory that the process holds.</summary>
    public double? WorkingSet { get; init; }

    /// <summary>How many processors the process kept busy.</summary>
    public double? Processors { get; init; }

    /// <summary>The collections of this interval.</summary>
    public IReadOnlyList<CollectionCount> Collections { get; init; } = [];

    /// <summary>How long collections paused the process, per second.</summary>
    public double PauseMilliseconds { get; init; }

    /// <summary>The longest single pause of the interval.</summary>
    public double LongestPauseMilliseconds { get; init; }

    /// <summary>The pools of Tidepool.</summary>
    public IReadOnlyList<PoolRow> Pools { get; init; } = [];

    /// <summary>Pools of the platform and of providers, by their meters.</summary>
    public IReadOnlyList<MeteredRow> Metered { get; init; } = [];

    /// <summary>The last window of <c>ArrayPool</c> events; null until one has closed.</summary>
    public ArrayPoolWindow? ArrayPool { get; init; }

    /// <summary>Events that the process could not deliver since the watch began.</summary>
    public long LostEvents { get; init; }

    /// <summary>What the user should know of this frame; null for nothing.</summary>
    public string? Note { get; init; }
}

/// <summary>Collections of one generation for one reason.</summary>
/// <param name="Generation">0, 1 or 2.</param>
/// <param name="Reason">The runtime's name of the reason: <c>AllocSmall</c>, <c>AllocLarge</c>, <c>Induced</c>, ...</param>
/// <param name="PerSecond">How many per second.</param>
internal sealed record CollectionCount(int Generation, string Reason, double PerSecond);

/// <summary>One pool of Tidepool. Counts are since the pool was made, rates per second.</summary>
internal sealed record PoolRow
{
    /// <summary>The pool's name.</summary>
    public required string Name { get; init; }

    /// <summary>What it hands out: <c>Buffers</c>, <c>Objects</c>, ...</summary>
    public string Kind { get; init; } = "";

    /// <summary>Rentals per second.</summary>
    public double? RentedPerSecond { get; init; }

    /// <summary>The share of the rentals of this interval that idle items served; null when there were none.</summary>
    public double? HitRate { get; init; }

    /// <summary>Items that wait for a renter.</summary>
    public long Idle { get; init; }

    /// <summary>Items that are out.</summary>
    public long Leased { get; init; }

    /// <summary>Bytes that wait; null where the pool does not count bytes.</summary>
    public long? BytesIdle { get; init; }

    /// <summary>Bytes that are out; null where the pool does not count bytes.</summary>
    public long? BytesLeased { get; init; }

    /// <summary>Mistakes of renters; of a resource pool leases that were overdue, dropped or disposed twice.</summary>
    public long Misuses { get; init; }

    /// <summary>Failures; of a resource pool rentals that timed out or were refused, and creations that failed.</summary>
    public long Failed { get; init; }

    /// <summary>Callers that wait; null where none can.</summary>
    public int? Waiting { get; init; }

    /// <summary>The most resources there may be; null where there is no such limit.</summary>
    public int? MaxSize { get; init; }

    /// <summary>How long the oldest lease has been out, in milliseconds; null where the pool notes no times or none is out.</summary>
    public long? OldestMilliseconds { get; init; }

    /// <summary>Where the oldest lease was rented; null unless the pool captures call sites.</summary>
    public string? OldestSite { get; init; }
}

/// <summary>A pool that the process uses perhaps without knowing. What its meter does not say is null.</summary>
internal sealed record MeteredRow
{
    /// <summary>Which pool: <c>HTTP https://host:443</c>, <c>thread pool</c>, ...</summary>
    public required string Name { get; init; }

    /// <summary>What is counted: <c>By</c> for bytes; null for things.</summary>
    public string? Unit { get; init; }

    /// <summary>What waits for a user.</summary>
    public double? Idle { get; init; }

    /// <summary>What is in use.</summary>
    public double? Used { get; init; }

    /// <summary>The most there may be.</summary>
    public double? Max { get; init; }

    /// <summary>What waits for one of them.</summary>
    public double? Waiting { get; init; }

    /// <summary>Uses per second.</summary>
    public double? PerSecond { get; init; }
}

/// <summary>Five seconds of what <c>ArrayPool</c> wrote, and what listening to it cost. Rates are per second.</summary>
internal sealed record ArrayPoolWindow
{
    /// <summary>The length of the window.</summary>
    public double Seconds { get; init; }

    /// <summary>Rentals per second, of every <c>ArrayPool</c> of the process.</summary>
    public double RentedPerSecond { get; init; }

    /// <summary>Returns per second.</summary>
    public double ReturnedPerSecond { get; init; }

    /// <summary>Arrays allocated per second because none was idle.</summary>
    public double AllocatedPerSecond { get; init; }

    /// <summary>Returned arrays dropped per second because there was no room.</summary>
    public double DroppedPerSecond { get; init; }

    /// <summary>Pools that were seen: one for each element type of <c>ArrayPool.Shared</c>, and those that the program made.</summary>
    public int Pools { get; init; }

    /// <summary>The lengths, in elements, that were rented most.</summary>
    public IReadOnlyList<LengthCount> Lengths { get; init; } = [];

    /// <summary>How many processors the process kept busy before the window.</summary>
    public double? ProcessorsBefore { get; init; }

    /// <summary>How many processors the process kept busy in the window.</summary>
    public double? ProcessorsWithin { get; init; }

    /// <summary>Events of the window that the process could not deliver.</summary>
    public long LostEvents { get; init; }
}

/// <summary>Rentals of one array length.</summary>
/// <param name="Length">The length of the array, in elements; what was asked for may have been shorter.</param>
/// <param name="PerSecond">Rentals per second.</param>
internal sealed record LengthCount(int Length, double PerSecond);

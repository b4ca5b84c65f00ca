namespace Tidepool.Advice;

/// <summary>What was found of the pools of a process.</summary>
internal sealed record PoolReport
{
    /// <summary>The pools, the most urgent first, then those with most rentals.</summary>
    public IReadOnlyList<PoolAdvice> Pools { get; init; } = [];

    /// <summary>Those whose names are all there is to say.</summary>
    public IReadOnlyList<PoolAdvice> Unused => [.. Pools.Where(static pool => pool.IsUnused)];

    /// <summary>All but the unused ones, in their order.</summary>
    public IReadOnlyList<PoolAdvice> Others => [.. Pools.Where(static pool => !pool.IsUnused)];

    /// <summary>The window in which each rental was listened to; null unless that was asked for.</summary>
    public TrafficWindow? Traffic { get; init; }

    /// <summary>Judges what was gathered.</summary>
    /// <param name="records">The pools of Tidepool.</param>
    /// <param name="traffic">A window of all rentals, or null.</param>
    /// <param name="limits">The limits.</param>
    public static PoolReport Of(IReadOnlyList<PoolRecord> records, TrafficWindow? traffic, PoolLimits limits)
    {
        PoolTraffic[] platform = [.. (traffic?.Pools ?? []).Where(static pool => !pool.IsTidepool)];
        var pools = records.Select(record => PoolJudge.Judge(
                record with { Traffic = traffic?.Pools.FirstOrDefault(pool => pool.IsTidepool && pool.PoolId == record.Last.PoolId) },
                limits))
            .Concat(platform.Select((pool, index) => ArrayPoolJudge.Judge(pool, traffic!.Seconds, index + 1, limits)));
        return new PoolReport
        {
            Traffic = traffic,
            Pools = [.. pools.OrderBy(static pool => pool.Verdict).ThenByDescending(static pool => pool.RentedPerSecond)],
        };
    }
}

namespace Tidepool.Advice;

/// <summary>What to do about a pool.</summary>
internal enum PoolVerdict
{
    /// <summary>The code that uses it is wrong.</summary>
    Fault,

    /// <summary>The code that uses it may be wrong: what was seen does not prove it.</summary>
    Suspect,

    /// <summary>Another setting serves better.</summary>
    Change,

    /// <summary>Leave it.</summary>
    Keep,

    /// <summary>What was seen does not decide it.</summary>
    NotEnoughEvidence,
}

/// <summary>One thing that is known of a pool.</summary>
internal sealed record PoolFinding
{
    /// <summary>What to do.</summary>
    public required PoolVerdict Verdict { get; init; }

    /// <summary>What it is about: <c>capacity</c>, <c>oversize</c>, <c>leak</c>, <c>misuse</c>, <c>size classes</c>, ...</summary>
    public required string Subject { get; init; }

    /// <summary>Why, in a sentence or two.</summary>
    public required string Reason { get; init; }

    /// <summary>What the pool reported itself, such as the place of a leaked rental.</summary>
    public IReadOnlyList<string> Reports { get; init; } = [];

    /// <summary>The option as it is; null without a suggestion, or where it is not known.</summary>
    public string? Before { get; init; }

    /// <summary>The option as it should be; null without a suggestion.</summary>
    public string? After { get; init; }

    /// <summary>The size classes as a header of the native library; null where it has no such setting.</summary>
    public string? Native { get; init; }

    /// <summary>A finding about how much the pool keeps.</summary>
    public static PoolFinding Capacity(PoolVerdict verdict, string reason) =>
        new() { Verdict = verdict, Subject = "capacity", Reason = reason };

    /// <summary>The finding that a pool keeps nothing of the lengths that most misses are of; it names the four most frequent.</summary>
    /// <param name="share">How many rentals missed, in words.</param>
    /// <param name="unkept">Each length in elements, 0 for further ones, with its misses.</param>
    /// <param name="seconds">The length of the window.</param>
    public static PoolFinding Oversize(string share, IEnumerable<(int Length, long Missed)> unkept, double seconds)
    {
        IEnumerable<string> lengths =
            from one in unkept.OrderByDescending(static one => one.Missed).Take(4)
            select $"{(one.Length == 0 ? "others" : one.Length)} {Quantity.Count(one.Missed / seconds)}/s";
        return new PoolFinding
        {
            Verdict = PoolVerdict.Change,
            Subject = "oversize",
            Reason = $"{share}, most of them because the pool keeps nothing of these lengths (elements): {string.Join(", ", lengths)}.",
        };
    }
}

/// <summary>A pool with what was seen of it and the findings, the most urgent first.</summary>
internal sealed record PoolAdvice
{
    /// <summary>The pool's name.</summary>
    public required string Name { get; init; }

    /// <summary>
    /// What it hands out: <c>Buffers</c>, <c>Objects</c>, <c>Resources</c>, ...; <c>ArrayPool</c> for those of the platform.
    /// </summary>
    public required string Kind { get; init; }

    /// <summary>Rentals per second.</summary>
    public double RentedPerSecond { get; init; }

    /// <summary>The share of the rentals that idle items served; null without rentals.</summary>
    public double? HitRate { get; init; }

    /// <summary>Returned items that found no room, per second; null for pools of resources, which keep what comes back.</summary>
    public double? DroppedPerSecond { get; init; }

    /// <summary>The share that further places would have served too; null where that was not counted.</summary>
    public IReadOnlyList<PlaceRate>? HitRates { get; init; }

    /// <summary>The size classes that were fitted; null where the lengths of requests are not known.</summary>
    public SizeClassFit? Classes { get; init; }

    /// <summary>The findings.</summary>
    public required IReadOnlyList<PoolFinding> Findings { get; init; }

    /// <summary>The most urgent verdict.</summary>
    public PoolVerdict Verdict => Findings.Min(static finding => finding.Verdict);

    /// <summary>Whether its name is all there is to say.</summary>
    public bool IsUnused => this is { RentedPerSecond: 0, Verdict: PoolVerdict.NotEnoughEvidence };

    /// <summary>The share of the rentals that did not miss; null without rentals.</summary>
    public static double? HitRateOf(long rented, long missed) => rented > 0 ? Math.Clamp(1 - (double)missed / rented, 0, 1) : null;
}

/// <summary>A hit rate for a number of places of each length.</summary>
/// <param name="Places">For pools of Tidepool places more than now, for those of the platform places of one stack for all threads.</param>
/// <param name="HitRate">The share of the rentals that would have been served.</param>
internal readonly record struct PlaceRate(int Places, double HitRate);

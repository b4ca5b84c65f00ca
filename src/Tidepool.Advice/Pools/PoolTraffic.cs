namespace Tidepool.Advice;

/// <summary>Each rental of a window, of all pools of the process that write events, and what listening cost.</summary>
internal sealed record TrafficWindow
{
    /// <summary>The length of the window.</summary>
    public double Seconds { get; init; }

    /// <summary>The pools that were seen.</summary>
    public IReadOnlyList<PoolTraffic> Pools { get; init; } = [];

    /// <summary>How many processors the process kept busy before the window; null where that cannot be read.</summary>
    public double? ProcessorsBefore { get; init; }

    /// <summary>How many in it.</summary>
    public double? ProcessorsWithin { get; init; }

    /// <summary>Events that the process could not deliver: then nothing is concluded from the order of events.</summary>
    public long LostEvents { get; init; }
}

/// <summary>What one pool did in a window of events.</summary>
internal sealed record PoolTraffic
{
    /// <summary>Whether it is a pool of Tidepool, whose events have the lengths that were asked for.</summary>
    public bool IsTidepool { get; init; }

    /// <summary>The number that stands for the pool in events.</summary>
    public int PoolId { get; init; }

    /// <summary>What happened, by length of the array or buffer, shortest first.</summary>
    public IReadOnlyList<LengthTraffic> Lengths { get; init; } = [];

    /// <summary>Requests in their order: what was asked for, and what was handed out. Empty where the events do not say.</summary>
    public IReadOnlyList<(int Asked, int Given)> Requests { get; init; } = [];
}

/// <summary>What one length of a pool did in a window of events.</summary>
internal sealed record LengthTraffic
{
    /// <summary>The length in elements.</summary>
    public int Length { get; init; }

    /// <summary>Rentals.</summary>
    public long Rented { get; init; }

    /// <summary>Returns.</summary>
    public long Returned { get; init; }

    /// <summary>Rentals for which one was allocated.</summary>
    public long Allocated { get; init; }

    /// <summary>Returned ones that found no room.</summary>
    public long Dropped { get; init; }

    /// <summary>Whether the pool keeps arrays of this length: false where it said that it does not.</summary>
    public bool IsKept { get; init; } = true;

    /// <summary>The rentals that one stack of 1, 2, 4 ... 4096 places for all threads would have served.</summary>
    public IReadOnlyList<long> Served { get; init; } = [];

    /// <summary>Returns of what seemed to be in the pool already.</summary>
    public long SuspectedReturns { get; init; }

    /// <summary>How many different numbers the arrays had, by which they are told apart.</summary>
    public int Ids { get; init; }

    /// <summary>The probability that two of so many arrays have one number, of 26 random bits.</summary>
    public double CollisionProbability => -double.ExpM1(-(double)Ids * (Ids - 1) / 2 / (1 << 26));
}

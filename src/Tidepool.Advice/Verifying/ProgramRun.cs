namespace Tidepool.Advice;

/// <summary>What one run of a program used.</summary>
internal sealed record ProgramRun
{
    /// <summary>From its start to its end.</summary>
    public required double Seconds { get; init; }

    /// <summary>Processor time, its child processes included; null where it cannot be read.</summary>
    public double? ProcessorSeconds { get; init; }

    /// <summary>The most memory in use at once, of the largest of its processes; null where it cannot be read.</summary>
    public long? PeakBytes { get; init; }

    /// <summary>What its collectors counted; null for a program that is not of .NET, or whose runtime loads no startup hook.</summary>
    public CollectorCounts? Collector { get; init; }
}

/// <summary>What the collectors of a program's processes counted.</summary>
internal sealed record CollectorCounts
{
    /// <summary>Bytes allocated.</summary>
    public required double Allocated { get; init; }

    /// <summary>Collections of exactly generation 0, 1 and 2.</summary>
    public required IReadOnlyList<double> Collections { get; init; }

    /// <summary>How long collections paused the program; 0 before .NET 7, which does not count it.</summary>
    public double PausedSeconds { get; init; }

    /// <summary>The most memory in use at once, of the largest process.</summary>
    public long PeakBytes { get; init; }
}

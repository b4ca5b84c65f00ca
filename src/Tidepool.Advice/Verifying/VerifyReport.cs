namespace Tidepool.Advice;

/// <summary>How a measure is written.</summary>
internal enum VerifyUnit
{
    /// <summary>Bytes.</summary>
    Bytes,

    /// <summary>Seconds.</summary>
    Seconds,

    /// <summary>How many.</summary>
    Count,
}

/// <summary>One measure of two programs.</summary>
/// <param name="Name">What is measured.</param>
/// <param name="Unit">Its unit.</param>
/// <param name="Difference">The comparison; null when a run of one of the programs did not have it.</param>
internal sealed record VerifyMeasure(string Name, VerifyUnit Unit, Difference? Difference);

/// <summary>Two programs, their runs and the comparison.</summary>
internal sealed record VerifyReport
{
    /// <summary>The first program.</summary>
    public required VerifyCommand Before { get; init; }

    /// <summary>The second.</summary>
    public required VerifyCommand After { get; init; }

    /// <summary>The runs of the first, in their order.</summary>
    public required IReadOnlyList<ProgramRun> BeforeRuns { get; init; }

    /// <summary>The runs of the second.</summary>
    public required IReadOnlyList<ProgramRun> AfterRuns { get; init; }

    /// <summary>Whether the collectors of every run were read.</summary>
    public bool HasCollectors => BeforeRuns.Concat(AfterRuns).All(static run => run.Collector is not null);

    /// <summary>The measures, the most telling first.</summary>
    public IReadOnlyList<VerifyMeasure> Measures =>
    [
        Compare("allocated", VerifyUnit.Bytes, static run => run.Collector?.Allocated),
        Compare("gen0 collections", VerifyUnit.Count, static run => run.Collector?.Collections[0]),
        Compare("gen1 collections", VerifyUnit.Count, static run => run.Collector?.Collections[1]),
        Compare("gen2 collections", VerifyUnit.Count, static run => run.Collector?.Collections[2]),
        Compare("paused", VerifyUnit.Seconds, static run => run.Collector?.PausedSeconds),
        Compare("processor time", VerifyUnit.Seconds, static run => run.ProcessorSeconds),
        Compare("peak memory", VerifyUnit.Bytes, static run => run.PeakBytes),
        Compare("wall time", VerifyUnit.Seconds, static run => run.Seconds),
    ];

    private VerifyMeasure Compare(string name, VerifyUnit unit, Func<ProgramRun, double?> value)
    {
        double?[] before = [.. BeforeRuns.Select(value)];
        double?[] after = [.. AfterRuns.Select(value)];
        bool isKnown = before.Concat(after).All(static one => one is not null);
        return new VerifyMeasure(
            name,
            unit,
            isKnown ? Difference.Of([.. before.Select(static one => one!.Value)], [.. after.Select(static one => one!.Value)]) : null);
    }
}

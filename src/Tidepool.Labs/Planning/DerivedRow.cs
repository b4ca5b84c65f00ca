namespace Tidepool.Labs;

/// <summary>A row that is not measured by itself but comes from measured ones.</summary>
internal abstract class DerivedRow
{
    /// <summary>Where and who.</summary>
    public required WorkloadKey Key { get; init; }

    /// <summary>The part of the lab's table it is shown in.</summary>
    public required Section Section { get; init; }

    /// <summary>Whether the subject is ours or a rival's.</summary>
    public required bool Ours { get; init; }
}

/// <summary>A phase of a loop that rents all before it returns all.</summary>
internal enum LoopPhase
{
    /// <summary>Renting.</summary>
    Renting,

    /// <summary>Returning.</summary>
    Returning,
}

/// <summary>The time of one phase of a workload.</summary>
internal sealed class PhaseRow : DerivedRow
{
    /// <summary>The workload.</summary>
    public required WorkloadKey Of { get; init; }

    /// <summary>The phase.</summary>
    public required LoopPhase Phase { get; init; }

    /// <summary>The phase of a sample; null when the loop did not tell its phases apart.</summary>
    public Sample? Select(Sample? sample) =>
        (Phase == LoopPhase.Renting ? sample?.Renting : sample?.Returning) is { } time ? Sample.OfTime(time) : null;
}

/// <summary>The geometric mean over a group of cells.</summary>
internal sealed class MeanRow : DerivedRow
{
    /// <summary>The cells; the row's subject is measured in each.</summary>
    public required CellGroup Group { get; init; }
}

/// <summary>Cells that count as one: in a mean of groups each group has the same weight, however many cells it has.</summary>
internal sealed record CellGroup(string Name, IReadOnlyList<Cell> Cells);

/// <summary>One step of what several probes did: their metrics of that step side by side, each under the probe's column.</summary>
internal sealed class StepRow : DerivedRow
{
    private const char Separator = ':';

    /// <summary>The step.</summary>
    public required string Step { get; init; }

    /// <summary>The probes, and what stands before the names of their metrics.</summary>
    public required IReadOnlyList<(string Column, WorkloadKey Probe)> Of { get; init; }

    /// <summary>The name under which a probe reports a metric of a step.</summary>
    public static string NameOf(string step, string metric) => $"{step}{Separator}{metric}";

    /// <summary>Whether a metric belongs to a step, and so not to the probe's own row.</summary>
    public static bool IsOfStep(string metric) => metric.Contains(Separator, StringComparison.Ordinal);

    /// <summary>The metrics of the step.</summary>
    public IReadOnlyDictionary<string, double> Select(LabResults results)
    {
        string prefix = NameOf(Step, "");
        return (from column in Of
                from metric in results.Metrics(column.Probe) ?? new Dictionary<string, double>()
                where metric.Key.StartsWith(prefix, StringComparison.Ordinal)
                select (Name: column.Column + metric.Key[prefix.Length..], metric.Value))
                    .ToDictionary(metric => metric.Name, metric => metric.Value);
    }
}

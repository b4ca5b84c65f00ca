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

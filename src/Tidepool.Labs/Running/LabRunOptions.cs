namespace Tidepool.Labs;

/// <summary>How labs are run.</summary>
internal sealed record LabRunOptions
{
    /// <summary>Quick or full.</summary>
    public LabMode Mode { get; init; } = LabMode.Quick;

    /// <summary>Seed of the bootstrap.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>The command that starts a measuring process.</summary>
    public ChildCommand Child { get; init; } = ChildCommand.OfThisProgram();

    /// <summary>Processes instead of the plan's number, or null.</summary>
    public int? Processes { get; init; }

    /// <summary>Rounds instead of the plan's number, or null.</summary>
    public int? Rounds { get; init; }

    /// <summary>Which workloads are measured; null is all.</summary>
    public Func<WorkloadKey, bool>? Select { get; init; }
}

/// <summary>How far a lab is.</summary>
/// <param name="Lab">Its name.</param>
/// <param name="Fraction">0 to 1.</param>
/// <param name="Step">What it does now.</param>
internal readonly record struct LabProgress(string Lab, double Fraction, string Step)
{
    /// <summary>What was found, once all times are taken; waiting probes may still add their rows. Null before.</summary>
    public LabOutcome? Measured { get; init; }
}

/// <summary>A lab with what it found.</summary>
internal sealed record LabOutcome(ILab Lab, LabPlan Plan, LabResults Results, int Processes, IReadOnlyList<Verdict> Verdicts);

/// <summary>A whole run.</summary>
/// <param name="Machine">Where and with what it ran.</param>
/// <param name="Options">How it ran.</param>
/// <param name="Labs">The labs that were measured, completely or until the run was stopped.</param>
/// <param name="Stopped">Whether it was stopped before its end.</param>
internal sealed record LabReport(MachineInfo Machine, LabRunOptions Options, IReadOnlyList<LabOutcome> Labs, bool Stopped);

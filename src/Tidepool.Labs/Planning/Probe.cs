namespace Tidepool.Labs;

/// <summary>A measurement that is made once, not in rounds: it fills a row's metrics.</summary>
internal sealed class Probe
{
    /// <summary>Where and who.</summary>
    public required WorkloadKey Key { get; init; }

    /// <summary>The part of the lab's table it is shown in.</summary>
    public required Section Section { get; init; }

    /// <summary>Whether the subject is ours or a rival's.</summary>
    public required bool Ours { get; init; }

    /// <summary>Makes the measurement; returns null when the subject is not there.</summary>
    public required Func<ProbeSite, IReadOnlyDictionary<string, double>?> Run { get; init; }

    /// <summary>What to say when <see cref="Run"/> returns null.</summary>
    public string Missing { get; init; } = "not available here";

    /// <summary>
    /// Whether it needs no process of its own, because all it does is to start other programs: this process runs it.
    /// </summary>
    public bool StartsPrograms { get; init; }

    /// <summary>
    /// Whether it mostly waits: it then has a process of its own that is started before everything else,
    /// says when it has gone quiet, and is collected last.
    /// </summary>
    public bool Waits { get; init; }

    /// <summary>
    /// Makes the command of its process from that of the others, when it needs surroundings of its own; throws
    /// <see cref="LabProcessException"/> with the reason where they are not to be had. Only for probes that do not wait.
    /// </summary>
    public Func<ChildCommand, ChildCommand>? Within { get; init; }

    /// <summary>
    /// What is seen when the probe's own process has ended by itself: metrics that are added to those that it sent. Only for
    /// probes that do not wait and start no programs.
    /// </summary>
    public Func<ProbeProcess, IReadOnlyDictionary<string, double>>? AfterExit { get; init; }

    /// <summary>Whether all its metrics are shown in rows of steps: it has a row of its own only to say why there are none.</summary>
    public bool OnlySteps { get; init; }
}

/// <summary>What a probe may ask of the process it runs in.</summary>
internal sealed class ProbeSite(Action quiet)
{
    /// <summary>Asks the probe to end early.</summary>
    public CancellationToken Stop { get; init; }

    /// <summary>Says that from now on the probe only waits, so that others may measure.</summary>
    public void Quiet() => quiet();
}

/// <summary>The process of a probe.</summary>
/// <param name="Process">Its number.</param>
/// <param name="Folder">Where its files are.</param>
internal readonly record struct ProbeProcess(int Process, string Folder);

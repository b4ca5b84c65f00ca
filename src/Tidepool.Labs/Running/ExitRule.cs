namespace Tidepool.Labs;

/// <summary>The exit codes of the command line.</summary>
internal static class ExitRule
{
    /// <summary>All is well.</summary>
    public const int Ok = 0;

    /// <summary>A verdict failed.</summary>
    public const int VerdictFailed = 1;

    /// <summary>The command line was wrong.</summary>
    public const int BadUsage = 2;

    /// <summary>The environment lacks something.</summary>
    public const int EnvironmentLacks = 3;

    /// <summary>Stopped by Ctrl+C, as shells say it.</summary>
    public const int Stopped = 130;

    /// <summary>
    /// Counts are exact, so a failed one always fails the run. Ratios depend on the machine: a stranger's laptop is
    /// not a test bench, so they fail the run only in a full or a strict one.
    /// </summary>
    public static int Of(IEnumerable<Verdict> verdicts, LabMode mode, bool strict) =>
        verdicts.Any(verdict => verdict.State == VerdictState.Fail
            && (verdict.Bar.Kind == BarKind.Count || mode == LabMode.Full || strict))
            ? VerdictFailed
            : Ok;
}

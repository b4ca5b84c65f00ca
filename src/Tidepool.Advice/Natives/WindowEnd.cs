using System.Diagnostics;

namespace Tidepool.Advice;

/// <summary>How the window of a command was over.</summary>
/// <param name="Time">When, in nanoseconds of the log's clock: that of the system which never goes back.</param>
/// <param name="Command">The process of the command.</param>
/// <param name="Running">The other processes that ran then.</param>
/// <param name="ExitCode">The exit code of the command; null when it was stopped.</param>
internal sealed record WindowEnd(long Time, int Command, IReadOnlySet<int> Running, int? ExitCode)
{
    /// <summary>The window is over now.</summary>
    public static WindowEnd Now(int command, int? exitCode) => new(
        (long)(Stopwatch.GetTimestamp() * (1e9 / Stopwatch.Frequency)), command, RunningNow(), exitCode);

    /// <summary>
    /// When the window of a program was over: behind its last record if its process had ended before the command, or had executed another.
    /// </summary>
    public long EndOf(SampleLog log, IReadOnlyList<SampleLog> logs)
    {
        bool runs = log.Process == Command || Running.Contains(log.Process);
        return runs && !logs.Any(log.IsContinuedBy) ? Time : Math.Min(Time, log.Last + 1);
    }

    private static HashSet<int> RunningNow()
    {
        Process[] processes = Process.GetProcesses();
        HashSet<int> ids = [.. processes.Select(static process => process.Id)];
        Array.ForEach(processes, static process => process.Dispose());
        return ids;
    }
}

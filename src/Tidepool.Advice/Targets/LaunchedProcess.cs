using System.Diagnostics;
using Microsoft.Diagnostics.NETCore.Client;

namespace Tidepool.Advice;

/// <summary>A program that the tool starts, and stops when it has seen enough.</summary>
internal sealed class LaunchedProcess : IDisposable
{
    private const int PollMilliseconds = 50;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    private readonly Process _process;

    private LaunchedProcess(Process process) => _process = process;

    /// <summary>Its number.</summary>
    public int Id => _process.Id;

    /// <summary>Starts a program and waits for its diagnostic port.</summary>
    /// <param name="words">The command and its arguments.</param>
    /// <param name="stop">Ends the wait.</param>
    /// <exception cref="TargetException">It does not start, ends at once, or is no .NET program.</exception>
    public static async Task<LaunchedProcess> StartAsync(IReadOnlyList<string> words, CancellationToken stop)
    {
        if (CommandLines.IsDotnetRun(words))
        {
            throw new TargetException(
                TargetProblem.WrongTarget, "'dotnet run' starts the program as another process: build it, and give the program itself.");
        }

        var launched = new LaunchedProcess(
            Launcher.Start(new ProcessStartInfo(words[0], words.Skip(1)) { UseShellExecute = false }));
        long start = Stopwatch.GetTimestamp();
        while (!DiagnosticsClient.GetPublishedProcesses().Contains(launched.Id))
        {
            if (launched._process.HasExited || Stopwatch.GetElapsedTime(start) > Patience || stop.IsCancellationRequested)
            {
                (TargetProblem problem, string what) = launched._process.HasExited
                    ? (TargetProblem.WrongTarget, $"ended at once with code {launched._process.ExitCode}")
                    : stop.IsCancellationRequested
                    ? (TargetProblem.Stopped, "was stopped before it offered a diagnostic port")
                    : (TargetProblem.WrongTarget,
                        "offers no diagnostic port: it is not a .NET program, or was started with DOTNET_EnableDiagnostics=0");
                launched.Dispose();
                throw new TargetException(problem, $"'{string.Join(' ', words)}' {what}.");
            }

            await Task.WhenAny(Task.Delay(PollMilliseconds, stop));
        }

        return launched;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Launcher.Kill(_process);
        _process.Dispose();
    }
}

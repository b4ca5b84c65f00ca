using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Advice;

/// <summary>Runs a program to its end, and measures what it used. One program at a time.</summary>
internal sealed class ProgramRunner(TimeSpan timeout) : IDisposable
{
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan Drain = TimeSpan.FromSeconds(5);

    private readonly CounterFiles _counters = new();

    /// <summary>Runs a command once.</summary>
    /// <param name="command">The command.</param>
    /// <param name="which">How messages call the run.</param>
    /// <param name="stop">Ends the program.</param>
    /// <exception cref="TargetException">It does not start, ends with an error, or does not end in time.</exception>
    /// <exception cref="OperationCanceledException">The run was stopped.</exception>
    public async Task<ProgramRun> RunAsync(VerifyCommand command, string which, CancellationToken stop)
    {
        double? used = ChildClock.Read();
        long start = Stopwatch.GetTimestamp();
        using Process process = Start(command);
        process.StandardInput.Close();
        var output = new LastWords();
        var errors = new LastWords();
        Task said = Task.WhenAll(
            output.ReadAsync(process.StandardOutput.BaseStream), errors.ReadAsync(process.StandardError.BaseStream));
        long? peak = await WatchAsync(process, which, stop);
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        await Task.WhenAny(said, Task.Delay(Drain, CancellationToken.None)); // a process that it left behind may hold the streams open
        if (process.ExitCode != 0)
        {
            throw new TargetException(TargetProblem.WrongTarget, Failure(which, process.ExitCode, errors.Lines, output.Lines));
        }

        CollectorCounts? counts = _counters.Take();
        return new ProgramRun
        {
            Seconds = seconds,
            ProcessorSeconds = OperatingSystem.IsWindows() ? process.TotalProcessorTime.TotalSeconds : ChildClock.Read() - used,
            PeakBytes = counts?.PeakBytes is { } exact ? Math.Max(exact, peak ?? 0) : peak,
            Collector = counts,
        };
    }

    /// <inheritdoc/>
    public void Dispose() => _counters.Dispose();

    internal static string Failure(string which, int code, IReadOnlyList<string> errors, IReadOnlyList<string> output)
    {
        string signal = code is > 128 and < 160
            ? string.Create(CultureInfo.InvariantCulture, $" (signal {code - 128}: it crashed, or was killed)")
            : "";
        IReadOnlyList<string> said = errors.Count > 0 ? errors : output;
        string words = said.Count > 0 ? $" It said last:\n  {string.Join("\n  ", said)}" : " It said nothing.";
        return string.Create(
            CultureInfo.InvariantCulture, $"{which} ended with code {code}{signal}, so there is nothing to compare.{words}");
    }

    private Process Start(VerifyCommand command)
    {
        var info = new ProcessStartInfo(command.Words[0], command.Words.Skip(1))
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        foreach ((string name, string value) in command.Variables)
        {
            info.Environment[name] = value;
        }

        _counters.AddTo(info.Environment);
        return Launcher.Start(info);
    }

    /// <summary>Waits for the end of a program, and looks at its memory meanwhile.</summary>
    /// <returns>The most memory that was seen; what a program takes in its last moment may be missing.</returns>
    private async Task<long?> WatchAsync(Process process, string which, CancellationToken stop)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(stop);
        patience.CancelAfter(timeout);
        Task end = process.WaitForExitAsync(patience.Token);
        long? peak = null;
        try
        {
            while (await Task.WhenAny(end, Task.Delay(Look, CancellationToken.None)) != end)
            {
                peak = SystemProcess.PeakBytesOf(process) ?? peak;
            }

            await end;
            return peak;
        }
        catch (OperationCanceledException)
        {
            bool isStopped = Launcher.Kill(process);
            stop.ThrowIfCancellationRequested();
            throw new TargetException(
                TargetProblem.WrongTarget,
                $"{which} was still running after {Quantity.Time(timeout.TotalMilliseconds)} and "
                    + (isStopped ? "was stopped." : "could not be stopped.")
                    + " Give commands that end by themselves, or a longer --timeout.");
        }
    }
}

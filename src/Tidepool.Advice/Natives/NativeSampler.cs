using System.Diagnostics;
using Tidepool.Preloading;

namespace Tidepool.Advice;

/// <summary>What a native program and its children recorded.</summary>
internal sealed record NativeRecording
{
    /// <summary>The log of the process that allocated most.</summary>
    public required SampleLog Log { get; init; }

    /// <summary>
    /// When the window was over, in nanoseconds of the log's clock: for a program that ended before the command, behind its last record.
    /// </summary>
    public required long End { get; init; }

    /// <summary>The seconds of the window; never nothing.</summary>
    public double Seconds => Math.Max(1, End - Log.Start) / 1e9;

    /// <summary>The exit code; null when the program was stopped because the window was over.</summary>
    public int? ExitCode { get; init; }

    /// <summary>How many other processes of the command were recorded.</summary>
    public int OtherProcesses { get; init; }

    /// <summary>Chooses the process that allocated most; null where none was recorded.</summary>
    /// <param name="logs">The logs of the command's processes.</param>
    /// <param name="window">How the window was over.</param>
    public static NativeRecording? Of(IReadOnlyList<SampleLog> logs, WindowEnd window) =>
        logs.MaxBy(static log => log.Blocks.Count) is not { } most
            ? null
            : new NativeRecording
            {
                Log = most,
                End = window.EndOf(most, logs),
                ExitCode = window.ExitCode,
                OtherProcesses = logs.Count(log => !logs.Any(log.IsContinuedBy)) - 1,
            };
}

/// <summary>Runs a native program with the library that records what it allocates.</summary>
internal static class NativeSampler
{
    /// <summary>Runs a command to its end or to that of the window, and stops it then.</summary>
    /// <param name="words">The command and its arguments.</param>
    /// <param name="seconds">The longest window.</param>
    /// <param name="stop">Ends the window early, with what has been seen.</param>
    /// <exception cref="TargetException">It does not start, the library was not loaded into it, or it is a program of .NET.</exception>
    public static async Task<NativeRecording> RunAsync(IReadOnlyList<string> words, double seconds, CancellationToken stop)
    {
        string library = PreloadLibrary.Find();
        if (!NativeProgram.CanPreload(words[0]))
        {
            throw new TargetException(
                TargetProblem.WrongTarget,
                $"'{words[0]}' is linked statically or has no 64 bits, so the library cannot be preloaded: link it dynamically, or link "
                    + "the library itself.");
        }

        using var folder = new TemporaryFolder("tidepool-advise-");
        WindowEnd window = await RunAsync(words, library, Path.Combine(folder.Info.FullName, "log"), seconds, stop);
        return Read(words, folder.Info, window);
    }

    private static async Task<WindowEnd> RunAsync(
        IReadOnlyList<string> words, string library, string log, double seconds, CancellationToken stop)
    {
        using var window = CancellationTokenSource.CreateLinkedTokenSource(stop);
        window.CancelAfter(TimeSpan.FromSeconds(seconds));
        using Process process = Start(words, library, log);
        try
        {
            await process.WaitForExitAsync(window.Token);
            return WindowEnd.Now(process.Id, process.ExitCode);
        }
        catch (OperationCanceledException)
        {
            var end = WindowEnd.Now(process.Id, exitCode: null);
            Launcher.Kill(process);
            return end;
        }
    }

    private static Process Start(IReadOnlyList<string> words, string library, string log)
    {
        var info = new ProcessStartInfo(words[0], words.Skip(1)) { UseShellExecute = false };
        PreloadEnvironment.Record(info.Environment, library, log);
        return Launcher.Start(info);
    }

    /// <summary>Reads the logs in a folder. Symbolic links are left out: the library makes none.</summary>
    /// <exception cref="InvalidDataException">Some are damaged, or of another version of the library, and none is left.</exception>
    internal static IReadOnlyList<SampleLog> LogsIn(DirectoryInfo folder) => SampleLogReader.ReadAll(
        folder.EnumerateFiles("*", new EnumerationOptions { AttributesToSkip = FileAttributes.ReparsePoint })
            .Select(static file => File.ReadAllBytes(file.FullName)));

    private static NativeRecording Read(IReadOnlyList<string> words, DirectoryInfo folder, WindowEnd window)
    {
        IReadOnlyList<SampleLog> logs;
        try
        {
            logs = LogsIn(folder);
        }
        catch (InvalidDataException failure)
        {
            throw new TargetException(
                TargetProblem.OutOfReach, $"what '{words[0]}' recorded cannot be read: {failure.Message} Build the native library again.");
        }

        var recording = NativeRecording.Of(logs, window);
        if (recording is null)
        {
            string ended = window.ExitCode is { } known ? $" It ended with code {known}." : "";
            throw new TargetException(
                TargetProblem.WrongTarget,
                $"'{string.Join(' ', words)}' did not load the preload library: it has more privileges than you, its loader is another, or "
                    + $"the library is too old for this tool.{ended}");
        }

        return recording.Log.Modules.Any(static module => Path.GetFileName(module.Path) is "libcoreclr.so")
            ? throw new TargetException(
                TargetProblem.WrongTarget,
                $"'{string.Join(' ', words)}' runs .NET, whose objects are not of malloc: say --native false, or give the program itself.")
            : recording;
    }
}

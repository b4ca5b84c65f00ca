using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace Tidepool.Labs;

/// <summary>A run of this program's own command line, as a user starts it.</summary>
/// <param name="Seconds">From its start to its end.</param>
/// <param name="PeakBytes">The most memory that it had in use at once.</param>
/// <param name="FirstLineSeconds">From its start to the first line of its output; null when there was none.</param>
internal sealed record ToolRun(double Seconds, long PeakBytes, double? FirstLineSeconds)
{
    private const string PeakLine = "VmHWM:";

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);

    /// <summary>Runs it to its end.</summary>
    /// <param name="command">The program.</param>
    /// <param name="core">The core that it gets; null for any.</param>
    /// <param name="arguments">What the user types after the name of the program.</param>
    /// <exception cref="LabProcessException">It failed; the message has what it said.</exception>
    public static ToolRun Of(ChildCommand command, int? core, params IEnumerable<string> arguments)
    {
        var (program, words) = core is { } one
            ? CorePair.Pin(one, command.FileName, [.. command.LeadingArguments, .. arguments])
            : (command.FileName, (IReadOnlyList<string>)[.. command.LeadingArguments, .. arguments]);
        var info = new ProcessStartInfo(program, words) { RedirectStandardOutput = true, RedirectStandardError = true };
        long start = Stopwatch.GetTimestamp();
        using Process process = Process.Start(info) ?? throw new LabProcessException("The tool did not start.");
        Task<double?> firstLine = ReadAsync(process.StandardOutput, start);
        Task<string> errors = process.StandardError.ReadToEndAsync();
        long peak = 0;
        while (!process.WaitForExit(Look))
        {
            peak = Math.Max(peak, ReadPeak(process.Id));
        }

        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        return process.ExitCode == 0
            ? new(seconds, peak, firstLine.Result)
            : throw new LabProcessException($"The tool ended with code {process.ExitCode}. {errors.Result.Trim()}".TrimEnd());
    }

    /// <summary>Runs it with a file for its report, and reads that.</summary>
    /// <param name="run">Runs it; gets the path of the file.</param>
    /// <exception cref="LabProcessException">It failed.</exception>
    public static (ToolRun Run, JsonElement Report) WithReport(Func<string, ToolRun> run)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("tidepool-lab-advise-");
        try
        {
            string file = Path.Combine(folder.FullName, "report.json");
            ToolRun done = run(file);
            using JsonDocument report = JsonDocument.Parse(File.ReadAllText(file));
            return (done, report.RootElement.Clone());
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    /// <summary>Reads all of the output.</summary>
    /// <returns>When its first line came; null when there was none.</returns>
    private static async Task<double?> ReadAsync(StreamReader output, long start)
    {
        string? line = await output.ReadLineAsync().ConfigureAwait(false);
        double? first = line is null ? null : Stopwatch.GetElapsedTime(start).TotalSeconds;
        await output.ReadToEndAsync().ConfigureAwait(false);
        return first;
    }

    /// <summary>The peak of the memory map, which the system keeps; 0 when the process has ended.</summary>
    private static long ReadPeak(int process)
    {
        try
        {
            string? line = File.ReadLines($"/proc/{process}/status")
                .FirstOrDefault(static line => line.StartsWith(PeakLine, StringComparison.Ordinal));
            return line is null ? 0
                : 1024 * long.Parse(line[PeakLine.Length..].Replace("kB", "", StringComparison.Ordinal), CultureInfo.InvariantCulture);
        }
        catch (IOException)
        {
            return 0;
        }
    }
}

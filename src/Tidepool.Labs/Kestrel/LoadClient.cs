using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;

namespace Tidepool.Labs;

/// <summary>What h2load says at its end.</summary>
/// <param name="PerSecond">Requests answered in a second.</param>
/// <param name="Total">Requests that it was to send.</param>
/// <param name="Good">Those of them that were answered with a status of 200 to 299.</param>
internal readonly partial record struct LoadResult(double PerSecond, long Total, long Good)
{
    /// <summary>Requests without a good answer.</summary>
    public long Failed => Total - Good;

    /// <summary>The rate of a run in which every request was answered well.</summary>
    /// <exception cref="LabProcessException">Some failed; the message says how many.</exception>
    public double PerSecondOfAll() =>
        Failed == 0 ? PerSecond : throw new LabProcessException($"{Failed} of {Total} requests failed.");

    /// <summary>Reads the report.</summary>
    /// <exception cref="LabProcessException">It is no such report.</exception>
    public static LoadResult Parse(string output)
    {
        Match rate = Rate().Match(output);
        Match total = Requests().Match(output);
        Match good = Statuses().Match(output);
        return rate.Success && total.Success && good.Success
            ? new(Number(rate), (long)Number(total), (long)Number(good))
            : throw new LabProcessException($"h2load printed no result: {output.Trim()}");
    }

    private static double Number(Match match) => double.Parse(match.Groups[1].ValueSpan, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^finished in [^,]+, ([0-9.]+) req/s", RegexOptions.Multiline)]
    private static partial Regex Rate();

    [GeneratedRegex("^requests: ([0-9]+) total", RegexOptions.Multiline)]
    private static partial Regex Requests();

    [GeneratedRegex("^status codes: ([0-9]+) 2xx", RegexOptions.Multiline)]
    private static partial Regex Statuses();
}

/// <summary>Runs h2load on a core of its own.</summary>
internal sealed class LoadClient(int core)
{
    /// <summary>The program.</summary>
    public const string Program = "h2load";

    private static readonly TimeSpan Longest = TimeSpan.FromMinutes(2);

    /// <summary>What the lab lacks here, with the command that brings it; null when it can run.</summary>
    public static string? Missing { get; } =
        PreloadPrograms.IsOnPath(Program) ? CorePair.Missing : "h2load is missing. Install it with: apt-get install nghttp2-client";

    /// <summary>Sends requests and waits for their answers.</summary>
    /// <exception cref="LabProcessException">h2load failed, or took longer than two minutes.</exception>
    public LoadResult Run(Uri address, int requests, IEnumerable<string> arguments) => Start(address, requests, arguments).Finish();

    /// <summary>Starts to send requests.</summary>
    /// <exception cref="LabProcessException">h2load did not start.</exception>
    public RunningLoad Start(Uri address, int requests, IEnumerable<string> arguments)
    {
        var (program, pinned) = CorePair.Pin(
            core, Program, ["-t", "1", "-n", requests.ToString(CultureInfo.InvariantCulture), .. arguments, address.AbsoluteUri]);
        var info = new ProcessStartInfo(program, pinned) { RedirectStandardOutput = true, RedirectStandardError = true };
        return new(Process.Start(info) ?? throw new LabProcessException("h2load did not start."));
    }

    /// <summary>An h2load that runs.</summary>
    internal sealed class RunningLoad(Process process)
    {
        private readonly Task<string> _output = process.StandardOutput.ReadToEndAsync();
        private readonly Task<string> _errors = process.StandardError.ReadToEndAsync();

        /// <summary>Waits for its end.</summary>
        /// <exception cref="LabProcessException">It failed, or took longer than two minutes.</exception>
        public LoadResult Finish()
        {
            using Process ending = process;
            if (!process.WaitForExit(Longest))
            {
                process.Kill(entireProcessTree: true);
                throw new LabProcessException($"h2load did not end within {Longest.TotalMinutes:0} minutes.");
            }

            string output = _output.GetAwaiter().GetResult();
            return process.ExitCode == 0
                ? LoadResult.Parse(output)
                : throw new LabProcessException(
                    $"h2load ended with code {process.ExitCode}. {_errors.GetAwaiter().GetResult().Trim()}".TrimEnd());
        }
    }
}

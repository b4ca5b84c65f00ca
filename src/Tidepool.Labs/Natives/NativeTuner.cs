using System.Globalization;
using System.Text.RegularExpressions;

namespace Tidepool.Labs;

/// <summary>Records the sizes that a program asks for, and lets tidepool-tune make size classes from the record.</summary>
internal static partial class NativeTuner
{
    /// <summary>Metric: waste with the tuned classes, in percent of the waste with the built-in ones.</summary>
    public const string Remaining = "remaining_percent";

    private const string Profile = "TIDEPOOL_PROFILE";

    /// <summary>Runs the recording and the tool; null when one of them is not built.</summary>
    /// <exception cref="LabProcessException">One of them failed.</exception>
    public static IReadOnlyDictionary<string, double>? Measure(string distribution, ProbeSite site)
    {
        var recorded = NativeSubjects.Shared;
        if (recorded.Missing is not null || NativeBuild.Find(Path.Combine("tools", "tidepool-tune")) is not { } tool)
        {
            return null;
        }

        string folder = Directory.CreateTempSubdirectory("tidepool-lab-").FullName;
        try
        {
            string profile = Path.Combine(folder, "sizes.txt");
            NativeTool.Run(
                NativeBuild.Program(recorded.Driver)!,
                [recorded.Face, "profile", distribution, profile],
                site,
                recorded.LibraryPath,
                Profile);
            return NativeTool.Run(tool, [profile], site, Parse);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    /// <summary>Reads the tool's output.</summary>
    /// <exception cref="LabProcessException">It does not end with the wasted bytes before and after.</exception>
    public static IReadOnlyDictionary<string, double> Parse(string output)
    {
        var wasted = Wasted().Match(output);
        var requested = Requested().Match(output);
        if (!wasted.Success || !requested.Success)
        {
            throw new LabProcessException($"tidepool-tune printed no waste: {output.Trim()}");
        }

        double before = Number(wasted, "before"), after = Number(wasted, "after"), bytes = Number(requested, "bytes");
        return new Dictionary<string, double>
        {
            ["built_in_percent"] = 100 * before / bytes,
            ["tuned_percent"] = 100 * after / bytes,
            [Remaining] = 100 * after / before,
        };
    }

    private static double Number(Match match, string name) => double.Parse(match.Groups[name].Value, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"^waste_before=(?<before>\d+) waste_after=(?<after>\d+)$", RegexOptions.Multiline)]
    private static partial Regex Wasted();

    [GeneratedRegex(@"^\d+ requests, (?<bytes>\d+) bytes$", RegexOptions.Multiline)]
    private static partial Regex Requested();
}

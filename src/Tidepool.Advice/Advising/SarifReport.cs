using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

namespace Tidepool.Advice;

/// <summary>Writes what a report advises as SARIF 2.1.0, which code hosts and editors show beside the lines.</summary>
internal static partial class SarifReport
{
    private const string Root = "SRCROOT";

    private static readonly (string Id, string Name, string Level, string Text)[] Rules =
    [
        ("ADVISE001", "PoolSite", "note", "A site allocates what a pool would reuse."),
        ("ADVISE002", "PoolSetting", "note", "A pool would serve better with another setting."),
        ("ADVISE003", "PoolSuspect", "warning", "A pool may be used wrongly: what was seen does not prove it."),
        ("ADVISE004", "PoolFault", "error", "A pool is used wrongly."),
    ];

    /// <summary>The log. Only what asks for a change is a result.</summary>
    /// <param name="report">The report.</param>
    /// <param name="sources">Where the sources are.</param>
    /// <param name="version">The version of the tool.</param>
    public static string Write(AdviceReport report, SourceRoot sources, string version) => AdviceJson.Serialize(
        new Dictionary<string, object?>
        {
            ["$schema"] = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            ["version"] = "2.1.0",
            ["runs"] = new object[] { RunOf(report, sources, version) },
        });

    private static object RunOf(AdviceReport report, SourceRoot sources, string version) => new
    {
        Tool = new
        {
            Driver = new
            {
                Name = "tidepool advise",
                Version = version,
                Rules = Rules.Select(static rule => new
                {
                    rule.Id,
                    rule.Name,
                    ShortDescription = new { rule.Text },
                    DefaultConfiguration = new { rule.Level },
                }),
            },
        },
        OriginalUriBaseIds = sources.Folder is { } folder
            ? new Dictionary<string, object> { [Root] = new { Uri = new Uri(folder).AbsoluteUri } }
            : null,
        ColumnKind = "utf16CodeUnits",
        Results = report.Sites.Where(static site => site.Verdict == Verdict.Pool).Select(site => ResultOf(site, sources))
            .Concat(report.Pools.Pools.SelectMany(pool => pool.Findings.Where(static finding => finding.Verdict < PoolVerdict.Keep)
                .Select(finding => ResultOf(pool, finding, sources)))),
    };

    private static object ResultOf(SiteAdvice advice, SourceRoot sources)
    {
        AllocationSite site = advice.Site;
        Interval rate = site.BytesPerSecond;
        string classes = advice.Classes.Count == 0 ? "" : $" Sizes in bytes: {string.Join(", ", advice.Classes)}.";
        string text = $"Pool {TypeRules.Short(site.Type)} ({advice.Kind}): {advice.Reason} It allocates {Quantity.Bytes(rate.Value)}/s "
            + $"({Quantity.Bytes(rate.Low)} to {Quantity.Bytes(rate.High)}).{classes} Now: {advice.Before} Then: {advice.After}";
        return Result(0, text, site.File, site.Line, (site.Method, "function"), sources, site.Type);
    }

    private static object ResultOf(PoolAdvice pool, PoolFinding finding, SourceRoot sources)
    {
        int rule = finding.Verdict switch
        {
            PoolVerdict.Fault => 3,
            PoolVerdict.Suspect => 2,
            _ => 1,
        };
        string after = (finding.After ?? finding.Native) is { } then ? $" Then: {then}" : "";
        Match place = SourceLine().Match(string.Join('\n', finding.Reports));
        return Result(
            rule,
            $"Pool {pool.Name} ({pool.Kind}), {finding.Subject}: {finding.Reason}{after}",
            place.Groups["file"].Value,
            place.Success ? int.Parse(place.Groups["line"].Value, System.Globalization.CultureInfo.InvariantCulture) : 0,
            (pool.Name, "object"),
            sources,
            finding.Subject);
    }

    private static object Result(
        int rule, string text, string file, int line, (string Name, string Kind) logical, SourceRoot sources, string detail) => new
    {
        RuleId = Rules[rule].Id,
        RuleIndex = rule,
        Rules[rule].Level,
        Message = new { Text = text },
        Locations = new object[]
        {
            new
            {
                PhysicalLocation = file.Length > 0 ? PlaceOf(file, line, sources) : null,
                LogicalLocations = new object[] { new { FullyQualifiedName = logical.Name, logical.Kind } },
            },
        },
        // The same finding keeps its number when its line moves.
        PartialFingerprints = new Dictionary<string, string>
        {
            ["tidepoolAdvice/v1"] = Convert.ToHexStringLower(
                SHA256.HashData(Encoding.UTF8.GetBytes($"{rule} {logical.Name} {detail}")).AsSpan(0, 16)),
        },
    };

    private static object PlaceOf(string file, int line, SourceRoot sources) => new
    {
        ArtifactLocation = sources.Relative(file) is { } relative
            ? new { Uri = relative, UriBaseId = sources.Folder is null ? null : Root }
            : new { Uri = SourceRoot.Absolute(file), UriBaseId = (string?)null },
        Region = line > 0 ? new { StartLine = line } : null,
    };

    [GeneratedRegex(@" in (?<file>[^\n]+):line (?<line>\d{1,9})")]
    private static partial Regex SourceLine();
}

/// <summary>The folder that source files are named from.</summary>
/// <param name="Folder">The folder with its separator at the end; null where no repository is known.</param>
internal sealed record SourceRoot(string? Folder)
{
    private const string Mapped = "/_/"; // what a deterministic build calls the root

    /// <summary>The repository that a folder is in.</summary>
    public static SourceRoot Find(string folder)
    {
        for (DirectoryInfo? at = new(folder); at is not null; at = at.Parent)
        {
            if (Path.Exists(Path.Combine(at.FullName, ".git")))
            {
                return new SourceRoot(Path.TrimEndingDirectorySeparator(at.FullName) + Path.DirectorySeparatorChar);
            }
        }

        return new SourceRoot((string?)null);
    }

    /// <summary>
    /// The path from the root, as a URI; null where the file is not below it. The program may have been built elsewhere: then it is the
    /// longest end of its path that is a file of the repository.
    /// </summary>
    public string? Relative(string file)
    {
        string path = file.Replace('\\', '/');
        if (path.StartsWith(Mapped, StringComparison.Ordinal))
        {
            return Escape(path[Mapped.Length..]);
        }

        if (Folder is null)
        {
            return null;
        }

        string root = Folder.Replace('\\', '/');
        if (path.StartsWith(root, StringComparison.Ordinal))
        {
            return Escape(path[root.Length..]);
        }

        string[] steps = path.Split('/', StringSplitOptions.RemoveEmptyEntries);
        for (int from = 0; from < steps.Length - 1; from++)
        {
            string end = string.Join('/', steps[from..]);
            if (!steps.Contains("..") && File.Exists(Path.Combine(Folder, end)))
            {
                return Escape(end);
            }
        }

        return null;
    }

    /// <summary>The file as a URI of its own.</summary>
    public static string Absolute(string file)
    {
        string path = file.Replace('\\', '/');
        return $"file://{(path.StartsWith('/') ? "" : "/")}{Escape(path)}";
    }

    private static string Escape(string path) => string.Join('/', path.Split('/').Select(Uri.EscapeDataString));
}

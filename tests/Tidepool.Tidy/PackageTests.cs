using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Tidepool.Tidy;

/// <summary>THIRD-PARTY.md, Directory.Packages.props and the projects name the same packages.</summary>
public sealed partial class PackageTests
{
    private static readonly HashSet<string> PermissiveLicences =
        ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "PostgreSQL", "BSL-1.0", "Zlib", "0BSD"];

    [Fact]
    public void Third_party_table_equals_the_central_versions()
    {
        var central = XDocument.Load(Repository.Path("Directory.Packages.props")).Descendants("PackageVersion")
            .Select(e => $"{e.Attribute("Include")!.Value} {e.Attribute("Version")!.Value}");
        Problems.AssertSame(
            central,
            Listed(npm: false),
            "THIRD-PARTY.md has a row for every line of Directory.Packages.props, with its version:");
    }

    [Fact]
    public void Every_npm_package_is_in_the_table_with_its_version()
    {
        var npm = from file in Repository.Files
                  where Path.GetFileName(file) == "package-lock.json"
                  from Match package in NpmPackage().Matches(Repository.Read(file))
                  select $"{package.Groups["name"].Value} {package.Groups["version"].Value}";
        Problems.AssertSame(
            npm,
            Listed(npm: true),
            "THIRD-PARTY.md has a row marked (npm) for every package of a package-lock.json, with its version:");
    }

    [Fact]
    public void Every_package_in_the_table_is_used_by_a_project()
    {
        var used = Repository.Files.Where(
            file => file.EndsWith("proj", StringComparison.Ordinal) || file.EndsWith(".targets", StringComparison.Ordinal))
            .SelectMany(file => XDocument.Load(Repository.Path(file)).Descendants("PackageReference"))
            .Select(e => e.Attribute("Include")!.Value)
            .ToHashSet(StringComparer.Ordinal);
        Problems.AssertNone(
            Rows().Where(row => !row.IsNpm && !used.Contains(row.Package)).Select(row => row.Package),
            "Packages that no project references:");
    }

    [Fact]
    public void Every_licence_is_permissive()
    {
        Problems.AssertNone(
            Rows().Where(row => !PermissiveLicences.Contains(row.Licence)).Select(row => $"{row.Package}: {row.Licence}"),
            "Licences outside the list that the project accepts:");
    }

    [Fact]
    public void Lock_files_name_no_registry()
    {
        Problems.AssertNone(
            Repository.Files.Where(
                file =>
                    Path.GetFileName(file) == "package-lock.json"
                        && Repository.Read(file).Contains("\"resolved\"", StringComparison.Ordinal)),
            "Write lock files with npm's omit-lockfile-registry-resolved:");
        Problems.AssertNone(
            Repository.Files.Where(file => Path.GetFileName(file).Equals("nuget.config", StringComparison.OrdinalIgnoreCase)),
            "The user's package sources are the user's business:");
    }

    private static IEnumerable<string> Listed(bool npm) =>
        Rows().Where(row => row.IsNpm == npm).Select(row => $"{row.Package} {row.Version}");

    private static Row[] Rows()
    {
        Row[] rows = [.. TableRow().Matches(Repository.Read("THIRD-PARTY.md"))
            .Select(
                m => new Row(m.Groups["package"].Value, m.Groups["version"].Value, m.Groups["licence"].Value, m.Groups["npm"].Success))];
        Assert.NotEmpty(rows);
        return rows;
    }

    private sealed record Row(string Package, string Version, string Licence, bool IsNpm);

    [GeneratedRegex(
        @"^\| (?<package>[\w.@/-]+)(?<npm> \(npm\))? \| (?<version>\d[\w.-]*) \| (?<licence>[\w.-]+) \| [^|]+ \|$",
        RegexOptions.Multiline)]
    private static partial Regex TableRow();

    [GeneratedRegex(@"""node_modules/(?<name>[^""]+)"": \{\s*""version"": ""(?<version>[^""]+)""")]
    private static partial Regex NpmPackage();
}

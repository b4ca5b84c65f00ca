using System.Text.Json;
using System.Xml.Linq;

namespace Tidepool.Tidy;

/// <summary>The solution holds every project, and test projects share one set of targets.</summary>
public sealed class SolutionTests
{
    [Fact]
    public void Every_project_is_in_the_solution_once()
    {
        var listed = XDocument.Load(Repository.Path("Tidepool.slnx")).Descendants("Project").Select(e => e.Attribute("Path")!.Value);
        Problems.AssertSame(Projects(), listed, "Tidepool.slnx lists every project, once:");
    }

    [Fact]
    public void Everything_in_src_takes_part_in_the_packages()
    {
        using var filter = JsonDocument.Parse(Repository.Read("Packages.slnf"));
        Problems.AssertSame(
            Repository.Under("src/", ".csproj"),
            filter.RootElement.GetProperty("solution").GetProperty("projects").EnumerateArray().Select(static e => e.GetString()!),
            "Packages.slnf lists every project of src/, once:");
    }

    [Fact]
    public void Every_test_project_takes_part_in_the_test_command()
    {
        Problems.AssertNone(
            Tests().Where(file => Repository.Read(file).Contains("xunit", StringComparison.Ordinal)),
            "Test projects import eng/Test.targets, by which ./tidepool test finds them, and name no test package themselves:");
        const string published = "tests/Tidepool.Published/Tidepool.Published.csproj"; // a program that tests publish
        Problems.AssertNone(
            Tests().Where(
                file => file != published && !Repository.Read(file).Contains("Test.targets", StringComparison.Ordinal)),
            "Projects in tests/ that ./tidepool test does not run:");
    }

    [Fact]
    public void Every_assembly_is_in_the_layer_list()
    {
        string layers = Repository.Read("src/README.md");
        Problems.AssertNone(
            Repository.Under("src/", ".csproj").Where(
                file => !layers.Contains($"\n| `{Path.GetFileNameWithoutExtension(file)}` |", StringComparison.Ordinal)),
            "Projects in src/ without a row in src/README.md:");
    }

    [Fact]
    public void Nothing_that_ships_references_the_labs_or_the_tool()
    {
        string[] mayUseLabs = ["Tidepool.Labs", "Tidepool.Tool"];
        Problems.AssertNone(
            from file in Repository.Under("src/", ".csproj")
            where !mayUseLabs.Contains(Path.GetFileNameWithoutExtension(file))
            from reference in XDocument.Load(Repository.Path(file)).Descendants("ProjectReference")
            where mayUseLabs.Contains(Path.GetFileNameWithoutExtension(reference.Attribute("Include")!.Value))
            select $"{file} references {reference.Attribute("Include")!.Value}",
            "Labs and Tool are referenced by nothing that ships as a library:");
    }

    private static IEnumerable<string> Tests() => Projects().Where(static file => file.StartsWith("tests/", StringComparison.Ordinal));

    /// <summary>Consumers are projects of their own, which know packages only.</summary>
    private static IEnumerable<string> Projects() =>
        Repository.Under("", ".csproj").Where(static file => !file.StartsWith("tests/consumers/", StringComparison.Ordinal));
}

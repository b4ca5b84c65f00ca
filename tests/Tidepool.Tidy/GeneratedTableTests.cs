using System.Text.RegularExpressions;
using Tidepool.Labs;

namespace Tidepool.Tidy;

/// <summary>Tables of results are made from the committed runs, never typed.</summary>
public sealed partial class GeneratedTableTests
{
    private const string MakeThem = "dotnet run --project src/Tidepool.Tool -c Release -- docs";

    [Fact]
    public void Tables_equal_the_results_they_are_made_from()
    {
        Problems.AssertNone(
            from page in GeneratedDocs.Render(Repository.Root)
            where File.ReadAllText(page.Path) != page.Text
            select Path.GetRelativePath(Repository.Root, page.Path),
            $"Pages whose tables differ from docs/results/; make them again with: {MakeThem}");
    }

    [Fact]
    public void Every_generated_part_is_one_that_the_labs_fill()
    {
        var filled = GeneratedDocs.Render(Repository.Root).Select(page => Path.GetRelativePath(Repository.Root, page.Path)).ToHashSet();
        Problems.AssertNone(
            Repository.Under("", ".md").Where(page => !filled.Contains(page) && Marker().IsMatch(Repository.Read(page))),
            "Pages with markers of a generated part that nothing fills:");
    }

    [GeneratedRegex(@"^<!-- generated:\S+ -->$", RegexOptions.Multiline)]
    private static partial Regex Marker();
}

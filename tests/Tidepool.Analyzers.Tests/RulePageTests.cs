using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Tidepool.Analyzers.Tests.Harness;

namespace Tidepool.Analyzers.Tests;

/// <summary>Each rule has a page; its wrong example raises that rule alone, and its right one raises none.</summary>
public sealed partial class RulePageTests
{
    private static readonly string Folder = Path.Combine(Sources.Root, "docs", "rules");

    public static TheoryData<string> Rules() =>
        [.. new PoolMisuseAnalyzer().SupportedDiagnostics.Select(rule => rule.Id).Distinct().Order()];

    [Theory]
    [MemberData(nameof(Rules))]
    public void The_wrong_example_raises_the_rule_and_no_other(string id)
    {
        string[] found = [.. Analysis.Run(Example(id, "Wrong"), $"{id}.cs").Select(d => d.Id).Distinct()];
        Assert.Equal([id], found);
    }

    [Theory]
    [MemberData(nameof(Rules))]
    public void The_right_example_raises_nothing(string id) =>
        Assert.Empty(Analysis.Run(Example(id, "Right"), $"{id}.cs").Select(Analysis.Describe));

    [Theory]
    [MemberData(nameof(Rules))]
    public void The_page_says_when_to_suppress_and_how_it_was_proved(string id)
    {
        string page = Read(id);
        Assert.Contains("\n## When to suppress\n\n", page, StringComparison.Ordinal);
        Assert.Contains("\n## How it was proved\n\n", page, StringComparison.Ordinal);
    }

    [Fact]
    public void The_index_lists_each_rule_with_its_severity()
    {
        IEnumerable<string> expected =
            from rule in new PoolMisuseAnalyzer().SupportedDiagnostics.DistinctBy(rule => rule.Id)
            where rule.IsEnabledByDefault && rule.DefaultSeverity > DiagnosticSeverity.Hidden
            orderby rule.Id
            select $"{rule.Id} {(rule.DefaultSeverity == DiagnosticSeverity.Info ? "information" : "warning")}";
        Assert.Equal(expected, Row().Matches(Read("README")).Select(row => $"{row.Groups["id"].Value} {row.Groups["severity"].Value}"));
    }

    [Fact]
    public void Each_rule_links_to_its_page() => Assert.All(
        new PoolMisuseAnalyzer().SupportedDiagnostics,
        rule => Assert.EndsWith($"docs/rules/{rule.Id}.md", rule.HelpLinkUri, StringComparison.Ordinal));

    private static string Read(string page) => File.ReadAllText(Path.Combine(Folder, page + ".md"));

    private static string Example(string id, string heading)
    {
        Match block = Regex.Match(
            Read(id), $"^## {heading}\n\n```csharp\n(?<code>.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline);
        Assert.True(block.Success, $"{id}.md has no example under '{heading}'.");
        return block.Groups["code"].Value;
    }

    [GeneratedRegex(@"^\| \[(?<id>\w+)\]\(\k<id>\.md\) \| [^|]+ \| (?<severity>\w+) \| [^|]*\|$", RegexOptions.Multiline)]
    private static partial Regex Row();
}

using System.Text.RegularExpressions;

namespace Tidepool.Tidy;

/// <summary>What was measured stands in generated tables, where the next run corrects it, not in sentences.</summary>
public sealed partial class NumberTests
{
    /// <summary>What a workload is called or set to is no result.</summary>
    private static readonly string[] Settings = ["100 us CPU", "computes for 100 us"];

    [Fact]
    public void No_page_types_a_measured_time()
    {
        Problems.AssertNone(
            from page in Repository.Under("", ".md")
            where page != "CHANGELOG.md"
            from line in Typed(Repository.Read(page)).Split('\n').Select((text, index) => (text, number: index + 1))
            from Match time in Time().Matches(
                Settings.Aggregate(line.text, (text, setting) => text.Replace(setting, "", StringComparison.Ordinal)))
            select $"{page}:{line.number}: {time.Value}",
            "Nanoseconds and microseconds in prose: let a generated table say it, link the lab, or leave the number out:");
    }

    /// <summary>The page without its generated parts and code; lines keep their numbers.</summary>
    private static string Typed(string page) =>
        Made().Replace(page, match => new string('\n', match.Value.Count(letter => letter == '\n')));

    [GeneratedRegex("<!-- generated:.*?<!-- /generated -->|^```.*?^```", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex Made();

    [GeneratedRegex(@"\b\d[\d.,]*( (ns|us|µs)\b| (nano|micro)seconds?)")]
    private static partial Regex Time();
}

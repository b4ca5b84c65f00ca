using System.Text.RegularExpressions;

namespace Tidepool.Tidy;

/// <summary>Relative links in Markdown files lead to files and headings that exist.</summary>
public sealed partial class LinkTests
{
    [Fact]
    public void Relative_links_lead_somewhere()
    {
        Problems.AssertNone(
            from page in Repository.Under("", ".md")
            from Match link in Link().Matches(WithoutCode(Repository.Read(page)))
            let target = link.Groups["target"].Value
            where !target.Contains("://", StringComparison.Ordinal) && !target.StartsWith("mailto:", StringComparison.Ordinal)
            where !Exists(page, target)
            select $"{page}: {target}",
            "Links to nowhere:");
    }

    private static bool Exists(string page, string target)
    {
        string[] parts = target.Split('#', 2);
        string path = parts[0].Length == 0 ? Repository.Path(page) : Path.Combine(Path.GetDirectoryName(Repository.Path(page))!, parts[0]);
        if (!File.Exists(path))
        {
            return Directory.Exists(path) && parts.Length == 1;
        }
        return parts.Length == 1 || Heading().Matches(File.ReadAllText(path))
            .Any(heading => Anchor(heading.Groups["text"].Value) == parts[1]);
    }

    /// <summary>The anchor that repository sites make of a heading.</summary>
    private static string Anchor(string heading) => NotInAnchor().Replace(heading.Trim().ToLowerInvariant(), "").Replace(' ', '-');

    private static string WithoutCode(string text) => CodeBlock().Replace(text, "");

    [GeneratedRegex(@"\]\((?<target>[^)\s]+)\)")]
    private static partial Regex Link();

    [GeneratedRegex(@"^#+ (?<text>.+)$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    [GeneratedRegex(@"[^\w\- ]")]
    private static partial Regex NotInAnchor();

    [GeneratedRegex("^```.*?^```|`[^`\n]*`", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex CodeBlock();
}

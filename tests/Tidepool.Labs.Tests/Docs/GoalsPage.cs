using System.Text.RegularExpressions;

namespace Tidepool.Labs.Tests.Docs;

/// <summary>The reasons on the page of missed goals: a heading of level 3 names goals by their ids, and the text below says why.</summary>
internal static partial class GoalsPage
{
    /// <summary>Fewer characters than this say no reason; "cause not found" needs words of what was measured too.</summary>
    private const int ShortestReason = 60;

    /// <summary>The ids with the reason below their heading; an id that two headings name comes twice.</summary>
    public static IReadOnlyList<(string Id, string Reason)> ReasonsOf(string page) =>
    [
        .. from Match section in Section().Matches(page)
           from Match id in Code().Matches(section.Groups["heading"].Value)
           select (id.Groups["text"].Value, section.Groups["text"].Value.Trim())
    ];

    /// <summary>What is wrong with the reasons, each with what to do about it.</summary>
    public static IEnumerable<string> Problems(string page, IReadOnlyCollection<Verdict> verdicts)
    {
        var reasons = ReasonsOf(page).ToLookup(one => one.Id, one => one.Reason);
        string[] missed = IdsOf(verdicts, VerdictState.Fail);
        string[] open = [.. missed, .. IdsOf(verdicts, VerdictState.Unclear)];
        foreach (string id in missed.Where(id => !reasons.Contains(id)))
        {
            yield return $"`{id}` is missed: name it in a heading of level 3, and write below it what was measured, why it is missed and "
                + "what was tried. Where no page knows the cause, write \"cause not found\".";
        }

        foreach (var reason in reasons)
        {
            if (!open.Contains(reason.Key))
            {
                yield return $"`{reason.Key}` is not missed: take it out of its heading, and its reason out of the text.";
            }
            else if (reason.Count() > 1)
            {
                yield return $"`{reason.Key}` stands in {reason.Count()} headings: one reason is enough.";
            }
            else if (reason.Single().Length < ShortestReason)
            {
                yield return $"`{reason.Key}` has no reason below its heading.";
            }
        }
    }

    private static string[] IdsOf(IReadOnlyCollection<Verdict> verdicts, VerdictState state) =>
        [.. verdicts.Where(verdict => verdict.State == state).Select(verdict => verdict.Bar.Id).Distinct()];

    [GeneratedRegex(@"^### (?<heading>.*)$(?<text>(\n(?!#).*)*)", RegexOptions.Multiline | RegexOptions.ExplicitCapture)]
    private static partial Regex Section();

    [GeneratedRegex("`(?<text>[^`]+)`")]
    private static partial Regex Code();
}

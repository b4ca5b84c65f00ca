using System.Text;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis.Text;

namespace Tidepool.Analyzers.Tests.Harness;

/// <summary>Code in which <c>{|POOL001:text|}</c> marks where a rule is broken. Marks may be nested.</summary>
internal sealed partial record Markup(string Code, IReadOnlyList<(string Id, TextSpan Span)> Expected)
{
    public static Markup Parse(string text)
    {
        var code = new StringBuilder();
        var open = new Stack<(string Id, int Start)>();
        var expected = new List<(string, TextSpan)>();
        int at = 0;
        foreach (Match mark in Mark().Matches(text))
        {
            code.Append(text, at, mark.Index - at);
            at = mark.Index + mark.Length;
            if (mark.Groups["id"].Success)
            {
                open.Push((mark.Groups["id"].Value, code.Length));
            }
            else
            {
                (string id, int start) = open.Pop();
                expected.Add((id, TextSpan.FromBounds(start, code.Length)));
            }
        }

        code.Append(text, at, text.Length - at);
        return open.Count == 0
            ? new(code.ToString(), [.. expected.OrderBy(one => one.Item2.Start).ThenBy(one => one.Item1, StringComparer.Ordinal)])
            : throw new ArgumentException($"The mark {open.Peek().Id} at {open.Peek().Start} is not closed.", nameof(text));
    }

    [GeneratedRegex(@"\{\|(?<id>[A-Z]+\d+):|\|\}")]
    private static partial Regex Mark();
}

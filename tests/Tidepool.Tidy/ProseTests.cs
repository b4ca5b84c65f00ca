using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Tidepool.Tidy;

/// <summary>Comments, messages and pages read like plain English. Few patterns, each of which has a plainer wording.</summary>
public sealed partial class ProseTests
{
    /// <summary>Folders of code whose comments and messages are read, and the pages beside them.</summary>
    private static readonly string[] Folders = ["src/", "tests/", "bench/", "docs/"];

    private static readonly (Regex Pattern, string Say)[] Patterns =
    [
        (SubjectClause(), "a noun as the subject: \"a waiter closes ...\", not \"who waits closes ...\""),
        (Indefinite(), "the noun: caller, thread, renter; or turn the sentence round"),
        (Ended(), "closed, destroyed, stopped, or the active voice"),
        (ForEver(), "for good, or until when"),
        (TellsOf(), "reports, shows"),
        (LetsGo(), "frees, detaches, clears, gives up"),
        (OnOn(), "resumes on, goes on with"),
        (SameSummary(), "what it does, verb first: the reader sees one summary at a time"),
    ];

    [Fact]
    public void Prose_is_plain()
    {
        string[] files = [.. Repository.Under("", ".md").Concat(Repository.Under("", ".cs").Where(IsRead)).Concat(Repository.NativeCode)];
        Assert.True(files.Length > 300, $"only {files.Length} files are read");
        Problems.AssertNone(
            from file in files
            from line in Lines(file)
            from rule in Patterns
            let match = rule.Pattern.Match(line.text)
            where match.Success
            select $"{file}:{line.number}: {match.Value.Trim()}: say {rule.Say}",
            "Prose that can be said more plainly:");
    }

    [Theory]
    [InlineData("// Who waits closes the place.", true)]
    [InlineData("// It is closed. Whoever waits is served.", true)]
    [InlineData("// The lease of somebody else.", true)]
    [InlineData("// The session is ended.", true)]
    [InlineData("// Which thread? Who rented it?", false)]
    [InlineData("// The waiter, who closes the place, drains it.", false)]
    [InlineData("// A lease that has ended.", false)]
    [InlineData("/// <summary>The same on the calling thread.</summary>", true)]
    [InlineData("// The same thread returns it.", false)]
    public void A_pattern_finds_what_it_is_for_and_nothing_else(string comment, bool isFound) =>
        Assert.Equal(isFound, Patterns.Any(rule => rule.Pattern.IsMatch(comment)));

    private static bool IsRead(string file) =>
        Folders.Any(folder => file.StartsWith(folder, StringComparison.Ordinal)) && file != "tests/Tidepool.Tidy/ProseTests.cs";

    private static IEnumerable<(string text, int number)> Lines(string file) => Path.GetExtension(file) switch
    {
        ".md" => LinesOfPage(Repository.Read(file)),
        ".cs" => LinesOfCode(file),
        _ => LinesOfNativeCode(Repository.Read(file)),
    };

    /// <summary>The page without code, quoted output and what is generated; lines keep their numbers.</summary>
    private static IEnumerable<(string text, int number)> LinesOfPage(string page) =>
        NotProse().Replace(page, match => new string('\n', match.Value.Count(letter => letter == '\n')))
            .Split('\n').Select((text, index) => (text, index + 1));

    /// <summary>Comments, documentation and the texts of string literals.</summary>
    private static IEnumerable<(string text, int number)> LinesOfCode(string file)
    {
        SyntaxNode root = CSharpSyntaxTree.ParseText(Repository.Read(file), Core.ParseOptions).GetRoot();
        IEnumerable<(string text, int position)> texts =
        [
            .. from trivia in root.DescendantTrivia()
               where trivia.IsKind(SyntaxKind.SingleLineCommentTrivia) || trivia.IsKind(SyntaxKind.SingleLineDocumentationCommentTrivia)
               select (trivia.ToFullString(), trivia.FullSpan.Start),
            .. from token in root.DescendantTokens()
               where token.IsKind(SyntaxKind.StringLiteralToken) || token.IsKind(SyntaxKind.InterpolatedStringTextToken)
               select (token.Text, token.SpanStart),
        ];
        return from one in texts
               let first = root.SyntaxTree.GetLineSpan(new(one.position, 0)).StartLinePosition.Line + 1
               from line in one.text.Split('\n').Select((text, index) => (text, first + index))
               select line;
    }

    /// <summary>Comments and the texts of string literals, line by line.</summary>
    private static IEnumerable<(string text, int number)> LinesOfNativeCode(string text) =>
        from line in text.Split('\n').Select((text, index) => (text, number: index + 1))
        from Match part in NativeProse().Matches(line.text)
        select (part.Value, line.number);

    [GeneratedRegex("<!-- generated:.*?<!-- /generated -->|^ *```.*?^ *```|`[^`\n]*`", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex NotProse();

    [GeneratedRegex(@"//.*|^ \* .*|""(\\.|[^""\\])*""")]
    private static partial Regex NativeProse();

    /// <summary>A sentence that begins with Who or Whoever and is no question.</summary>
    [GeneratedRegex(@"(^(?!#)\W*(<summary>)?\W*|[.;:]\s+)(Who|Whoever)\s(?![^.]*\?)")]
    private static partial Regex SubjectClause();

    /// <summary>"nobody" is a user's name too, in quotation marks or code.</summary>
    [GeneratedRegex(@"(?<![""<>])\b(some|no|every)body\b(?![""<])|\b(who|whom)soever\b|\bwhoever\b", RegexOptions.IgnoreCase)]
    private static partial Regex Indefinite();

    [GeneratedRegex(@"\b(is|are|was|were|be|been|being) ended\b")]
    private static partial Regex Ended();

    [GeneratedRegex(@"\bfor ever\b")]
    private static partial Regex ForEver();

    [GeneratedRegex(@"\btells? of\b", RegexOptions.IgnoreCase)]
    private static partial Regex TellsOf();

    [GeneratedRegex(@"\blet(s|ting)? go of\b", RegexOptions.IgnoreCase)]
    private static partial Regex LetsGo();

    [GeneratedRegex(@"\bgo(es)? on on\b")]
    private static partial Regex OnOn();

    [GeneratedRegex(@"<summary>\s*The same\b")]
    private static partial Regex SameSummary();
}

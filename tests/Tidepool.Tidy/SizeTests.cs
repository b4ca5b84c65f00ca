using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>A line fits beside another one on a screen, and a function on one.</summary>
public sealed partial class SizeTests
{
    private const int LongestLine = 140;
    private const int LongestFunction = 70;

    /// <summary>Longer functions, by file and name. Take one out when it is split; add none.</summary>
    private static readonly string[] NotYetSplit =
    [
        "tests/Tidepool.Data.Tests/Faults/ChildParts.cs: RunOutOfFilesAsync",
        "tests/Tidepool.Data.Tests/Faults/ExhaustionFaults.cs: Of_22_openings_on_a_server_for_20_17_succeed_and_5_are_told_53300",
        "tests/Tidepool.Tests/Buffers/RentalWay.cs: All",
        "tests/Tidepool.Tests/Resources/SoakTests.cs: Soak",
        "tests/Tidepool.Tests/Streams/RandomComparisonTests.cs: A_million_operations_do_what_MemoryStream_does",
    ];

    [Fact]
    public void No_line_of_code_is_longer_than_140_characters() => Problems.AssertNone(
        from file in Repository.Under("", ".cs").Concat(Repository.NativeCode)
        from line in File.ReadLines(Repository.Path(file)).Select((text, index) => (text, number: index + 1))
        where line.text.Length > LongestLine
        select $"{file}:{line.number}: {line.text.Length} characters",
        $"Lines of more than {LongestLine} characters:");

    [Fact]
    public void No_line_of_a_paragraph_is_longer_than_140_characters() => Problems.AssertNone(
        from page in Repository.Under("", ".md")
        from line in Typed(page).Select((text, index) => (text, number: index + 1))
        where line.text.Length > LongestLine && !line.text.TrimStart().StartsWith('|')
        select $"{page}:{line.number}: {line.text.Length} characters",
        $"Lines of more than {LongestLine} characters outside of tables:");

    /// <summary>The lines of a page; empty ones in place of code and of what is generated.</summary>
    private static string[] Typed(string page) =>
        NotTyped().Replace(Repository.Read(page), match => new string('\n', match.Value.Count(letter => letter == '\n'))).Split('\n');

    [GeneratedRegex("<!-- generated:.*?<!-- /generated -->|^ *```.*?^ *```", RegexOptions.Singleline | RegexOptions.Multiline)]
    private static partial Regex NotTyped();

    [Fact]
    public void No_file_of_the_core_is_longer_than_450_lines() => Problems.AssertNone(
        from file in Repository.Under(Core.Folder, ".cs")
        let lines = Repository.Read(file).Count(static c => c == '\n')
        where lines > 450
        select $"{file}: {lines} lines",
        "Files with more than one subject:");

    [Fact]
    public void No_function_is_longer_than_70_lines()
    {
        ILookup<string, string> found = (
            from file in Repository.Under("", ".cs")
            from node in CSharpSyntaxTree.ParseText(Repository.Read(file), Core.ParseOptions).GetRoot().DescendantNodes()
            let name = NameOf(node)
            where name is not null
            let span = node.GetLocation().GetLineSpan()
            let lines = span.EndLinePosition.Line - span.StartLinePosition.Line + 1
            where lines > LongestFunction
            select (key: $"{file}: {name}", problem: $"{file}:{span.StartLinePosition.Line + 1}: {name} has {lines} lines"))
            .ToLookup(one => one.key, one => one.problem);
        Problems.AssertNone(
            [
                .. found.Where(group => !NotYetSplit.Contains(group.Key)).SelectMany(group => group),
                .. NotYetSplit.Where(one => !found.Contains(one)).Select(
                    one => $"{one} is within the limit: take it out of {nameof(NotYetSplit)}"),
            ],
            $"Functions of more than {LongestFunction} lines:");
    }

    private static string? NameOf(SyntaxNode node) => node switch
    {
        MethodDeclarationSyntax method => method.Identifier.Text,
        ConstructorDeclarationSyntax constructor => constructor.Identifier.Text,
        LocalFunctionStatementSyntax function => function.Identifier.Text,
        OperatorDeclarationSyntax declared => $"operator {declared.OperatorToken.Text}",
        _ => null,
    };
}

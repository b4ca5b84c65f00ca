using Microsoft.CodeAnalysis;

namespace Tidepool.Tidy;

/// <summary>The analyzer passes over a line that names nothing, so a slip of the pen would ban nothing.</summary>
public sealed class BannedSymbolsTests
{
    public static TheoryData<string> Lists() => [.. Repository.Under("eng/BannedSymbols", ".txt")];

    [Theory]
    [MemberData(nameof(Lists))]
    public void Every_line_names_a_symbol_that_exists_and_what_to_use_instead(string list)
    {
        Problems.AssertNone(
            from line in File.ReadLines(Repository.Path(list))
            let parts = line.Split(';', 2)
            where parts.Length < 2 || parts[1].Length == 0
                || DocumentationCommentId.GetFirstSymbolForDeclarationId(parts[0], Core.Compilation) is null
            select line,
            $"Lines of {list} that ban nothing, or do not say what to use instead:");
    }

    [Theory]
    [MemberData(nameof(Lists))]
    public void The_list_is_given_to_the_compiler(string list)
    {
        Assert.Contains(
            Repository.Files.Where(file => file.EndsWith(".targets", StringComparison.Ordinal)),
            file => Repository.Read(file).Contains($"/{Path.GetFileName(list)}\"", StringComparison.Ordinal)
                || Repository.Read(file).Contains($"){Path.GetFileName(list)}\"", StringComparison.Ordinal));
    }
}

using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Tidepool.Analyzers.Tests.Harness;
using Xunit.Abstractions;

namespace Tidepool.Analyzers.Tests;

/// <summary>
/// Correct code that looks like misuse. Each fixture names the cause for which a simpler analysis raises a false alarm; none may be
/// reported by any rule.
/// </summary>
public sealed class TrapTests(ITestOutputHelper output)
{
    private const int LeastTraps = 120;
    private const int LeastCauses = 40;

    private sealed record Trap(string File, string Name, string Cause, MemberDeclarationSyntax Member);

    private static readonly Trap[] Traps = [.. Sources.In("traps").SelectMany(Read)];

    private static readonly ConcurrentDictionary<string, ImmutableArray<Diagnostic>> Found = new();

    public static TheoryData<string, string> All()
    {
        var all = new TheoryData<string, string>();
        foreach (Trap trap in Traps)
        {
            all.Add(trap.File, trap.Name);
        }

        return all;
    }

    public static TheoryData<string> Files() => [.. Sources.In("traps")];

    [Theory]
    [MemberData(nameof(All))]
    public void No_rule_reports_a_trap(string file, string name)
    {
        Trap trap = Traps.Single(one => one.File == file && one.Name == name);
        string[] found = [.. In(file).Where(d => trap.Member.Span.Contains(d.Location.SourceSpan)).Select(Analysis.Describe)];
        Assert.True(found.Length == 0, $"{trap.Cause}:\n{string.Join('\n', found)}");
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void No_rule_reports_the_helpers_beside_the_traps(string file)
    {
        Trap[] traps = [.. Traps.Where(trap => trap.File == file)];
        Assert.Empty(In(file).Where(d => !traps.Any(trap => trap.Member.Span.Contains(d.Location.SourceSpan))).Select(Analysis.Describe));
    }

    [Fact]
    public void There_are_many_traps_with_many_causes()
    {
        int causes = Traps.Select(trap => trap.Cause).Distinct().Count();
        output.WriteLine($"{Traps.Length} traps, {causes} causes");
        Assert.True(Traps.Length >= LeastTraps, $"{Traps.Length} traps");
        Assert.True(causes >= LeastCauses, $"{causes} causes");
    }

    private static ImmutableArray<Diagnostic> In(string file) => Found.GetOrAdd(
        file, static one => [.. Analysis.Run(Sources.Read(one), one).Where(d => !d.IsSuppressed)]);

    private static IEnumerable<Trap> Read(string file) =>
        from member in CSharpSyntaxTree.ParseText(Sources.Read(file)).GetRoot().DescendantNodes().OfType<MemberDeclarationSyntax>()
        let cause = CauseOf(member)
        where cause is not null
        select new Trap(file, NameOf(member), cause, member);

    private static string NameOf(MemberDeclarationSyntax member) => member switch
    {
        MethodDeclarationSyntax method => method.Identifier.Text,
        BaseTypeDeclarationSyntax type => type.Identifier.Text,
        _ => throw new InvalidOperationException($"{member.GetType().Name} carries a trap."),
    };

    private static string? CauseOf(MemberDeclarationSyntax member) =>
        member.AttributeLists.SelectMany(list => list.Attributes)
            .Where(attribute => attribute.Name.ToString() == "Trap")
            .Select(attribute => ((LiteralExpressionSyntax)attribute.ArgumentList!.Arguments[0].Expression).Token.ValueText)
            .SingleOrDefault();
}

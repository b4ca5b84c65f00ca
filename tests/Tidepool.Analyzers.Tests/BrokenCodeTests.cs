using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;
using Tidepool.Analyzers.Tests.Harness;
using Xunit.Abstractions;

namespace Tidepool.Analyzers.Tests;

/// <summary>An editor hands over what is being typed: no text may make the analyzer fail.</summary>
public sealed class BrokenCodeTests(ITestOutputHelper output)
{
    [Fact]
    public void The_analyzer_survives_300_files_with_tokens_missing() => Survive(300, seed: 18);

    [Fact]
    [Trait("Category", "Slow")]
    public void The_analyzer_survives_10_000_files_with_tokens_missing() => Survive(10_000, seed: Random.Shared.Next());

    [Fact]
    public void Nothing_is_known_of_a_method_that_is_too_deep()
    {
        Assert.NotEmpty(Analysis.RunOnAny(Deep(terms: 2)));
        Assert.Empty(Analysis.RunOnAny(Deep(terms: 60_000)));
    }

    private static CSharpCompilation Deep(int terms) => Analysis.Compile(
        $$"""
        internal static class Deep
        {
            public static int M(byte[] array, int n)
            {
                ArrayPool<byte>.Shared.Return(array);
                ArrayPool<byte>.Shared.Return(array);
                return {{string.Join(" + ", Enumerable.Repeat("n", terms))}};
            }
        }
        """);

    private void Survive(int files, int seed)
    {
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        SyntaxTree[] whole =
            [.. Sources.In("traps").Concat(Sources.In("seeds")).Select(name => CSharpSyntaxTree.ParseText(Sources.Read(name)))];
        int broken = 0;
        int reported = 0;
        for (int i = 0; i < files; i++)
        {
            string code = WithoutTokens(Part(whole[random.Next(whole.Length)], random), random);
            CSharpCompilation compilation = Analysis.Compile(code);
            broken += compilation.GetDiagnostics().Any(d => d.Severity == DiagnosticSeverity.Error) ? 1 : 0;
            try
            {
                reported += Analysis.RunOnAny(compilation).Length;
            }
            catch (Exception error)
            {
                Assert.Fail($"seed {seed}, file {i}: {error}\n{code}");
            }
        }

        output.WriteLine($"{files} files, {broken} with errors of the compiler, {reported} findings");
        Assert.True(broken > files / 2, $"only {broken} of {files} files are broken");
    }

    /// <summary>One member of the file, so that each run is short and each member gets its turn.</summary>
    private static string Part(SyntaxTree tree, Random random)
    {
        var types = tree.GetRoot().DescendantNodes().OfType<TypeDeclarationSyntax>().ToArray();
        var type = types[random.Next(types.Length)];
        if (type.Members.Count < 2)
        {
            return tree.ToString();
        }

        var kept = type.Members[random.Next(type.Members.Count)];
        return tree.GetRoot().RemoveNodes(
            type.Members.Where(member => member != kept && member is MethodDeclarationSyntax),
            SyntaxRemoveOptions.KeepNoTrivia)!.ToFullString();
    }

    private static string WithoutTokens(string code, Random random)
    {
        SyntaxToken[] tokens = [.. CSharpSyntaxTree.ParseText(code).GetRoot().DescendantTokens().Where(token => token.Span.Length > 0)];
        int count = 1 + random.Next(12);
        TextChange[] deletions =
        [
            .. Enumerable.Range(0, count).Select(_ => tokens[random.Next(tokens.Length)]).Distinct()
                .OrderBy(token => token.SpanStart).Select(token => new TextChange(token.Span, "")),
        ];
        return SourceText.From(code).WithChanges(deletions).ToString();
    }
}

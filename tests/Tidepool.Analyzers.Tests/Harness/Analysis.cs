using System.Collections.Concurrent;
using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace Tidepool.Analyzers.Tests.Harness;

/// <summary>Runs the analyzer on a text, as the compiler does.</summary>
internal static class Analysis
{
    private static readonly CSharpParseOptions ParseOptions = new(LanguageVersion.Preview);

    private static readonly CSharpCompilationOptions CompilationOptions =
        new(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true, nullableContextOptions: NullableContextOptions.Enable);

    /// <summary>Shared by all compilations, so that each test does not read the platform again.</summary>
    private static readonly CSharpCompilation Empty = CSharpCompilation.Create(
        "Fixture", [CSharpSyntaxTree.ParseText(Sources.Prelude, ParseOptions, "Prelude.cs")], Sources.References, CompilationOptions);

    public static CSharpCompilation Compile(string code, string path = "Fixture.cs") =>
        Empty.AddSyntaxTrees(CSharpSyntaxTree.ParseText(code, ParseOptions, path));

    /// <summary>What the analyzer reports by default, in the order of the text. Code that does not compile fails the test.</summary>
    public static ImmutableArray<Diagnostic> Run(string code, string path = "Fixture.cs") =>
        [.. RunWithHidden(code, path).Where(d => d.Severity > DiagnosticSeverity.Hidden)];

    /// <summary>What the analyzer reports, with the findings that only an editor shows.</summary>
    public static ImmutableArray<Diagnostic> RunWithHidden(string code, string path = "Fixture.cs")
    {
        CSharpCompilation compilation = Compile(code, path);
        Diagnostic[] errors = [.. compilation.GetDiagnostics().Where(d => d.Severity == DiagnosticSeverity.Error)];
        Assert.True(errors.Length == 0, $"{path} does not compile:\n{string.Join('\n', errors.Select(d => d.ToString()))}\n{code}");
        return All(compilation);
    }

    /// <summary>Runs the analyzer on code that need not compile. An exception of the analyzer fails the test.</summary>
    public static ImmutableArray<Diagnostic> RunOnAny(CSharpCompilation compilation) =>
        [.. All(compilation).Where(d => d.Severity > DiagnosticSeverity.Hidden)];

    private static ImmutableArray<Diagnostic> All(CSharpCompilation compilation)
    {
        var failures = new ConcurrentQueue<Exception>();
        var options = new CompilationWithAnalyzersOptions(
            new AnalyzerOptions([]),
            onAnalyzerException: (error, _, _) => failures.Enqueue(error),
            concurrentAnalysis: false,
            logAnalyzerExecutionTime: false,
            reportSuppressedDiagnostics: false,
            analyzerExceptionFilter: null);
        ImmutableArray<Diagnostic> found = new CompilationWithAnalyzers(compilation, [new PoolMisuseAnalyzer()], options)
            .GetAnalyzerDiagnosticsAsync().GetAwaiter().GetResult();
        Assert.True(failures.IsEmpty, $"The analyzer failed: {failures.FirstOrDefault()}");
        return [.. found.OrderBy(d => d.Location.SourceSpan.Start).ThenBy(d => d.Id)];
    }

    /// <summary>Asserts that the rules fire at the marks and nowhere else.</summary>
    public static void Verify(string markup)
    {
        Markup expected = Markup.Parse(markup);
        ImmutableArray<Diagnostic> found = Run(expected.Code);
        string[] wanted = [.. expected.Expected.Select(one => $"{one.Id}: {expected.Code.Substring(one.Span.Start, one.Span.Length)}")];
        string[] reported =
            [.. from d in found let span = d.Location.SourceSpan select $"{d.Id}: {expected.Code.Substring(span.Start, span.Length)}"];
        Assert.Equal(wanted, reported);
        Assert.Equal(expected.Expected.Select(one => one.Span), found.Select(d => d.Location.SourceSpan));
    }

    /// <summary>One line for a message of a test.</summary>
    public static string Describe(Diagnostic found)
    {
        FileLinePositionSpan place = found.Location.GetLineSpan();
        return $"{place.Path}:{place.StartLinePosition.Line + 1}: {found.Id} {found.GetMessage(null)}";
    }
}

using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>One C# block of a page, with the output that the page promises for it.</summary>
internal sealed partial record DocCode(string Page, int Line, string Code, string? Output)
{
    /// <summary>
    /// All blocks of README.md, the packages' pages and the pages in docs/ that are whole programs. Excerpts of docs/samples/ are
    /// compiled and run with those; examples of rules by tests/Tidepool.Analyzers.Tests, as half of them are wrong.
    /// </summary>
    public static IEnumerable<DocCode> All() =>
        from page in Repository.Under("", ".md")
        where page == "README.md"
            || page.EndsWith("/PACKAGE.md", StringComparison.Ordinal)
            || page.StartsWith("docs/", StringComparison.Ordinal)
        where !page.StartsWith("docs/rules/", StringComparison.Ordinal)
        from block in Read(page)
        where !IsExcerpt(block.Code)
        select block;

    private static readonly Lazy<string[]> Samples = new(
        () => [.. Repository.Under("docs/samples/", ".cs").Select(Repository.Read).Select(Unindent)]);

    /// <summary>The examples in the XML documentation of public types.</summary>
    public static IEnumerable<DocCode> Examples() =>
        from type in Core.AllTypes
        where Core.IsVisible(type)
        let comment = type.GetDocumentationCommentXml()
        where comment?.Contains("<example>", StringComparison.Ordinal) == true
        from code in XDocument.Parse(comment).Descendants("example").Descendants("code")
        let name = type.ToDisplayString(SymbolDisplayFormat.MinimallyQualifiedFormat)
        select new DocCode(name, 1, "using Tidepool;\n" + Dedent(code.Value), null);

    /// <summary>The compiler leaves the indentation that all lines of a comment share.</summary>
    private static string Dedent(string code)
    {
        string[] lines = [.. code.Trim('\n').Split('\n').Select(line => line.TrimEnd())];
        int shared = lines.Where(line => line.Length > 0).Min(line => line.Length - line.TrimStart().Length);
        return string.Join('\n', lines.Select(line => line.Length == 0 ? line : line[shared..])) + "\n";
    }

    /// <summary>Whether the lines follow each other in a sample, at whatever indentation.</summary>
    private static bool IsExcerpt(string code) => Samples.Value.Any(sample => sample.Contains(Unindent(code), StringComparison.Ordinal));

    private static string Unindent(string code) => "\n" + string.Join('\n', code.Split('\n').Select(line => line.Trim()));

    private static IEnumerable<DocCode> Read(string page)
    {
        string text = Repository.Read(page);
        return from Match match in Block().Matches(text)
               let line = text.AsSpan(0, match.Index).Count('\n') + 1
               select new DocCode(
                   page,
                   line,
                   match.Groups["code"].Value,
                   match.Groups["output"].Success ? match.Groups["output"].Value : null);
    }

    /// <summary>Whether the block uses the native library.</summary>
    public bool IsNative => Code.Contains("Native", StringComparison.Ordinal);

    /// <summary>Compiles the block with the usual implicit usings: as a console program, or as a library when it has types only.</summary>
    public byte[] Compile()
    {
        IEnumerable<MetadataReference> references =
        [
            .. Core.PlatformReferences,
            MetadataReference.CreateFromFile(typeof(BufferPool<>).Assembly.Location),
            MetadataReference.CreateFromFile(typeof(TidepoolNative).Assembly.Location),
        ];
        SyntaxTree code = CSharpSyntaxTree.ParseText(Code, Core.ParseOptions);
        bool isProgram = code.GetRoot().ChildNodes().Any(node => node is GlobalStatementSyntax);
        var options = new CSharpCompilationOptions(
            isProgram ? OutputKind.ConsoleApplication : OutputKind.DynamicallyLinkedLibrary,
            nullableContextOptions: NullableContextOptions.Enable);
        CSharpCompilation compilation = CSharpCompilation.Create($"Block{Line}", [Core.GlobalUsings, code], references, options);
        using var assembly = new MemoryStream();
        IEnumerable<Diagnostic> problems = compilation.Emit(assembly).Diagnostics.Where(d => d.Severity >= DiagnosticSeverity.Warning);
        Problems.AssertNone(problems.Select(d => d.ToString()), $"The block at {Page}:{Line} does not compile without warnings:");
        return assembly.ToArray();
    }

    /// <summary>Runs the block and gives what it printed.</summary>
    public string Run()
    {
        MethodInfo entry = Assembly.Load(Compile()).EntryPoint!;
        TextWriter console = Console.Out;
        using var printed = new StringWriter(new StringBuilder()) { NewLine = "\n" };
        Console.SetOut(printed);
        try
        {
            Task program = Task.Run(() => entry.Invoke(null, entry.GetParameters().Length == 0 ? null : [Array.Empty<string>()]));
            Assert.True(program.Wait(TimeSpan.FromMinutes(1)), $"The block at {Page}:{Line} did not end within a minute.");
        }
        finally
        {
            Console.SetOut(console);
        }
        return printed.ToString();
    }

    [GeneratedRegex("^```csharp\n(?<code>.*?)^```$(\n\n```output\n(?<output>.*?)^```$)?", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Block();
}

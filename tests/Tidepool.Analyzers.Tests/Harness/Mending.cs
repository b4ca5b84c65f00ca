using System.Collections.Immutable;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeActions;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.Text;
using Tidepool.CodeFixes;

namespace Tidepool.Analyzers.Tests.Harness;

/// <summary>Applies a code fix as an editor does, one finding or all.</summary>
internal static class Mending
{
    /// <summary>
    /// Asserts what the fix makes of the marked code: with LF and with CRLF, by one action and by all, to a text that compiles and in
    /// which nothing is left to mend.
    /// </summary>
    public static void Verify(PoolFixProvider fix, string markup, string mended)
    {
        Analysis.Verify(markup);
        foreach (string end in new[] { "\n", "\r\n" })
        {
            Markup before = Markup.Parse(markup.ReplaceLineEndings(end));
            string after = mended.ReplaceLineEndings(end);
            string all = All(fix, before.Code);
            Assert.Equal(after, all);
            if (before.Expected.Count == 1)
            {
                Assert.Equal(after, One(fix, before.Code));
            }

            Assert.Empty(Analysis.Run(all).Where(d => fix.FixableDiagnosticIds.Contains(d.Id)).Select(Analysis.Describe));
            Assert.Equal(all, All(fix, all));
        }
    }

    /// <summary>Asserts that the rule reports the marked code and that the fix offers nothing for it.</summary>
    public static void VerifyNoOffer(PoolFixProvider fix, string markup)
    {
        Analysis.Verify(markup);
        string code = Markup.Parse(markup).Code;
        Document document = DocumentOf(code);
        Assert.Empty(Found(fix, code, document).SelectMany(one => Actions(fix, document, one)));
        Assert.Equal(code, All(fix, code));
    }

    private static string One(PoolFixProvider fix, string code)
    {
        Document document = DocumentOf(code);
        CodeAction action = Assert.Single(Actions(fix, document, Assert.Single(Found(fix, code, document))));
        Assert.NotEmpty(action.Title);
        return TextAfter(action, document);
    }

    private static string All(PoolFixProvider fix, string code)
    {
        Document document = DocumentOf(code);
        ImmutableArray<Diagnostic> found = Found(fix, code, document);
        if (found.IsEmpty)
        {
            return code;
        }

        var context = new FixAllContext(
            document, fix, FixAllScope.Document, fix.GetType().Name, fix.FixableDiagnosticIds, new Given(found), default);
        CodeAction? action = fix.GetFixAllProvider()!.GetFixAsync(context).GetAwaiter().GetResult();
        return action is null ? code : TextAfter(action, document);
    }

    private static ImmutableArray<Diagnostic> Found(PoolFixProvider fix, string code, Document document)
    {
        SyntaxTree tree = document.GetSyntaxTreeAsync().GetAwaiter().GetResult()!;
        return
        [
            .. from one in Analysis.RunWithHidden(code)
               where fix.FixableDiagnosticIds.Contains(one.Id)
               select Diagnostic.Create(
                   one.Descriptor, Location.Create(tree, one.Location.SourceSpan), additionalLocations: null, one.Properties),
        ];
    }

    private static List<CodeAction> Actions(PoolFixProvider fix, Document document, Diagnostic found)
    {
        var actions = new List<CodeAction>();
        fix.RegisterCodeFixesAsync(new CodeFixContext(document, found, (action, _) => actions.Add(action), default))
            .GetAwaiter().GetResult();
        return actions;
    }

    private static string TextAfter(CodeAction action, Document document)
    {
        ApplyChangesOperation applied = Assert.Single(
            action.GetOperationsAsync(default).GetAwaiter().GetResult().OfType<ApplyChangesOperation>());
        SourceText text = applied.ChangedSolution.GetDocument(document.Id)!.GetTextAsync().GetAwaiter().GetResult();
        return text.ToString();
    }

    private static Document DocumentOf(string code)
    {
        Microsoft.CodeAnalysis.CSharp.CSharpCompilation like = Analysis.Compile(code);
        var workspace = new AdhocWorkspace();
        Project project = workspace.AddProject(
            ProjectInfo.Create(
                ProjectId.CreateNewId(),
                VersionStamp.Default,
                "Fixture",
                "Fixture",
                LanguageNames.CSharp,
                compilationOptions: like.Options,
                parseOptions: like.SyntaxTrees[0].Options,
                metadataReferences: like.References));
        project = project.AddDocument("Prelude.cs", SourceText.From(Sources.Prelude)).Project;
        return project.AddDocument("Fixture.cs", SourceText.From(code));
    }

    private sealed class Given(ImmutableArray<Diagnostic> found) : FixAllContext.DiagnosticProvider
    {
        public override Task<IEnumerable<Diagnostic>> GetAllDiagnosticsAsync(Project project, CancellationToken cancellationToken) =>
            Task.FromResult<IEnumerable<Diagnostic>>(found);

        public override Task<IEnumerable<Diagnostic>> GetDocumentDiagnosticsAsync(Document document, CancellationToken cancellationToken) =>
            Task.FromResult<IEnumerable<Diagnostic>>(found);

        public override Task<IEnumerable<Diagnostic>> GetProjectDiagnosticsAsync(Project project, CancellationToken cancellationToken) =>
            Task.FromResult<IEnumerable<Diagnostic>>([]);
    }
}

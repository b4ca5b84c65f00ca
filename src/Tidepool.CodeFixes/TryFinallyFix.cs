using System.Collections.Immutable;
using System.Composition;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Tidepool.CodeFixes;

/// <summary>Puts the statements behind a rental into <c>try</c>, and the return into <c>finally</c>.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(TryFinallyFix))]
[Shared]
public sealed class TryFinallyFix : PoolFixProvider
{
    private static readonly Dictionary<string, string> s_returns = new()
    {
        ["Rent"] = "Return",
        ["Get"] = "Return",
        ["RentRaw"] = "ReturnRaw",
    };

    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds => ["POOL004"];

    /// <inheritdoc/>
    protected override string Title => "Return in finally";

    /// <inheritdoc/>
    protected override async Task<Document?> MendAsync(Document document, int place, CancellationToken cancellationToken)
    {
        SyntaxNode? root = await document.GetSyntaxRootAsync(cancellationToken).ConfigureAwait(false);
        if (root is null
            || Rental.Find(root, place) is not { Pool: { } pool, Method: { } method, IsReplaced: false, IsShownOutside: false } rental
            || !s_returns.TryGetValue(method, out string? giveBack)
            || !CanBeWrapped(rental))
        {
            return null;
        }

        SourceText text = await document.GetTextAsync(cancellationToken).ConfigureAwait(false);
        var lines = new BlockLines(text, rental.Block, rental.Statement);
        return lines.AreApart
            ? document.WithText(text.WithChanges(Changes(text, root, lines, $"{pool}.{giveBack}({rental.NameAsWritten});")))
            : null;
    }

    private static bool CanBeWrapped(Rental rental)
    {
        SyntaxList<StatementSyntax> rest = rental.Rest;
        if (rest.Count == 0 || rest.Any(static one => one is LabeledStatementSyntax))
        {
            return false;
        }

        // A function that is declared in the block can be called in front of its declaration, but not from outside of a try around it.
        string[] functions = [.. rest.OfType<LocalFunctionStatementSyntax>().Select(static one => one.Identifier.ValueText)];
        return functions.Length == 0 || !rental.Block.DescendantNodes().OfType<IdentifierNameSyntax>().Any(
            one => one.SpanStart < rental.Statement.Span.End && functions.Contains(one.Identifier.ValueText));
    }

    private static IEnumerable<TextChange> Changes(SourceText text, SyntaxNode root, BlockLines lines, string giveBack)
    {
        (string indent, string step, string end) = (lines.Indent, lines.Step, lines.LineEnd);
        yield return Insert(text.Lines[lines.First].Start, $"{indent}try{end}{indent}{{{end}");
        for (int i = lines.First; i < lines.Close; i++)
        {
            TextLine line = text.Lines[i];
            if (!string.IsNullOrWhiteSpace(line.ToString()) && IsLayout(root, line.Start))
            {
                yield return Insert(line.Start, step);
            }
        }

        yield return Insert(
            text.Lines[lines.Close].Start,
            $"{indent}}}{end}{indent}finally{end}{indent}{{{end}{indent}{step}{giveBack}{end}{indent}}}{end}");
    }

    private static TextChange Insert(int at, string text) => new(new TextSpan(at, 0), text);

    /// <summary>Whether spaces at the place are only layout: not inside of a text, a comment or code that is switched off.</summary>
    private static bool IsLayout(SyntaxNode root, int at)
    {
        SyntaxToken token = root.FindToken(at);
        SyntaxNode? text = token.Parent?.FirstAncestorOrSelf<InterpolatedStringExpressionSyntax>();
        if ((token.SpanStart < at && at < token.Span.End) || text?.SpanStart < at)
        {
            return false;
        }

        SyntaxTrivia trivia = root.FindTrivia(at);
        return !trivia.IsKind(SyntaxKind.DisabledTextTrivia)
            && !(trivia.IsKind(SyntaxKind.MultiLineCommentTrivia) && trivia.SpanStart < at);
    }
}

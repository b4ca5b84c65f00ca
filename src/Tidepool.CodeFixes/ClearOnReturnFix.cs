using System.Collections.Immutable;
using System.Composition;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Tidepool.CodeFixes;

/// <summary>Passes <c>clearArray: true</c> to a return.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(ClearOnReturnFix))]
[Shared]
public sealed class ClearOnReturnFix : PoolFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds => ["POOL010"];

    /// <inheritdoc/>
    protected override string Title => "Clear the array: clearArray: true";

    /// <inheritdoc/>
    protected override async Task<Document?> MendAsync(Document document, int place, CancellationToken cancellationToken)
    {
        SyntaxNode? root = await document.GetSyntaxRootAsync(cancellationToken).ConfigureAwait(false);
        InvocationExpressionSyntax? call = root?.FindToken(place).Parent?.AncestorsAndSelf().OfType<InvocationExpressionSyntax>()
            .FirstOrDefault(static one => one.Expression is MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Return" });
        if (call is null || call.ArgumentList.Arguments.Count == 0)
        {
            return null;
        }

        SeparatedSyntaxList<ArgumentSyntax> arguments = call.ArgumentList.Arguments;
        ArgumentSyntax? given = arguments.FirstOrDefault(static one => one.NameColon?.Name.Identifier.ValueText == "clearArray")
            ?? arguments.Skip(1).FirstOrDefault(static one => one.NameColon is null);
        TextChange change = given is null
            ? new(new TextSpan(arguments.Last().Span.End, 0), ", clearArray: true")
            : new(given.Expression.Span, "true");
        if (given is not null && !given.Expression.IsKind(SyntaxKind.FalseLiteralExpression))
        {
            return null;
        }

        SourceText text = await document.GetTextAsync(cancellationToken).ConfigureAwait(false);
        return document.WithText(text.WithChanges(change));
    }
}

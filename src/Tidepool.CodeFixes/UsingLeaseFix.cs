using System.Collections.Immutable;
using System.Composition;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Tidepool.CodeFixes;

/// <summary>Turns the declaration of a lease into a <c>using</c> declaration, or <c>await using</c> where only that exists.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(UsingLeaseFix))]
[Shared]
public sealed class UsingLeaseFix : PoolFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds => ["POOL003"];

    /// <inheritdoc/>
    protected override string Title => "Dispose at the end of the block: using";

    /// <inheritdoc/>
    protected override async Task<Document?> MendAsync(Document document, int place, CancellationToken cancellationToken)
    {
        SyntaxNode? root = await document.GetSyntaxRootAsync(cancellationToken).ConfigureAwait(false);
        SemanticModel? model = await document.GetSemanticModelAsync(cancellationToken).ConfigureAwait(false);
        if (root is null || model is null || Rental.Find(root, place) is not { IsReplaced: false, IsShownOutside: false } rental)
        {
            return null;
        }

        ITypeSymbol? type = (model.GetDeclaredSymbol(rental.Statement.Declaration.Variables[0], cancellationToken) as ILocalSymbol)?.Type;
        string? keyword = Has(type, "Dispose") ? "using " : Has(type, "DisposeAsync") && IsAsync(rental.Statement) ? "await using " : null;
        if (keyword is null)
        {
            return null;
        }

        SourceText text = await document.GetTextAsync(cancellationToken).ConfigureAwait(false);
        return document.WithText(text.WithChanges(new TextChange(new TextSpan(rental.Statement.SpanStart, 0), keyword)));
    }

    private static bool Has(ITypeSymbol? type, string method)
    {
        for (ITypeSymbol? one = type; one is not null; one = one.BaseType)
        {
            if (one.GetMembers(method).OfType<IMethodSymbol>().Any(
                member => member.Parameters.IsEmpty && member.DeclaredAccessibility == Accessibility.Public))
            {
                return true;
            }
        }

        return type is not null && type.AllInterfaces.Any(one => !one.GetMembers(method).IsEmpty);
    }

    /// <summary>Whether the function around the statement may await.</summary>
    private static bool IsAsync(SyntaxNode statement)
    {
        foreach (SyntaxNode one in statement.Ancestors())
        {
            switch (one)
            {
                case MethodDeclarationSyntax method:
                    return method.Modifiers.Any(SyntaxKind.AsyncKeyword);
                case LocalFunctionStatementSyntax function:
                    return function.Modifiers.Any(SyntaxKind.AsyncKeyword);
                case AnonymousFunctionExpressionSyntax lambda:
                    return !lambda.AsyncKeyword.IsKind(SyntaxKind.None);
                case AccessorDeclarationSyntax or BaseMethodDeclarationSyntax:
                    return false;
            }
        }

        return false;
    }
}

using System.Collections.Immutable;
using System.Composition;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CodeFixes;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Tidepool.CodeFixes;

/// <summary>Uses the elements that were asked for: <c>array.AsSpan(0, n)</c>, or memory or a segment where a span does not fit.</summary>
[ExportCodeFixProvider(LanguageNames.CSharp, Name = nameof(RequestedLengthFix))]
[Shared]
public sealed class RequestedLengthFix : PoolFixProvider
{
    /// <inheritdoc/>
    public override ImmutableArray<string> FixableDiagnosticIds => ["POOL008"];

    /// <inheritdoc/>
    protected override string Title => "Use the requested length";

    /// <inheritdoc/>
    protected override async Task<Document?> MendAsync(Document document, int place, CancellationToken cancellationToken)
    {
        SyntaxNode? root = await document.GetSyntaxRootAsync(cancellationToken).ConfigureAwait(false);
        SemanticModel? model = await document.GetSemanticModelAsync(cancellationToken).ConfigureAwait(false);
        if (root?.FindToken(place).Parent is not IdentifierNameSyntax array || model is null || LengthOf(array, model) is not { } length)
        {
            return null;
        }

        SourceText text = await document.GetTextAsync(cancellationToken).ConfigureAwait(false);
        foreach (TextChange change in Candidates(array, length))
        {
            Document changed = document.WithText(text.WithChanges(change));
            if (await FitsAsync(changed, array, cancellationToken).ConfigureAwait(false))
            {
                return changed;
            }
        }

        return null;
    }

    private static IEnumerable<TextChange> Candidates(IdentifierNameSyntax array, string length)
    {
        string name = array.Identifier.Text;
        if (array.Parent is MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Length" } whole && whole.Expression == array)
        {
            yield return new(whole.Span, length);
            yield break;
        }

        if (array.Parent is MemberAccessExpressionSyntax member && member.Expression == array
            && member.Name.Identifier.ValueText is "AsSpan" or "AsMemory"
            && member.Parent is InvocationExpressionSyntax { ArgumentList.Arguments.Count: 0 } call)
        {
            yield return new(call.ArgumentList.Span, $"(0, {length})");
            yield break;
        }

        yield return new(array.Span, $"{name}.AsSpan(0, {length})");
        yield return new(array.Span, $"{name}.AsMemory(0, {length})");
        yield return new(array.Span, $"{name}.Take({length})");
    }

    /// <summary>Whether the member around the place compiles.</summary>
    private static async Task<bool> FitsAsync(Document changed, IdentifierNameSyntax array, CancellationToken cancellationToken)
    {
        SemanticModel? model = await changed.GetSemanticModelAsync(cancellationToken).ConfigureAwait(false);
        SyntaxNode? root = await changed.GetSyntaxRootAsync(cancellationToken).ConfigureAwait(false);
        SyntaxNode? statement = root?.FindToken(array.SpanStart).Parent?.FirstAncestorOrSelf<StatementSyntax>();
        return model is not null && statement is not null
            && !model.GetDiagnostics(statement.Span, cancellationToken).Any(static one => one.Severity == DiagnosticSeverity.Error);
    }

    /// <summary>The text of the requested length, when it has the same value everywhere in the member; else null.</summary>
    private static string? LengthOf(IdentifierNameSyntax array, SemanticModel model)
    {
        SyntaxNode? member = array.Ancestors().FirstOrDefault(
            static one => one is BaseMethodDeclarationSyntax or LocalFunctionStatementSyntax or AccessorDeclarationSyntax
                or AnonymousFunctionExpressionSyntax or GlobalStatementSyntax);
        member = member is GlobalStatementSyntax ? member.Parent : member;
        VariableDeclaratorSyntax? local = member?.DescendantNodes().OfType<VariableDeclaratorSyntax>()
            .FirstOrDefault(one => one.Identifier.ValueText == array.Identifier.ValueText);
        return local?.Initializer?.Value is InvocationExpressionSyntax
        {
            Expression: MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Rent" },
            ArgumentList.Arguments: { Count: 1 } arguments,
        } && !Rental.IsWritten(member!, array.Identifier.ValueText) && IsStable(arguments[0].Expression, member!, model)
            ? arguments[0].Expression.ToString()
            : null;
    }

    /// <summary>A field or property may have another value at each read; locals, parameters and the length of an array have not.</summary>
    private static bool IsStable(ExpressionSyntax length, SyntaxNode member, SemanticModel model) => length switch
    {
        _ when model.GetConstantValue(length).HasValue => true,
        IdentifierNameSyntax name => IsVariable(model.GetSymbolInfo(name).Symbol) && !Rental.IsWritten(member, name.Identifier.ValueText),
        MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Length", Expression: { } of } =>
            model.GetTypeInfo(of).Type is IArrayTypeSymbol && IsStable(of, member, model),
        BinaryExpressionSyntax sum => IsStable(sum.Left, member, model) && IsStable(sum.Right, member, model),
        ParenthesizedExpressionSyntax inner => IsStable(inner.Expression, member, model),
        SizeOfExpressionSyntax => true,
        _ => false,
    };

    private static bool IsVariable(ISymbol? symbol) =>
        symbol is ILocalSymbol { RefKind: RefKind.None } or IParameterSymbol { RefKind: RefKind.None };
}

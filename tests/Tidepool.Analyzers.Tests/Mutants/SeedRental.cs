using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Analyzers.Tests.Mutants;

/// <summary>What a seed rents, under the names of its locals.</summary>
internal sealed class SeedRental
{
    private readonly MethodDeclarationSyntax _method;
    private readonly HashSet<string> _views;

    public SeedRental(MethodDeclarationSyntax method, string[] names, ITypeSymbol type, ExpressionSyntax call)
    {
        _method = method;
        Names = [.. names];
        Call = (InvocationExpressionSyntax)call;
        IsArray = type is IArrayTypeSymbol;
        IsRaw = IsArray || (!type.AllInterfaces.Any(one => one.Name == "IDisposable") && type.Name != "IMemoryOwner");
        IsBytes = type is IArrayTypeSymbol { ElementType.SpecialType: SpecialType.System_Byte };
        Returns = [.. method.DescendantNodes().OfType<ExpressionStatementSyntax>().Where(IsReturn)];
        Using = method.DescendantNodes().OfType<LocalDeclarationStatementSyntax>().SingleOrDefault(
            one => one.UsingKeyword.IsKind(SyntaxKind.UsingKeyword) && Names.Contains(one.Declaration.Variables[0].Identifier.ValueText));
        _views = FindViews();
    }

    public HashSet<string> Names { get; }

    /// <summary>The call that rents it; the last one of several.</summary>
    public InvocationExpressionSyntax Call { get; }

    public bool IsArray { get; }

    /// <summary>Whether it carries no ticket: an array or a plain object.</summary>
    public bool IsRaw { get; }

    public bool IsBytes { get; }

    public IReadOnlyList<ExpressionStatementSyntax> Returns { get; }

    /// <summary>The declaration that disposes it, if any.</summary>
    public LocalDeclarationStatementSyntax? Using { get; }

    public bool IsCaptured => _method.DescendantNodes().Any(
        node => node is AnonymousFunctionExpressionSyntax or LocalFunctionStatementSyntax
            && node.DescendantNodes().OfType<IdentifierNameSyntax>().Any(one => Names.Contains(one.Identifier.ValueText)));

    /// <summary>Whether the node reads or writes the rented content, directly or by a span or memory taken from it.</summary>
    public bool IsUsedIn(SyntaxNode node) => node.DescendantNodes().OfType<IdentifierNameSyntax>().Any(
        one => Names.Contains(one.Identifier.ValueText) || _views.Contains(one.Identifier.ValueText));

    public bool IsAssignedIn(SyntaxNode node) =>
        node.DescendantNodesAndSelf().OfType<AssignmentExpressionSyntax>().Any(
            one => one.Left is IdentifierNameSyntax left
                && (Names.Contains(left.Identifier.ValueText) || _views.Contains(left.Identifier.ValueText)))
        || node.DescendantNodesAndSelf().OfType<VariableDeclaratorSyntax>().Any(one => Names.Contains(one.Identifier.ValueText));

    private bool IsReturn(ExpressionStatementSyntax statement) => statement.Expression switch
    {
        InvocationExpressionSyntax
        {
            Expression: MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Return" or "ReturnRaw" },
            ArgumentList.Arguments: [{ Expression: IdentifierNameSyntax given }, ..],
        } => Names.Contains(given.Identifier.ValueText),
        InvocationExpressionSyntax
        {
            Expression: MemberAccessExpressionSyntax
            {
                Name.Identifier.ValueText: "Return" or "Dispose",
                Expression: IdentifierNameSyntax lease,
            },
        } => Names.Contains(lease.Identifier.ValueText),
        _ => false,
    };

    private HashSet<string> FindViews()
    {
        HashSet<string> views = [];
        foreach (VariableDeclaratorSyntax local in _method.DescendantNodes().OfType<VariableDeclaratorSyntax>())
        {
            string type = ((VariableDeclarationSyntax)local.Parent!).Type.ToString();
            bool isView = type.Contains("Span<", StringComparison.Ordinal) || type.Contains("Memory<", StringComparison.Ordinal);
            if (isView && local.Initializer is { } value && value.DescendantNodes().OfType<IdentifierNameSyntax>().Any(
                one => Names.Contains(one.Identifier.ValueText) || views.Contains(one.Identifier.ValueText)))
            {
                views.Add(local.Identifier.ValueText);
            }
        }

        return views;
    }
}

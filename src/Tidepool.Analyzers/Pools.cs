using System.Collections.Concurrent;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>Which pool an expression names, where its declaration proves that it is a pool of its own.</summary>
internal sealed class Pools
{
    /// <summary>Types whose 'Create' makes a new pool; that of another type may give any pool.</summary>
    private static readonly HashSet<string> s_makers = ["ArrayPool", "BufferPool", "ObjectPool", "ResourcePool"];

    private readonly ConcurrentDictionary<ISymbol, Identity?> _declared = new(SymbolEqualityComparer.Default);

    internal static bool AreDifferent(Identity one, Identity other) =>
        one.IsShared != other.IsShared || (!one.IsShared && !SymbolEqualityComparer.Default.Equals(one.Symbol, other.Symbol));

    /// <summary>Reads declarations only: a pool that comes from a parameter may be any pool.</summary>
    internal Identity? Of(IOperation? pool)
    {
        switch (pool)
        {
            case IConversionOperation conversion:
                return Of(conversion.Operand);
            case IPropertyReferenceOperation { Property: { IsStatic: true, Name: "Shared" } shared }:
                return new Identity(
                    shared,
                    shared.ContainingType.Name + ".Shared",
                    true,
                    Names.Full(shared.ContainingType.OriginalDefinition) == Names.ArrayPool);
            case IFieldReferenceOperation { Field: { IsReadOnly: true } field, Instance: null or IInstanceReferenceOperation }:
                return _declared.GetOrAdd(field, DeclaredField);
            case ILocalReferenceOperation { Local: var local }:
                return _declared.GetOrAdd(local, DeclaredLocal);
            default:
                return null;
        }
    }

    private static Identity? DeclaredField(ISymbol field) =>
        Declared(field, field.ContainingType.DeclaringSyntaxReferences.Select(reference => reference.GetSyntax()));

    private static Identity? DeclaredLocal(ISymbol local) =>
        Declared(local, local.ContainingSymbol.DeclaringSyntaxReferences.Select(reference => reference.GetSyntax()));

    /// <summary>A variable that is set once, to a pool that is made there or to the shared one.</summary>
    private static Identity? Declared(ISymbol variable, IEnumerable<SyntaxNode> scopes)
    {
        var set = new List<ExpressionSyntax>();
        foreach (SyntaxReference reference in variable.DeclaringSyntaxReferences)
        {
            if ((reference.GetSyntax() as VariableDeclaratorSyntax)?.Initializer is { } initializer)
            {
                set.Add(initializer.Value);
            }
        }

        foreach (SyntaxNode scope in scopes)
        {
            foreach (AssignmentExpressionSyntax assignment in scope.DescendantNodes().OfType<AssignmentExpressionSyntax>())
            {
                if (NameOf(assignment.Left) == variable.Name)
                {
                    set.Add(assignment.Right);
                }
            }
        }

        if (set.Count != 1)
        {
            return null;
        }

        bool isPlatform = set[0].ToString().StartsWith("ArrayPool<", StringComparison.Ordinal);
        bool isShared = set[0] is MemberAccessExpressionSyntax { Name.Identifier.ValueText: "Shared" };
        bool isMade = set[0] is BaseObjectCreationExpressionSyntax
            || (set[0] is InvocationExpressionSyntax { Expression: MemberAccessExpressionSyntax made }
                && made.Name.Identifier.ValueText == "Create" && NameOf(made.Expression) is { } maker && s_makers.Contains(maker));
        return isShared || isMade ? new Identity(variable, variable.Name, isShared, isPlatform) : null;
    }

    private static string? NameOf(ExpressionSyntax expression) => expression switch
    {
        SimpleNameSyntax name => name.Identifier.ValueText,
        MemberAccessExpressionSyntax member => member.Name.Identifier.ValueText,
        PostfixUnaryExpressionSyntax { RawKind: (int)SyntaxKind.SuppressNullableWarningExpression } notNull => NameOf(notNull.Operand),
        _ => null,
    };

    /// <summary>A pool that is told apart from others.</summary>
    internal sealed class Identity(ISymbol symbol, string name, bool isShared, bool isPlatform)
    {
        internal ISymbol Symbol { get; } = symbol;

        internal string Name { get; } = name;

        internal bool IsShared { get; } = isShared;

        /// <summary>Whether the platform made it: its arrays have lengths that are powers of two.</summary>
        internal bool IsPlatform { get; } = isPlatform;
    }
}

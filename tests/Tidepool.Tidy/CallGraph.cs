using System.Collections.Concurrent;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Tidepool.Tidy;

/// <summary>Answers which function of the core calls which.</summary>
internal static class CallGraph
{
    private static readonly ConcurrentDictionary<ISymbol, ISymbol[]> Callees = new(SymbolEqualityComparer.Default);

    /// <summary>Whether a function calls one of the others, itself or by members of its own type.</summary>
    public static bool Calls(ISymbol caller, IReadOnlyCollection<ISymbol> named)
    {
        var visited = new HashSet<ISymbol>(SymbolEqualityComparer.Default) { caller };
        var waiting = new Stack<ISymbol>(visited);
        while (waiting.TryPop(out ISymbol? function))
        {
            foreach (ISymbol callee in Callees.GetOrAdd(function, Read))
            {
                if (named.Any(one => IsOrImplements(one, callee)))
                {
                    return true;
                }
                if (SymbolEqualityComparer.Default.Equals(callee.ContainingType, caller.ContainingType) && visited.Add(callee))
                {
                    waiting.Push(callee);
                }
            }
        }
        return false;
    }

    private static ISymbol[] Read(ISymbol function) =>
    [
        .. (from declaration in function.DeclaringSyntaxReferences
            let model = Core.Compilation.GetSemanticModel(declaration.SyntaxTree)
            from name in declaration.GetSyntax().DescendantNodes().OfType<SimpleNameSyntax>()
            let info = model.GetSymbolInfo(name)
            from symbol in info.Symbol is { } known ? [known] : info.CandidateSymbols.AsEnumerable()
            where symbol is IMethodSymbol or IPropertySymbol
            select symbol.OriginalDefinition).Distinct(SymbolEqualityComparer.Default),
    ];

    /// <summary>
    /// Whether a call of the one may run the other: the same member, one that it overrides, or one of an interface that it implements.
    /// </summary>
    private static bool IsOrImplements(ISymbol member, ISymbol callee)
    {
        for (ISymbol? symbol = member; symbol is not null; symbol = Overridden(symbol)?.OriginalDefinition)
        {
            if (SymbolEqualityComparer.Default.Equals(symbol, callee))
            {
                return true;
            }
        }
        return callee.ContainingType.TypeKind == TypeKind.Interface
            && member.ContainingType.AllInterfaces.Any(
                i => SymbolEqualityComparer.Default.Equals(i.OriginalDefinition, callee.ContainingType))
            && member.Name == callee.Name;
    }

    private static ISymbol? Overridden(ISymbol symbol) => symbol switch
    {
        IMethodSymbol method => method.OverriddenMethod,
        IPropertySymbol property => property.OverriddenProperty,
        _ => null,
    };
}

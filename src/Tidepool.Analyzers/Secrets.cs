using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>Returns of arrays whose content is marked secret.</summary>
internal static class Secrets
{
    internal static void Check(FlowGraph graph, IInvocationOperation call, IOperation argument)
    {
        if (call.Arguments.Length < 2 || Names.IsOrInherits(call.TargetMethod.ContainingType, Names.ArrayPool) is false
            || call.Arguments.FirstOrDefault(a => a.Parameter?.Ordinal == 1)?.Value.ConstantValue is not { HasValue: true, Value: false })
        {
            return;
        }

        if (IsMarked(graph.Function, argument, call.Instance) && !ClearsAnything(call.Syntax))
        {
            graph.Findings.Add(Rules.SecretNotCleared, call.Syntax, argument.Syntax.ToString());
        }
    }

    private static bool IsMarked(ISymbol function, IOperation argument, IOperation? pool)
    {
        for (ISymbol? symbol = function; symbol is not null; symbol = symbol.ContainingSymbol)
        {
            if (Names.Has(symbol, "Secret"))
            {
                return true;
            }
        }

        return Names.Has(MemberOf(argument), "Secret") || Names.Has(MemberOf(pool), "Secret");
    }

    private static ISymbol? MemberOf(IOperation? operation) => operation switch
    {
        IConversionOperation conversion => MemberOf(conversion.Operand),
        IMemberReferenceOperation reference => reference.Member,
        IParameterReferenceOperation reference => reference.Parameter,
        _ => null,
    };

    /// <summary>Code that clears by hand is trusted to clear the right elements.</summary>
    private static bool ClearsAnything(SyntaxNode place)
    {
        SyntaxNode? body = place.AncestorsAndSelf().FirstOrDefault(node => node is MemberDeclarationSyntax);
        return body?.DescendantNodes().OfType<InvocationExpressionSyntax>().Any(call => IsClear(call.Expression)) ?? false;
    }

    private static bool IsClear(ExpressionSyntax called)
    {
        string? name = called switch
        {
            MemberAccessExpressionSyntax member => member.Name.Identifier.ValueText,
            MemberBindingExpressionSyntax member => member.Name.Identifier.ValueText,
            IdentifierNameSyntax identifier => identifier.Identifier.ValueText,
            _ => null,
        };
        return name is not null && (name.Contains("Clear") || name.Contains("Zero") || name.Contains("Fill") || name.Contains("Wipe"));
    }
}

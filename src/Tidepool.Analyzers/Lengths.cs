using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>Rules on constant lengths.</summary>
internal sealed class Lengths(FlowGraph graph)
{
    private const int TinyBytes = 256;

    /// <summary>Arrays of this size and more live on the large object heap.</summary>
    private const int LargeBytes = 85_000;

    internal void Check(IInvocationOperation call, MethodFacts facts)
    {
        if (facts.Kind is not (RentalKind.Array or RentalKind.Lease) || call.Arguments.Length == 0
            || Of(call) is not { } length
            || SizeOf(ElementOf(call)) is not (> 0 and var size))
        {
            return;
        }

        long bytes = (long)length * size;
        if (bytes is > 0 and <= TinyBytes && !graph.Tiny.ContainsKey(call.Syntax) && IsStackAllowed(call))
        {
            graph.Tiny[call.Syntax] = (int)bytes;
        }

        if (facts.Kind == RentalKind.Array
            && graph.Catalog.Pools.Of(call.Instance) is { IsPlatform: true, IsShared: true }
            && length <= 1 << 30)
        {
            long given = 16;
            while (given < length)
            {
                given <<= 1;
            }

            given *= size;
            if (given >= LargeBytes && given * 2 >= bytes * 3)
            {
                graph.Findings.Add(Rules.LengthDoubles, call.Syntax, bytes, given);
            }
        }
    }

    /// <summary>The length that is asked for, when it is a constant.</summary>
    internal static int? Of(IInvocationOperation call) =>
        call.Arguments.FirstOrDefault(one => one.Parameter?.Ordinal == 0)?.Value.ConstantValue is { HasValue: true, Value: int length }
            ? length
            : null;

    private static ITypeSymbol? ElementOf(IInvocationOperation call) => call.Type switch
    {
        IArrayTypeSymbol array => array.ElementType,
        INamedTypeSymbol { Arity: 1, Name: "BufferLease" } lease when Names.LeaseKind(lease) is not null => lease.TypeArguments[0],
        _ => null,
    };

    private static int SizeOf(ITypeSymbol? type) => type?.SpecialType switch
    {
        SpecialType.System_Byte or SpecialType.System_SByte or SpecialType.System_Boolean => 1,
        SpecialType.System_Char or SpecialType.System_Int16 or SpecialType.System_UInt16 => 2,
        SpecialType.System_Int32 or SpecialType.System_UInt32 or SpecialType.System_Single => 4,
        SpecialType.System_Int64 or SpecialType.System_UInt64 or SpecialType.System_Double => 8,
        SpecialType.System_Decimal => 16,
        _ => 0,
    };

    /// <summary>Not in a loop, where it would grow the stack, and not where stackalloc or a span may not be.</summary>
    private bool IsStackAllowed(IInvocationOperation call)
    {
        if (graph.Function is IMethodSymbol { IsAsync: true } or not IMethodSymbol)
        {
            return false;
        }

        for (SyntaxNode? node = call.Syntax; node is not null and not MemberDeclarationSyntax; node = node.Parent)
        {
            if (node is ForStatementSyntax or CommonForEachStatementSyntax or WhileStatementSyntax or DoStatementSyntax
                or CatchClauseSyntax or FinallyClauseSyntax)
            {
                return false;
            }

            if (node is BaseMethodDeclarationSyntax or LocalFunctionStatementSyntax or AnonymousFunctionExpressionSyntax)
            {
                break;
            }
        }

        return !graph.HasYield;
    }
}

using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>When a field that still holds what was returned is proved to be a fault.</summary>
internal static class KeptFields
{
    /// <summary>The field of a return point, or null where code outside of the method may know that the field is spent.</summary>
    internal static IFieldSymbol? FieldOf(FlowGraph graph, int point)
    {
        if (graph.Points[point].Operation is not IInvocationOperation call
            || FieldIn(call.Arguments.FirstOrDefault(one => one.Parameter?.Ordinal == 0)?.Value) is not { } field
            || field.ContainingType.TypeKind != TypeKind.Class)
        {
            return null;
        }

        // The callers of a private method may replace the field.
        bool isCalledFromAnywhere = graph.Function is IMethodSymbol method
            && (method.MethodKind == MethodKind.ExplicitInterfaceImplementation
                || (method.MethodKind == MethodKind.Ordinary && method.DeclaredAccessibility != Accessibility.Private));
        return isCalledFromAnywhere && !IsGuarded(graph, field) ? field : null;
    }

    private static IFieldSymbol? FieldIn(IOperation? operation) => operation switch
    {
        IConversionOperation conversion => FieldIn(conversion.Operand),
        IFieldReferenceOperation field => field.Field,
        _ => null,
    };

    /// <summary>Whether the method writes or tests anything else that may stand for 'the field is spent'.</summary>
    private static bool IsGuarded(FlowGraph graph, IFieldSymbol field)
    {
        foreach (BasicBlock block in graph.Graph.Blocks)
        {
            foreach (IOperation operation in block.Operations)
            {
                if (operation.DescendantsAndSelf().Any(part => IsWrite(part)))
                {
                    return true;
                }
            }

            if (block.ConditionKind != ControlFlowConditionKind.None && block.BranchValue is { } tested
                && tested.DescendantsAndSelf().Any(
                    part =>
                        part is IInvocationOperation or IPropertyReferenceOperation or IParameterReferenceOperation
                            || (part is IFieldReferenceOperation other
                                && !SymbolEqualityComparer.Default.Equals(other.Field, field))))
            {
                return true;
            }
        }

        return false;
    }

    private static bool IsWrite(IOperation part) => part switch
    {
        IAssignmentOperation { Target: IMemberReferenceOperation } => true,
        IIncrementOrDecrementOperation { Target: IMemberReferenceOperation } => true,
        IArgumentOperation { Parameter.RefKind: RefKind.Ref or RefKind.Out, Value: IMemberReferenceOperation } => true,
        _ => false,
    };
}

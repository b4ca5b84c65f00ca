using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>Rules beside the life of a rental: pools, fields, awaits.</summary>
internal sealed partial class Evaluator
{
    private void ReportOtherPool(Site site, IInvocationOperation call, IOperation argument)
    {
        if (IsRecording && site.Pool is { } from && graph.Catalog.Pools.Of(call.Instance) is { } to && Pools.AreDifferent(from, to))
        {
            graph.Findings.Add(Rules.ReturnedElsewhere, call.Syntax, PlaceOf(argument).ToString(), from.Name, to.Name);
        }
    }

    /// <summary>A field that is returned is watched until it is replaced or the method ends.</summary>
    private void ReportKeptField(IOperation argument, IInvocationOperation call, FlowState state)
    {
        while (argument is IConversionOperation conversion)
        {
            argument = conversion.Operand;
        }

        if (IsRecording && argument is IFieldReferenceOperation { Instance: null or IInstanceReferenceOperation } field
            && !field.Field.IsReadOnly)
        {
            state[graph.Slot(field.Field)] = graph.PointOf(call, Block) + 1;
        }
    }

    private void ReplaceField(IFieldSymbol field, FlowState state)
    {
        int slot = graph.Slot(field);
        if (state[slot] != 0)
        {
            graph.Replaced.Add(state[slot] - 1);
            state[slot] = 0;
        }
    }

    /// <summary>Something that is not read here may have replaced any field.</summary>
    private void ReplaceFields(FlowState state)
    {
        for (int slot = 0; slot < state.Length; slot++)
        {
            if (state[slot] != 0 && graph.IsField(slot))
            {
                graph.Replaced.Add(state[slot] - 1);
                state[slot] = 0;
            }
        }
    }

    private void ReportHeldAcross(IAwaitOperation operation, FlowState state)
    {
        foreach (Site site in graph.Sites)
        {
            if (site.Kind is RentalKind.Handle or RentalKind.Scope && IsRecording && state[graph.DoubtSlot] == 0
                && new Standing(state[site.Slot]).Status == Status.Rented)
            {
                graph.Findings.Add(Rules.HeldAcrossAwait, operation.Syntax, site.Origin.Type?.Name ?? "");
            }
        }
    }
}

using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>Rentals: how they begin, how they end, and what is found out on the way.</summary>
internal sealed partial class Evaluator
{
    private Value Rent(IOperation origin, RentalKind kind, Pools.Identity? pool, FlowState state)
    {
        Site site = graph.SiteOf(origin, kind, pool, true);
        Renew(site, Status.Rented, state);
        return Value.Of(site.Index, ValueForm.Rental);
    }

    private Value Start(IOperation origin, RentalKind kind, FlowState state)
    {
        Site site = graph.SiteOf(origin, kind, null, true);
        Renew(site, Status.None, state);
        return Value.Of(site.Index, ValueForm.Pending);
    }

    /// <summary>A task may be awaited again: it has one rental.</summary>
    private Value Begin(Value pending, FlowState state)
    {
        if (StandingOf(pending, state).Status == Status.None)
        {
            state[graph.Sites[pending.Site].Slot] = new Standing(Status.Rented).Code;
        }

        return pending.As(ValueForm.Rental);
    }

    /// <summary>A new turn of a loop rents anew: what variables hold is the rental of the turn before, which is not followed.</summary>
    private void Renew(Site site, Status status, FlowState state)
    {
        bool isHeld = false;
        for (int slot = 0; slot < state.Length; slot++)
        {
            if (graph.IsVariable(slot) && new Value(state[slot]) is { HasSite: true } held && held.Site == site.Index)
            {
                isHeld |= held.IsRental;
                state[slot] = 0;
            }
        }

        if (!isHeld && new Standing(state[site.Slot]).Status == Status.Rented && state[graph.DoubtSlot] == 0)
        {
            site.IsLeftOpen |= IsRecording;
        }

        state[site.Slot] = new Standing(status).Code;
    }

    private Standing StandingOf(Value value, FlowState state) => new(state[graph.Sites[value.Site].Slot]);

    /// <summary>The content is read or written.</summary>
    private void Use(Value value, IOperation? operation, FlowState state)
    {
        bool isAnswer = value.HasSite && !value.IsRental && !value.IsView;
        if (operation is null || value == Value.Null || !IsRecording || isAnswer || !(value.HasSite || IsReference(operation)))
        {
            return;
        }

        Standing standing = value.HasSite ? StandingOf(value, state) : default;
        if (standing.IsUseSeen)
        {
            return; // one finding for each way
        }

        bool isLate = standing.Status == Status.Returned && !IsPerhapsRentedAnew(value, operation, state);
        CountLateUse(PlaceOf(operation), operation, standing, isLate);
        if (isLate)
        {
            state[graph.Sites[value.Site].Slot] = standing.WithUseSeen().Code;
        }
    }

    /// <summary>An object whose lease is over may be the one that a later lease holds.</summary>
    private bool IsPerhapsRentedAnew(Value value, IOperation operation, FlowState state)
    {
        Site site = graph.Sites[value.Site];
        if (!value.IsView || operation.Type is not { TypeKind: TypeKind.Class })
        {
            return false;
        }

        return graph.Sites.Any(
            other =>
                other != site && other.Kind == site.Kind
                    && new Standing(state[other.Slot]).Status is Status.Rented or Status.Escaped);
    }

    private void CountLateUse(SyntaxNode key, IOperation operation, Standing standing, bool isLate)
    {
        SyntaxNode place = PlaceOf(operation);
        graph.Findings.Count(
            Rules.UsedAfterReturn,
            key,
            isLate,
            () => Diagnostic.Create(
                Rules.UsedAfterReturn,
                place.GetLocation(),
                additionalLocations: [graph.Points[standing.Point].Operation.Syntax.GetLocation()],
                place.ToString(),
                LineOf(graph.Points[standing.Point].Operation)));
    }

    private void Escape(Value value, FlowState state)
    {
        // The memory of an array leads back to the array.
        bool isArrayView = value.IsView && graph.Sites[value.Site].Kind == RentalKind.Array;
        if ((value.IsRental || isArrayView) && StandingOf(value, state).Status is Status.Rented or Status.Maybe)
        {
            Site site = graph.Sites[value.Site];
            site.IsEverEnded |= IsRecording;
            site.IsNeededOnHeap = true;
            site.HasEscaped = true;
            state[site.Slot] = new Standing(Status.Escaped).Code;
        }
    }

    private void Return(Value value, IInvocationOperation call, RentalKind kind, FlowState state)
    {
        if (call.Arguments.FirstOrDefault(one => one.Parameter?.Ordinal == 0)?.Value is not { } argument)
        {
            return; // code that does not compile
        }

        ReportKeptField(argument, call, state);
        Secrets.Check(graph, call, argument);
        if (!value.HasSite)
        {
            bool isSafe = value == Value.Null;
            if (isSafe && kind == RentalKind.Array)
            {
                state[graph.OverSlot] = 1; // null is refused by an exception
            }

            if (IsRecording && !isSafe)
            {
                graph.Findings.Count(Rules.ReturnedTwice, call.Syntax, breaks: false);
            }

            if (!isSafe && FlowGraph.VariableOf(argument) is { } variable && graph.IsTracked(variable))
            {
                Site found = graph.SiteOf(call, kind, null, false);
                Renew(found, Status.None, state);
                SetVariable(variable, Value.Of(found.Index, ValueForm.Rental), state);
                MarkReturned(found, call, state);
            }

            return;
        }

        if (!value.IsRental)
        {
            Escape(value.As(ValueForm.Rental), state);
            return;
        }

        ReportOtherPool(graph.Sites[value.Site], call, argument);
        EndOnce(value, call, argument, state);
    }

    private void ReturnInstance(Value value, IInvocationOperation call, RentalKind kind, FlowState state)
    {
        if (value.IsRental)
        {
            EndOnce(value, call, call.Instance!, state);
        }
        else if (value == Value.Unknown && FlowGraph.VariableOf(call.Instance) is { } variable && graph.IsTracked(variable))
        {
            if (IsRecording)
            {
                graph.Findings.Count(Rules.ReturnedTwice, call.Syntax, breaks: false);
            }

            Site found = graph.SiteOf(call, kind, null, false);
            Renew(found, Status.None, state);
            SetVariable(variable, Value.Of(found.Index, ValueForm.Rental), state);
            MarkReturned(found, call, state);
        }
    }

    /// <summary>Dispose: a second one does nothing, but for a scope, which has no ticket.</summary>
    private void End(Value value, IInvocationOperation call, FlowState state)
    {
        Site site = graph.Sites[value.Site];
        switch (site.Kind)
        {
            case RentalKind.Scope:
                EndOnce(value, call, call.Instance!, state);
                break;
            case RentalKind.Object or RentalKind.Array:
                Escape(value, state); // ended in another way than by its pool
                break;
            case RentalKind.Disposable when Names.IsReusable(site.Origin.Type):
                Escape(value, state); // it may be used again
                break;
            default:
                if (StandingOf(value, state).Status != Status.Returned)
                {
                    MarkReturned(site, call, state);
                }

                break;
        }
    }

    private void EndOnce(Value value, IInvocationOperation call, IOperation what, FlowState state)
    {
        Site site = graph.Sites[value.Site];
        Standing standing = StandingOf(value, state);
        bool isAgain = standing.Status == Status.Returned && !MayBeRentedAgain(site, state);
        if (IsRecording)
        {
            CountReturn(call, what, standing, isAgain, state);
        }

        MarkReturned(site, call, state);
    }

    /// <summary>
    /// A later rental that left this method's sight may have been given the same array or object, and this may be its return.
    /// </summary>
    private bool MayBeRentedAgain(Site site, FlowState state)
    {
        foreach (Site other in graph.Sites)
        {
            bool isWithoutTicket = site.Kind is RentalKind.Array or RentalKind.Object;
            if (isWithoutTicket && other != site && other.Kind == site.Kind && new Standing(state[other.Slot]).Status == Status.Escaped)
            {
                return true;
            }
        }

        return false;
    }

    private void CountReturn(IInvocationOperation call, IOperation what, Standing standing, bool isAgain, FlowState state)
    {
        ReturnPoint before = isAgain ? graph.Points[standing.Point] : default;
        bool isSplit = isAgain && FlowWalker.IsHandlerOf(Block, before.Block, out bool isCatch) && !call.IsImplicit
            && (!isCatch || state[graph.ThrownSlot] != 0);
        if (isSplit && state[graph.DoubtSlot] == 0 && state[graph.GuessSlot] == 0)
        {
            graph.Findings.Add(Rules.ReturnedInTryAndAfter, call.Syntax, PlaceOf(what).ToString(), LineOf(before.Operation));
        }

        // 'using' around an explicit end: the explicit one is what to remove.
        bool isExplicitFirst = isAgain && call.IsImplicit && !before.Operation.IsImplicit;
        IOperation shown = isExplicitFirst ? before.Operation : call;
        IOperation other = isExplicitFirst ? call : before.Operation ?? call;
        graph.Findings.Count(
            Rules.ReturnedTwice,
            call.Syntax,
            isAgain && (call.IsImplicit || !FlowWalker.IsHandlerOf(Block, before.Block, out _)),
            () => Diagnostic.Create(
                Rules.ReturnedTwice,
                shown.Syntax.GetLocation(),
                additionalLocations: [other.Syntax.GetLocation()],
                FlowGraph.VariableOf(what)?.Name ?? PlaceOf(what).ToString(),
                LineOf(other)));
    }

    private void MarkReturned(Site site, IInvocationOperation call, FlowState state)
    {
        site.IsEverEnded |= IsRecording;
        state[site.Slot] = new Standing(Status.Returned, graph.PointOf(call, Block)).Code;
    }

    private static bool IsReference(IOperation operation) => operation switch
    {
        ILocalReferenceOperation or IParameterReferenceOperation or IFlowCaptureReferenceOperation =>
            operation.Type is not { SpecialType: not SpecialType.None },
        IConversionOperation conversion => IsReference(conversion.Operand),
        _ => false,
    };

    /// <summary>The expression that names the rental, without conversions.</summary>
    private static SyntaxNode PlaceOf(IOperation operation)
    {
        while (operation is IConversionOperation { IsImplicit: true } conversion)
        {
            operation = conversion.Operand;
        }

        return operation.Syntax;
    }

    private static int LineOf(IOperation operation) => operation.Syntax.GetLocation().GetLineSpan().StartLinePosition.Line + 1;
}

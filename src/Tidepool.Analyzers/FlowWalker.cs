using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>
/// Follows all ways through a graph. A way is a state; two ways that meet in equal states go on as one, others stay apart, so that what
/// was found true before still holds after they meet. There is a limit on ways: beyond it nothing is reported.
/// </summary>
internal sealed class FlowWalker
{
    private const int MaxSteps = 4000;

    private readonly FlowGraph _graph;
    private readonly Evaluator _evaluator;
    private readonly Dictionary<(ControlFlowRegion Region, FlowState State, bool IsRecording), List<FlowState>> _finallies = [];
    private Walk _walk = null!;
    private int _steps;

    internal FlowWalker(FlowGraph graph)
    {
        _graph = graph;
        _evaluator = new Evaluator(graph, this);
    }

    /// <summary>Walks the graph.</summary>
    /// <returns>False when there are too many ways: then nothing is known.</returns>
    internal bool Run(CancellationToken cancellation)
    {
        _graph.Conditions.Collect();
        var walk = new Walk(null, true);
        walk.Add(_graph.Graph.Blocks[0], new FlowState());
        Drain(walk, cancellation);
        return _steps <= MaxSteps;
    }

    /// <summary>What the code after this place may throw takes the state to the handlers around it.</summary>
    internal void Throw(FlowState state, bool isThrown)
    {
        ControlFlowRegion? region = _evaluator.Block.EnclosingRegion;
        List<FlowState>? states = null;
        for (; region?.EnclosingRegion is { } outer; region = outer)
        {
            if (region.Kind != ControlFlowRegionKind.Try)
            {
                continue;
            }

            states ??= [Thrown(state, isThrown)];
            if (outer.Kind == ControlFlowRegionKind.TryAndCatch)
            {
                EnterHandlers(outer, states);
            }
            else if (outer.Kind == ControlFlowRegionKind.TryAndFinally && HasCatchAround(outer))
            {
                states = [.. states.SelectMany(one => RunFinally(outer.NestedRegions[1], one, isRecording: false))];
            }
        }
    }

    /// <summary>Whether a block lies in the catch or finally of a try that has the other block in its body.</summary>
    internal static bool IsHandlerOf(BasicBlock block, BasicBlock inTry, out bool isCatch)
    {
        for (ControlFlowRegion? region = block.EnclosingRegion; region?.EnclosingRegion is { } outer; region = outer)
        {
            if (region.Kind is ControlFlowRegionKind.Catch or ControlFlowRegionKind.Finally or ControlFlowRegionKind.FilterAndHandler
                && outer.NestedRegions[0] is { } body && body.FirstBlockOrdinal <= inTry.Ordinal && inTry.Ordinal <= body.LastBlockOrdinal)
            {
                isCatch = region.Kind != ControlFlowRegionKind.Finally;
                return true;
            }
        }

        isCatch = false;
        return false;
    }

    private FlowState Thrown(FlowState state, bool isThrown)
    {
        FlowState thrown = state.Clone();
        thrown[_graph.ThrownSlot] = isThrown ? 1 : 0;
        foreach (Site site in _graph.Sites)
        {
            if (new Standing(thrown[site.Slot]).Status == Status.Rented)
            {
                thrown[site.Slot] = new Standing(Status.Escaped).Code; // what only an exception leaves open is not reported
            }
        }

        return thrown;
    }

    private void EnterHandlers(ControlFlowRegion tryAndCatch, List<FlowState> states)
    {
        for (int i = 1; i < tryAndCatch.NestedRegions.Length; i++)
        {
            BasicBlock first = _graph.Graph.Blocks[tryAndCatch.NestedRegions[i].FirstBlockOrdinal];
            foreach (FlowState state in states)
            {
                _walk.Add(first, state.Clone());
            }
        }
    }

    private static bool HasCatchAround(ControlFlowRegion region)
    {
        for (ControlFlowRegion? outer = region; outer is not null; outer = outer.EnclosingRegion)
        {
            if (outer.Kind == ControlFlowRegionKind.Try && outer.EnclosingRegion?.Kind == ControlFlowRegionKind.TryAndCatch)
            {
                return true;
            }
        }

        return false;
    }

    private void Drain(Walk walk, CancellationToken cancellation)
    {
        Walk outer = _walk;
        bool outerRecords = _evaluator.IsRecording;
        BasicBlock outerBlock = _evaluator.Block;
        _walk = walk;
        _evaluator.IsRecording = walk.IsRecording;
        while (walk.TryTake(out BasicBlock block, out FlowState state) && ++_steps <= MaxSteps)
        {
            cancellation.ThrowIfCancellationRequested();
            _evaluator.Block = block;
            Step(block, state.Clone());
        }

        _walk = outer;
        _evaluator.IsRecording = outerRecords;
        _evaluator.Block = outerBlock;
    }

    private void Step(BasicBlock block, FlowState state)
    {
        if (block.Kind == BasicBlockKind.Exit)
        {
            Leave(state);
            return;
        }

        foreach (IOperation operation in block.Operations)
        {
            Throw(state, isThrown: false);
            if (operation is IReturnOperation { ReturnedValue: { } yielded })
            {
                _evaluator.HandOut(yielded, state);
            }
            else
            {
                _evaluator.Evaluate(operation, state);
            }

            if (state[_graph.OverSlot] != 0)
            {
                return;
            }
        }

        if (block.BranchValue is null)
        {
            Follow(block.FallThroughSuccessor, state);
        }
        else if (block.ConditionKind == ControlFlowConditionKind.None)
        {
            Value handed = _evaluator.HandOut(block.BranchValue, state);
            if (state[_graph.OverSlot] != 0)
            {
                return;
            }

            Follow(block.FallThroughSuccessor, state, handed, block.BranchValue);
        }
        else
        {
            Branch(block, state);
        }
    }

    private void Branch(BasicBlock block, FlowState state)
    {
        Throw(state, isThrown: false);
        Value value = _evaluator.Evaluate(block.BranchValue, state);
        if (state[_graph.OverSlot] != 0)
        {
            return;
        }

        bool jumpsWhen = block.ConditionKind == ControlFlowConditionKind.WhenTrue;
        foreach (bool outcome in new[] { true, false })
        {
            ControlFlowBranch? branch = outcome == jumpsWhen ? block.ConditionalSuccessor : block.FallThroughSuccessor;
            if (value != Value.Of(!outcome) && Assume(block.BranchValue!, value, outcome, state.Clone()) is { } assumed)
            {
                Follow(branch, assumed);
            }
        }
    }

    /// <summary>The state when a condition has this outcome, or null when it cannot have it.</summary>
    private FlowState? Assume(IOperation tested, Value value, bool outcome, FlowState state)
    {
        if (value == Value.Unknown && IsInHandler(_evaluator.Block.EnclosingRegion) && !IsRemembered(tested, state))
        {
            state[_graph.GuessSlot] = 1;
        }

        if (value.HasSite && value.Form == ValueForm.Tried)
        {
            Site site = _graph.Sites[value.Site];
            Status status = new Standing(state[site.Slot]).Status;
            if (status is Status.Maybe or Status.Rented)
            {
                state[site.Slot] = new Standing(outcome ? Status.Rented : Status.None).Code;
            }

            return state;
        }

        if (value == Value.Unknown && FlowGraph.VariableOf(tested) is { } flag && _graph.IsTracked(flag))
        {
            state[_graph.Slot(flag)] = Value.Of(outcome).Code;
        }

        if (_graph.Conditions.RepeatedOf(tested) is not { } condition)
        {
            return state;
        }

        int now = outcome != condition.IsNegated ? Condition.WasTrue : Condition.WasFalse;
        int before = state[condition.Slot];
        if (before is Condition.WasTrue or Condition.WasFalse && before != now)
        {
            return null;
        }

        if (before > Condition.Aged && before - Condition.Aged != now)
        {
            state[_graph.DoubtSlot] = 1;
        }

        state[condition.Slot] = condition.IsImpure ? now + Condition.Aged : now;
        return state;
    }

    /// <summary>Whether the way has tested the same condition before, and nothing may have changed it since.</summary>
    private bool IsRemembered(IOperation tested, FlowState state) =>
        _graph.Conditions.RepeatedOf(tested) is { } condition && state[condition.Slot] is Condition.WasTrue or Condition.WasFalse;

    private static bool IsInHandler(ControlFlowRegion? region)
    {
        for (; region is not null; region = region.EnclosingRegion)
        {
            if (region.Kind is ControlFlowRegionKind.Catch or ControlFlowRegionKind.Finally or ControlFlowRegionKind.Filter)
            {
                return true;
            }
        }

        return false;
    }

    private void Follow(ControlFlowBranch? branch, FlowState state, Value handed = default, IOperation? handedOut = null)
    {
        switch (branch?.Semantics)
        {
            case ControlFlowBranchSemantics.Throw or ControlFlowBranchSemantics.Rethrow:
                Throw(state, isThrown: true);
                return;
            case ControlFlowBranchSemantics.StructuredExceptionHandling:
                _walk.Ends.Add(state);
                return;
            case ControlFlowBranchSemantics.Regular or ControlFlowBranchSemantics.Return when branch.Destination is not null:
                break;
            default:
                return;
        }

        List<FlowState> states = [state];
        foreach (ControlFlowRegion region in branch.FinallyRegions)
        {
            states = [.. states.SelectMany(one => RunFinally(region, one, _evaluator.IsRecording)).Select(end => end.Clone())];
        }

        foreach (FlowState one in states)
        {
            if (handedOut is not null && !branch.FinallyRegions.IsEmpty)
            {
                _evaluator.LeaveWith(handed, handedOut, one);
            }

            foreach (ControlFlowRegion left in branch.LeavingRegions)
            {
                Forget(left, one);
            }

            if (branch.Destination.Ordinal <= branch.Source.Ordinal)
            {
                _graph.Conditions.ForgetShared(one);
            }

            _walk.Add(branch.Destination, one);
        }
    }

    /// <summary>What only the region could see is over.</summary>
    private void Forget(ControlFlowRegion region, FlowState state)
    {
        foreach (ILocalSymbol local in region.Locals)
        {
            state[_graph.Slot(local)] = 0;
            _graph.Conditions.Forget(state, local);
        }

        foreach (CaptureId capture in region.CaptureIds)
        {
            state[_graph.Slot(capture)] = 0;
        }

        if (region.Kind is ControlFlowRegionKind.Catch or ControlFlowRegionKind.FilterAndHandler)
        {
            state[_graph.ThrownSlot] = 0;
            if (!IsInHandler(region.EnclosingRegion))
            {
                state[_graph.GuessSlot] = 0;
            }
        }
    }

    /// <summary>Runs a finally block by itself.</summary>
    /// <returns>The states at its end.</returns>
    private List<FlowState> RunFinally(ControlFlowRegion region, FlowState state, bool isRecording)
    {
        if (!_finallies.TryGetValue((region, state, isRecording), out List<FlowState>? ends))
        {
            _finallies.Add((region, state, isRecording), []); // a loop through its own end adds nothing new
            var walk = new Walk(region, isRecording);
            walk.Add(_graph.Graph.Blocks[region.FirstBlockOrdinal], state.Clone());
            Drain(walk, CancellationToken.None);
            ends = [.. walk.Ends.Select(end => WithGuessOf(end, state)).Distinct()];
            _finallies[(region, state, isRecording)] = ends;
        }

        return ends;
    }

    /// <summary>Forgets at the end of a finally block the guesses made in it.</summary>
    private FlowState WithGuessOf(FlowState end, FlowState entered)
    {
        FlowState clone = end.Clone();
        clone[_graph.GuessSlot] = entered[_graph.GuessSlot];
        return clone;
    }

    private void Leave(FlowState state)
    {
        foreach (Site site in _graph.Sites)
        {
            Status status = new Standing(state[site.Slot]).Status;
            if (status == Status.Rented && state[_graph.DoubtSlot] == 0)
            {
                site.IsLeftOpen = true;
            }
        }

        for (int slot = 0; slot < state.Length; slot++)
        {
            if (state[slot] != 0 && _graph.IsField(slot))
            {
                _graph.Kept.Add(state[slot] - 1);
            }
        }
    }

    /// <summary>Ways still to be followed, in the whole graph or in one finally block.</summary>
    private sealed class Walk(ControlFlowRegion? region, bool isRecording)
    {
        private readonly Queue<(BasicBlock Block, FlowState State)> _waiting = [];
        private readonly HashSet<(int Block, FlowState State)> _seen = [];

        internal bool IsRecording { get; } = isRecording;

        internal List<FlowState> Ends { get; } = [];

        internal void Add(BasicBlock block, FlowState state)
        {
            bool isInside = region is null || (region.FirstBlockOrdinal <= block.Ordinal && block.Ordinal <= region.LastBlockOrdinal);
            if (isInside && block.IsReachable && _seen.Add((block.Ordinal, state)))
            {
                _waiting.Enqueue((block, state));
            }
        }

        internal bool TryTake(out BasicBlock block, out FlowState state)
        {
            bool any = _waiting.Count > 0;
            (block, state) = any ? _waiting.Dequeue() : default;
            return any;
        }
    }
}

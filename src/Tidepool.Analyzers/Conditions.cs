using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>
/// Conditions that a graph tests more than once, by their text: a way that found one true finds it true again, until a part of it
/// changes. So 'if (n > 256) rent; if (n > 256) return' is no leak.
/// </summary>
internal sealed class Conditions(FlowGraph graph)
{
    private readonly Dictionary<IOperation, Condition> _of = [];
    private readonly Dictionary<string, int> _tested = [];
    private readonly List<Condition> _repeated = [];

    /// <summary>Reads the conditions of all branches; to be called once, first.</summary>
    internal void Collect()
    {
        foreach (BasicBlock block in graph.Graph.Blocks)
        {
            if (block.ConditionKind != ControlFlowConditionKind.None && block.BranchValue is { } tested)
            {
                Condition condition = Read(tested);
                _of[tested] = condition;
                _tested[condition.Text] = (_tested.TryGetValue(condition.Text, out int times) ? times : 0) + 1;
            }
        }

        foreach (Condition condition in _of.Values)
        {
            if (_tested[condition.Text] > 1)
            {
                condition.Slot = graph.Slot(condition.Text);
                _repeated.Add(condition);
            }
        }
    }

    /// <summary>The condition of a branch when it is tested elsewhere too.</summary>
    internal Condition? RepeatedOf(IOperation tested) => _of.TryGetValue(tested, out Condition? found) && found.Slot >= 0 ? found : null;

    /// <summary>Forgets what was known of conditions with this variable in them.</summary>
    internal void Forget(FlowState state, ISymbol variable)
    {
        foreach (Condition condition in _repeated)
        {
            if (condition.Variables.Contains(variable))
            {
                state[condition.Slot] = Condition.NotTested;
            }
        }
    }

    /// <summary>Forgets, at the beginning of a new turn of a loop, what more than locals decide.</summary>
    internal void ForgetShared(FlowState state)
    {
        foreach (Condition condition in _repeated)
        {
            if (condition.IsShared)
            {
                state[condition.Slot] = Condition.NotTested;
            }
        }
    }

    /// <summary>A call may have changed what more than locals decide: the outcome is likely the same, and no proof.</summary>
    internal void Age(FlowState state)
    {
        foreach (Condition condition in _repeated)
        {
            if (condition.IsShared && state[condition.Slot] is Condition.WasTrue or Condition.WasFalse)
            {
                state[condition.Slot] += Condition.Aged;
            }
        }
    }

    private static Condition Read(IOperation tested)
    {
        bool isNegated = false;
        while (tested is IUnaryOperation { OperatorKind: UnaryOperatorKind.Not } not)
        {
            isNegated = !isNegated;
            tested = not.Operand;
        }

        string text = TextOf(tested, ref isNegated);
        var condition = new Condition(text, isNegated);
        foreach (IOperation part in tested.DescendantsAndSelf())
        {
            switch (part)
            {
                case ILocalReferenceOperation local:
                    condition.Variables.Add(local.Local);
                    break;
                case IParameterReferenceOperation parameter:
                    condition.Variables.Add(parameter.Parameter);
                    break;
                case IInvocationOperation or IAwaitOperation or IAssignmentOperation or IIncrementOrDecrementOperation:
                    condition.IsShared = true;
                    condition.IsImpure = true;
                    break;
                case IMemberReferenceOperation or IFlowCaptureReferenceOperation:
                    condition.IsShared = true;
                    break;
            }
        }

        return condition;
    }

    private static string TextOf(IOperation tested, ref bool isNegated)
    {
        switch (tested)
        {
            case IIsNullOperation isNull:
                return Text(isNull.Operand) + "==null";
            case IIsPatternOperation { Pattern: IConstantPatternOperation { Value.ConstantValue: { HasValue: true, Value: null } } } isNull:
                return Text(isNull.Value) + "==null";
            case IIsPatternOperation
            {
                Pattern: INegatedPatternOperation
                {
                    Pattern: IConstantPatternOperation { Value.ConstantValue: { HasValue: true, Value: null } },
                },
            } notNull:
                isNegated = !isNegated;
                return Text(notNull.Value) + "==null";
            case IBinaryOperation { OperatorKind: BinaryOperatorKind.Equals } equal:
                return Text(equal.LeftOperand) + "==" + Text(equal.RightOperand);
            case IBinaryOperation { OperatorKind: BinaryOperatorKind.NotEquals } unequal:
                isNegated = !isNegated;
                return Text(unequal.LeftOperand) + "==" + Text(unequal.RightOperand);
            case IBinaryOperation { OperatorKind: BinaryOperatorKind.LessThan } less:
                return Text(less.LeftOperand) + "<" + Text(less.RightOperand);
            case IBinaryOperation { OperatorKind: BinaryOperatorKind.GreaterThanOrEqual } atLeast:
                isNegated = !isNegated;
                return Text(atLeast.LeftOperand) + "<" + Text(atLeast.RightOperand);
            case IBinaryOperation { OperatorKind: BinaryOperatorKind.GreaterThan } greater:
                return Text(greater.RightOperand) + "<" + Text(greater.LeftOperand);
            case IBinaryOperation { OperatorKind: BinaryOperatorKind.LessThanOrEqual } atMost:
                isNegated = !isNegated;
                return Text(atMost.RightOperand) + "<" + Text(atMost.LeftOperand);
            default:
                return Text(tested);
        }
    }

    private static string Text(IOperation operation) => operation.Syntax.ToString();
}

/// <summary>What a branch tests.</summary>
internal sealed class Condition(string text, bool isNegated)
{
    internal const int NotTested = 0;
    internal const int WasTrue = 1;
    internal const int WasFalse = 2;

    /// <summary>Added to an outcome that a call may have changed since.</summary>
    internal const int Aged = 2;

    internal string Text { get; } = text;

    /// <summary>Whether the branch tests the opposite of the text.</summary>
    internal bool IsNegated { get; } = isNegated;

    internal HashSet<ISymbol> Variables { get; } = new(SymbolEqualityComparer.Default);

    /// <summary>Whether more than locals decide it.</summary>
    internal bool IsShared { get; set; }

    /// <summary>Whether testing it changes something, so that the next test may differ.</summary>
    internal bool IsImpure { get; set; }

    /// <summary>Where states keep its outcome, or -1.</summary>
    internal int Slot { get; set; } = -1;
}

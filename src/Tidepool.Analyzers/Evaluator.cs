using System.Runtime.CompilerServices;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>
/// What an operation does to a state, and what its value is. An operation that is not named here lets its operands escape: silence is the
/// default.
/// </summary>
internal sealed partial class Evaluator(FlowGraph graph, FlowWalker walker)
{
    private readonly Dictionary<CaptureId, ISymbol> _captured = [];
    private readonly Lengths _lengths = new(graph);
    private readonly WholeUses _wholes = new(graph);

    /// <summary>The block that is being read.</summary>
    internal BasicBlock Block { get; set; } = null!;

    /// <summary>False on the way of an exception through a finally block, where nothing is proved.</summary>
    internal bool IsRecording { get; set; } = true;

    internal Value Evaluate(IOperation? operation, FlowState state)
    {
        if (operation is null)
        {
            return Value.Unknown;
        }

        RuntimeHelpers.EnsureSufficientExecutionStack();

        if (operation.ConstantValue is { HasValue: true, Value: var constant })
        {
            return constant switch { null => Value.Null, bool truth => Value.Of(truth), _ => Value.Unknown };
        }

        return operation switch
        {
            ILocalReferenceOperation local => Read(local.Local, state),
            IParameterReferenceOperation parameter => Read(parameter.Parameter, state),
            IFlowCaptureReferenceOperation capture => new Value(state[graph.Slot(capture.Id)]),
            IFlowCaptureOperation capture => Capture(capture, state),
            IExpressionStatementOperation statement => Evaluate(statement.Operation, state),
            IParenthesizedOperation inner => Evaluate(inner.Operand, state),
            IConversionOperation conversion => Convert(conversion, state),
            ISimpleAssignmentOperation assignment => Assign(assignment, state),
            IInvocationOperation call => Invoke(call, state),
            IObjectCreationOperation creation => Create(creation, state),
            IAwaitOperation await => Await(await, state),
            IPropertyReferenceOperation property => ReadProperty(property, state),
            IFieldReferenceOperation field => ReadField(field, state),
            IArrayElementReferenceOperation or IImplicitIndexerReferenceOperation or IInlineArrayAccessOperation =>
                ReadElement(operation, state),
            IIsNullOperation isNull => IsNull(Evaluate(isNull.Operand, state)),
            IIsPatternOperation pattern => Match(pattern, state),
            IIsTypeOperation type => Neutral(type, state),
            IBinaryOperation binary => Compare(binary, state),
            IUnaryOperation { OperatorKind: UnaryOperatorKind.Not } not => Negate(Evaluate(not.Operand, state)),
            IDefaultValueOperation => Value.Null,
            IInstanceReferenceOperation self => ShareThis(self, state),
            ILiteralOperation or IFlowAnonymousFunctionOperation or IAnonymousFunctionOperation
                or ILocalFunctionOperation or ITypeOfOperation or ISizeOfOperation or INameOfOperation or ICaughtExceptionOperation
                or IDiscardOperation or IMethodReferenceOperation { Instance: null } => Value.Unknown,
            _ => LetEscape(operation, state),
        };
    }

    /// <summary>What leaves the method: returned, yielded or thrown.</summary>
    /// <returns>The value that leaves.</returns>
    internal Value HandOut(IOperation operation, FlowState state)
    {
        Value value = Evaluate(operation, state);
        Use(value, operation, state);
        Escape(value, state);
        return value;
    }

    /// <summary>What was handed out may have been returned by a finally block on the way out.</summary>
    internal void LeaveWith(Value value, IOperation operation, FlowState state)
    {
        if (IsRecording && value is { IsRental: true } or { IsView: true })
        {
            Standing standing = StandingOf(value, state);
            if (!standing.IsUseSeen)
            {
                SyntaxNode statement = operation.Syntax.Parent ?? operation.Syntax;
                CountLateUse(statement, operation, standing, standing.Status == Status.Returned);
            }
        }
    }

    internal void SetVariable(ISymbol variable, Value value, FlowState state)
    {
        if (graph.IsTracked(variable))
        {
            state[graph.Slot(variable)] = value.Code;
        }
        else
        {
            Escape(value, state);
        }

        graph.Conditions.Forget(state, variable);
    }

    private Value Read(ISymbol variable, FlowState state) =>
        graph.IsTracked(variable) ? new Value(state[graph.Slot(variable)]) : Value.Unknown;

    private Value Capture(IFlowCaptureOperation capture, FlowState state)
    {
        IOperation captured = capture.Value is IDeclarationExpressionOperation declared ? declared.Expression : capture.Value;
        if (FlowGraph.VariableOf(captured) is { } variable && captured is not IConversionOperation)
        {
            _captured[capture.Id] = variable;
        }

        Value value = capture.Value is IMemberReferenceOperation { Instance: var instance } and not IPropertyReferenceOperation
            ? Neutral(instance, state)
            : Evaluate(capture.Value, state);
        state[graph.Slot(capture.Id)] = value.Code;
        return value;
    }

    private Value Convert(IConversionOperation conversion, FlowState state)
    {
        Value value = Evaluate(conversion.Operand, state);
        if (!value.HasSite)
        {
            return value;
        }

        if (Names.IsView(conversion.Type) && !Names.IsView(conversion.Operand.Type))
        {
            graph.Sites[value.Site].IsNeededOnHeap |= conversion.Type?.IsRefLikeType == false;
            return value.As(ValueForm.View);
        }

        if (conversion.OperatorMethod is null || Names.IsView(conversion.Type))
        {
            return value;
        }

        Use(value, conversion.Operand, state);
        Escape(value, state);
        return Value.Unknown;
    }

    private Value Assign(ISimpleAssignmentOperation assignment, FlowState state)
    {
        ISymbol? variable = TargetOf(assignment.Target);
        if (assignment.IsRef)
        {
            LetEscape(assignment.Value, state);
            return Value.Unknown;
        }

        if (variable is not null || assignment.Target is IDiscardOperation)
        {
            Value value = Evaluate(assignment.Value, state);
            if (variable is not null)
            {
                SetVariable(variable, value, state);
            }

            return value;
        }

        ReadTarget(assignment.Target, state);
        Value stored = Evaluate(assignment.Value, state);
        Escape(stored, state);
        Stored(assignment.Target, state);
        return stored;
    }

    /// <summary>The variable that is written through an operation, which may have been captured before.</summary>
    private ISymbol? TargetOf(IOperation? target) => target switch
    {
        IFlowCaptureReferenceOperation capture => _captured.TryGetValue(capture.Id, out ISymbol captured) ? captured : null,
        _ => FlowGraph.VariableOf(target),
    };

    /// <summary>Reads what an assignment writes through: the array of an element, the object of a field.</summary>
    private void ReadTarget(IOperation target, FlowState state)
    {
        if (target is IFieldReferenceOperation { Instance: var instance })
        {
            Neutral(instance, state);
        }
        else
        {
            Evaluate(target, state);
        }
    }

    private void Stored(IOperation target, FlowState state)
    {
        if (target is IFieldReferenceOperation field)
        {
            ReplaceField(field.Field, state);
        }
        else if (target is IInstanceReferenceOperation or IFlowCaptureReferenceOperation)
        {
            ReplaceFields(state);
        }

        if (target is IMemberReferenceOperation)
        {
            graph.Conditions.Age(state);
        }
    }

    private Value ReadField(IFieldReferenceOperation field, FlowState state)
    {
        if (field.Instance is not null and not IInstanceReferenceOperation)
        {
            Neutral(field.Instance, state);
        }

        return Value.Unknown;
    }

    private Value ReadElement(IOperation element, FlowState state)
    {
        bool isFirst = true;
        Value array = Value.Unknown;
        foreach (IOperation child in element.ChildOperations)
        {
            Value value = Evaluate(child, state);
            if (isFirst)
            {
                array = value;
                Use(value, child, state);
                isFirst = false;
            }
            else
            {
                Escape(value, state);
            }
        }

        // An element may be a view of something else; a range of a span or memory is a view of the same.
        return element is IImplicitIndexerReferenceOperation && Names.IsView(element.Type) && array.HasSite
            && SymbolEqualityComparer.Default.Equals(element.Type, element.ChildOperations.First().Type)
            ? array.As(ValueForm.View)
            : Value.Unknown;
    }

    private Value Neutral(IOperation? operation, FlowState state)
    {
        if (operation is IInstanceReferenceOperation)
        {
            return Value.Unknown;
        }

        Value value = operation is IIsTypeOperation type ? Evaluate(type.ValueOperand, state) : Evaluate(operation, state);
        return operation is IIsTypeOperation ? Value.Unknown : value;
    }

    private static Value IsNull(Value value) => value switch
    {
        { HasSite: true } => Value.False,
        _ when value == Value.Null => Value.True,
        _ => Value.Unknown,
    };

    private static Value Negate(Value value) =>
        value == Value.True ? Value.False : value == Value.False ? Value.True : Value.Unknown;

    private Value Compare(IBinaryOperation binary, FlowState state)
    {
        Value left = Evaluate(binary.LeftOperand, state);
        Value right = Evaluate(binary.RightOperand, state);
        if (binary.OperatorKind is not (BinaryOperatorKind.Equals or BinaryOperatorKind.NotEquals))
        {
            return Value.Unknown;
        }

        Value equal = Value.Unknown;
        if (left == Value.Null || right == Value.Null)
        {
            equal = IsNull(left == Value.Null ? right : left);
        }
        else if (left.IsRental && right.IsRental)
        {
            equal = Value.Of(left == right);
        }
        else if (left.IsRental || right.IsRental)
        {
            state[graph.DoubtSlot] = 1; // what it is compared with may stand for it on this way
        }
        else if (left.Code is 2 or 3 && right.Code is 2 or 3)
        {
            equal = Value.Of(left == right);
        }

        return binary.OperatorKind == BinaryOperatorKind.Equals ? equal : Negate(equal);
    }

    private Value Match(IIsPatternOperation match, FlowState state)
    {
        Value value = Evaluate(match.Value, state);
        foreach (IOperation part in match.Pattern.DescendantsAndSelf())
        {
            if ((part as IDeclarationPatternOperation)?.DeclaredSymbol is { } declared)
            {
                SetVariable(declared, part == match.Pattern ? value : Value.Unknown, state);
            }
            else if ((part as IRecursivePatternOperation)?.DeclaredSymbol is { } deconstructed)
            {
                SetVariable(deconstructed, part == match.Pattern ? value : Value.Unknown, state);
            }
        }

        return match.Pattern switch
        {
            IConstantPatternOperation { Value.ConstantValue: { HasValue: true, Value: null } } => IsNull(value),
            INegatedPatternOperation { Pattern: IConstantPatternOperation { Value.ConstantValue: { HasValue: true, Value: null } } } =>
                Negate(IsNull(value)),
            IConstantPatternOperation { Value.ConstantValue: { HasValue: true, Value: bool truth } } when value.Code is 2 or 3 =>
                Value.Of(value == Value.Of(truth)),
            _ when value == Value.Null && match.Pattern is IDeclarationPatternOperation or IRecursivePatternOperation => Value.False,
            IRecursivePatternOperation { PropertySubpatterns.IsEmpty: true, DeconstructionSubpatterns.IsEmpty: true } any
                when value.IsRental && SymbolEqualityComparer.Default.Equals(any.NarrowedType, match.Value.Type) => Value.True,
            IDeclarationPatternOperation { MatchesNull: false } typed
                when value.IsRental && SymbolEqualityComparer.Default.Equals(typed.NarrowedType, match.Value.Type) => Value.True,
            _ => Value.Unknown,
        };
    }

    /// <summary>Lets others have 'this': they may replace its fields.</summary>
    private Value ShareThis(IInstanceReferenceOperation self, FlowState state)
    {
        if (self.ReferenceKind == InstanceReferenceKind.ContainingTypeInstance)
        {
            ReplaceFields(state);
        }

        return Value.Unknown;
    }

    /// <summary>The default: operands are used, and may be kept.</summary>
    private Value LetEscape(IOperation operation, FlowState state)
    {
        // A deconstruction does not use its targets.
        IEnumerable<IOperation> operands =
            operation is IDeconstructionAssignmentOperation deconstruction ? [deconstruction.Value] : operation.ChildOperations;
        foreach (IOperation child in operands)
        {
            Value value = Evaluate(child, state);
            Use(value, child, state);
            Escape(value, state);
        }

        if (operation is IDeconstructionAssignmentOperation or ICompoundAssignmentOperation or IIncrementOrDecrementOperation
            or IDeclarationExpressionOperation)
        {
            ForgetTargets(operation, state);
        }

        return Value.Unknown;
    }

    /// <summary>What the operation sets is not known any more.</summary>
    private void ForgetTargets(IOperation? operation, FlowState state)
    {
        switch (operation)
        {
            case IDeconstructionAssignmentOperation deconstruction:
                ForgetTargets(deconstruction.Target, state);
                break;
            case ICompoundAssignmentOperation compound:
                ForgetTargets(compound.Target, state);
                break;
            case IIncrementOrDecrementOperation increment:
                ForgetTargets(increment.Target, state);
                break;
            case IDeclarationExpressionOperation declaration:
                ForgetTargets(declaration.Expression, state);
                break;
            case ITupleOperation tuple:
                foreach (IOperation element in tuple.Elements)
                {
                    ForgetTargets(element, state);
                }

                break;
            case IFieldReferenceOperation field:
                ReplaceField(field.Field, state);
                break;
            default:
                if (TargetOf(operation) is { } variable)
                {
                    SetVariable(variable, Value.Unknown, state);
                }
                else if (operation is IFlowCaptureReferenceOperation)
                {
                    ReplaceFields(state);
                }

                break;
        }
    }
}

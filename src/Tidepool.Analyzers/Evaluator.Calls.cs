using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>Calls, constructors, properties and awaits.</summary>
internal sealed partial class Evaluator
{
    private Value Invoke(IInvocationOperation call, FlowState state)
    {
        MethodFacts facts = graph.Catalog.Of(call.TargetMethod);
        Value self = EvaluateInstance(call.Instance, state);
        Value first = Value.Unknown;
        IOperation? shown = call.Instance;
        bool isKnown = facts.Role != MethodRole.Unknown;
        foreach (IArgumentOperation argument in call.Arguments)
        {
            Value value = Pass(argument, facts, state);
            if (argument.Parameter?.Ordinal == 0)
            {
                first = value;
                shown ??= argument.Value;
            }
        }

        if (facts.Role is not (MethodRole.ReturnArgument or MethodRole.ReturnInstance or MethodRole.Dispose))
        {
            walker.Throw(state, isThrown: true);
        }

        if (!isKnown)
        {
            graph.Conditions.Age(state);
            if (call.Instance is null or IInstanceReferenceOperation)
            {
                ReplaceFields(state);
            }
        }

        if (Names.Has(call.TargetMethod, "DoesNotReturn"))
        {
            state[graph.OverSlot] = 1;
            return Value.Unknown;
        }

        // A view shows what the call is made on, or its first argument.
        Value source = call.Instance is null ? first : self;
        return Apply(call, facts, self, first, ShowsContent(source, shown) ? source : Value.Unknown, state);
    }

    /// <summary>A call on 'this' is not yet a way for others to get it.</summary>
    private Value EvaluateInstance(IOperation? instance, FlowState state) =>
        instance is IInstanceReferenceOperation ? Value.Unknown : Evaluate(instance, state);

    /// <summary>Whether spans and memories of the operation show the rental: those of a plain object may show something else.</summary>
    private bool ShowsContent(Value value, IOperation? operation)
    {
        while (operation is IConversionOperation { OperatorMethod: null } conversion)
        {
            operation = conversion.Operand;
        }

        return value.HasSite
            && (graph.Sites[value.Site].Kind is RentalKind.Array or RentalKind.Owner
                || Names.IsView(operation?.Type) || Names.LeaseKind(operation?.Type) is not null);
    }

    private Value Apply(IInvocationOperation call, MethodFacts facts, Value self, Value first, Value view, FlowState state)
    {
        switch (facts.Role)
        {
            case MethodRole.Rent:
                _lengths.Check(call, facts);
                Use(self, call.Instance, state);
                if (facts.Kind == RentalKind.Array && Lengths.Of(call) == 0)
                {
                    return Value.Unknown; // the empty array, which is everyone's
                }

                return Rent(call, facts.Kind, graph.Catalog.Pools.Of(call.Instance), state);
            case MethodRole.RentAsync:
                return Start(call, facts.Kind, state);
            case MethodRole.TryRent:
                return Try(call, facts.Kind, state);
            case MethodRole.ReturnArgument:
                Return(first, call, facts.Kind, state);
                return Value.Unknown;
            case MethodRole.ReturnInstance:
                ReturnInstance(self, call, facts.Kind, state);
                return Value.Unknown;
            case MethodRole.Dispose when self.IsRental:
                End(self, call, state);
                return Value.Unknown;
            case MethodRole.HandOn:
                Use(self, call.Instance, state);
                Escape(self, state);
                return Names.LeaseKind(call.Type) is null ? Value.Unknown : Rent(call, facts.Kind, null, state);
            case MethodRole.Pending:
                return self.HasSite && self.Form == ValueForm.Pending && call.TargetMethod.Name == "GetResult"
                    ? Begin(self, state)
                    : self.Form == ValueForm.Pending ? self : Value.Unknown;
            default:
                return CallMember(call, self, view, facts, state);
        }
    }

    private Value CallMember(IInvocationOperation call, Value self, Value view, MethodFacts facts, FlowState state)
    {
        bool isText = call.TargetMethod.Name == "ToString" && !(self.IsRental && graph.Sites[self.Site].Kind != RentalKind.Object);
        if (self.HasSite && (isText || !IsHarmless(call.TargetMethod)))
        {
            Use(self, call.Instance, state);
        }

        if (call.TargetMethod.Name == "GetEnumerator" && call.Instance is { } enumerated)
        {
            _wholes.Enumerate(self, enumerated);
        }

        if (Names.IsView(call.Type) && view.HasSite && (facts.Role == MethodRole.Reader || self.HasSite))
        {
            return view.As(ValueForm.View);
        }

        if (!self.HasSite || call.Type is not { IsReferenceType: true }
            || !SymbolEqualityComparer.Default.Equals(call.Type, call.Instance?.Type))
        {
            return Value.Unknown;
        }

        // 'builder = builder.Append(x)' is the same object; others may give the same, a part or a copy.
        if (Names.Full(call.Type) == "System.Text.StringBuilder")
        {
            return self;
        }

        Escape(self, state);
        return Value.Unknown;
    }

    /// <summary>Evaluates an argument. A method that is not known to read only may keep it.</summary>
    private Value Pass(IArgumentOperation argument, MethodFacts facts, FlowState state)
    {
        IParameterSymbol? parameter = argument.Parameter;
        if (parameter?.RefKind == RefKind.Out)
        {
            ForgetTargets(argument.Value, state);
            return Value.Unknown;
        }

        Value value = Evaluate(argument.Value, state);
        bool isReturn = facts.Role == MethodRole.ReturnArgument && parameter?.Ordinal == 0;
        if (isReturn)
        {
            return value;
        }

        if (parameter is null || IsContentOf(parameter))
        {
            Use(value, argument.Value, state);
        }

        _wholes.Pass(value, argument, facts.Role == MethodRole.Reader);
        bool isSpan = parameter?.Type.IsRefLikeType == true && Names.LeaseKind(parameter.Type) is null;
        bool isKept = facts.Role is not (MethodRole.Reader or MethodRole.Dispose) && !Names.Has(parameter, "Borrowed") && !isSpan;
        if (isKept || parameter?.RefKind == RefKind.Ref)
        {
            Escape(value, state);
        }

        if (parameter?.RefKind == RefKind.Ref)
        {
            ForgetTargets(argument.Value, state);
        }

        return value;
    }

    /// <summary>Whether the parameter's type says that the content is used, not only the reference.</summary>
    private static bool IsContentOf(IParameterSymbol parameter)
    {
        ITypeSymbol type = parameter.OriginalDefinition.Type;
        return type.TypeKind is TypeKind.Array or TypeKind.Struct or TypeKind.Pointer or TypeKind.Class
            && type.SpecialType != SpecialType.System_Object;
    }

    private static bool IsHarmless(ISymbol member) =>
        member.Name is "Equals" or "GetHashCode" or "ToString" or "GetType" or "IsActive" or "Length" or "LongLength" or "IsEmpty"
            or "Count" or "CanRead" or "CanWrite" or "CanSeek" or "TryGetBuffer" or "HasValue" or "Rank" or "MaxLength" or "Dispose"
            or "DisposeAsync" or "Close" or "Key";

    private Value Create(IObjectCreationOperation creation, FlowState state)
    {
        MethodFacts facts = creation.Constructor is { } constructor ? graph.Catalog.Of(constructor) : default;
        Value view = Value.Unknown;
        foreach (IArgumentOperation argument in creation.Arguments)
        {
            Value value = Pass(argument, facts, state);
            view = argument.Parameter?.Ordinal == 0 && ShowsContent(value, argument.Value) ? value : view;
        }

        if (creation.Initializer is { } initializer)
        {
            LetEscape(initializer, state);
        }

        if (facts.Role == MethodRole.Rent)
        {
            return Rent(creation, facts.Kind, null, state);
        }

        return facts.Role == MethodRole.Reader && Names.IsView(creation.Type) && view.HasSite ? view.As(ValueForm.View) : Value.Unknown;
    }

    private Value ReadProperty(IPropertyReferenceOperation property, FlowState state)
    {
        Value self = EvaluateInstance(property.Instance, state);
        foreach (IArgumentOperation argument in property.Arguments)
        {
            Escape(Evaluate(argument.Value, state), state);
        }

        if (!self.HasSite)
        {
            return Value.Unknown;
        }

        if (self.Form == ValueForm.Pending)
        {
            return property.Property.Name == "Result" ? Begin(self, state) : Value.Unknown;
        }

        if (property.Instance?.Type?.OriginalDefinition.SpecialType == SpecialType.System_Nullable_T)
        {
            return property.Property.Name == "Value" ? self : Value.True;
        }

        if (property.Property.Name == "IsActive" && self.IsRental)
        {
            return StandingOf(self, state).Status switch
            {
                Status.Returned => Value.False,
                Status.Rented => Value.True,
                _ => Value.Unknown,
            };
        }

        _wholes.Read(self, property);
        if (self.IsRental && Names.LeaseKind(property.Type) is not null)
        {
            return self; // a lease within a lease is the same rental
        }

        if (!IsHarmless(property.Property))
        {
            Use(self, property.Instance, state);
        }

        return IsView(property, self) ? self.As(ValueForm.View) : Value.Unknown;
    }

    private bool IsView(IPropertyReferenceOperation property, Value self)
    {
        bool isShown = Names.IsView(property.Type) && property.Arguments.IsEmpty;
        bool isNamed = property.Type is { IsReferenceType: true }
            && property.Property.Name is "Value" or "Array" or "Stream" or "Connection" or "Builder";
        return ShowsContent(self, property.Instance)
            && (isShown || (isNamed && (self.IsRental || property.Property.Name == "Array")));
    }

    private Value Await(IAwaitOperation operation, FlowState state)
    {
        Value value = Evaluate(operation.Operation, state);
        walker.Throw(state, isThrown: true);
        ReportHeldAcross(operation, state);
        graph.Conditions.Age(state);
        ReplaceFields(state);
        return value.HasSite && value.Form == ValueForm.Pending ? Begin(value, state) : Value.Unknown;
    }

    private Value Try(IInvocationOperation call, RentalKind kind, FlowState state)
    {
        Site site = graph.SiteOf(call, kind, null, true);
        Renew(site, Status.Maybe, state);
        IArgumentOperation? found = call.Arguments.FirstOrDefault(one => one.Parameter?.RefKind == RefKind.Out);
        foreach (IOperation target in found?.Value.DescendantsAndSelf() ?? [])
        {
            if (TargetOf(target) is { } variable)
            {
                SetVariable(variable, Value.Of(site.Index, ValueForm.Rental), state);
                return Value.Of(site.Index, ValueForm.Tried);
            }
        }

        state[site.Slot] = new Standing(Status.Escaped).Code;
        return Value.Unknown;
    }
}

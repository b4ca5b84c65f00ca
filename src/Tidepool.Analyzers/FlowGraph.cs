using System.Collections.Immutable;
using System.Runtime.CompilerServices;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;
using Microsoft.CodeAnalysis.Operations;

namespace Tidepool.Analyzers;

/// <summary>One control-flow graph under analysis: its slots, the places that rent and return, and which locals can be followed.</summary>
internal sealed class FlowGraph
{
    private readonly Dictionary<object, int> _slots = [];
    private readonly List<object> _keys = [];
    private readonly Dictionary<SyntaxNode, Site> _siteAt = [];
    private readonly Dictionary<SyntaxNode, int> _pointAt = [];
    private readonly HashSet<ISymbol> _untracked;

    internal FlowGraph(ControlFlowGraph graph, ISymbol function, Catalog catalog, HashSet<ISymbol> untracked)
    {
        Graph = graph;
        Function = function;
        Catalog = catalog;
        _untracked = untracked;
        Conditions = new Conditions(this);
        DoubtSlot = Slot("#doubt");
        ThrownSlot = Slot("#thrown");
        OverSlot = Slot("#over");
        GuessSlot = Slot("#guess");
    }

    internal ControlFlowGraph Graph { get; }

    /// <summary>The method, lambda or local function that the graph is of.</summary>
    internal ISymbol Function { get; }

    internal Catalog Catalog { get; }

    internal Conditions Conditions { get; }

    internal Findings Findings { get; } = new();

    internal List<Site> Sites { get; } = [];

    internal List<ReturnPoint> Points { get; } = [];

    /// <summary>Return points of fields that a way through the method leaves as they were.</summary>
    internal HashSet<int> Kept { get; } = [];

    /// <summary>Return points of fields that a way replaces afterwards.</summary>
    internal HashSet<int> Replaced { get; } = [];

    /// <summary>Rentals of a tiny constant length, in bytes.</summary>
    internal Dictionary<SyntaxNode, int> Tiny { get; } = [];

    /// <summary>Whether the function is an iterator.</summary>
    internal bool HasYield =>
        Graph.Blocks.Any(block => block.Operations.Any(operation => operation is IReturnOperation));

    /// <summary>Set on a way whose branches may contradict each other.</summary>
    internal int DoubtSlot { get; }

    /// <summary>Set on a way into a handler that began at a call or a throw.</summary>
    internal int ThrownSlot { get; }

    /// <summary>Set when an exception stops the way for certain.</summary>
    internal int OverSlot { get; }

    /// <summary>Set on a way through a catch or finally once a branch in it was taken whose condition is not known.</summary>
    internal int GuessSlot { get; }

    /// <summary>The slot of a local, parameter, field, capture, condition or site.</summary>
    internal int Slot(object key)
    {
        if (!_slots.TryGetValue(key, out int slot))
        {
            slot = _keys.Count;
            _slots.Add(key, slot);
            _keys.Add(key);
        }

        return slot;
    }

    internal bool IsVariable(int slot) => slot < _keys.Count && _keys[slot] is ILocalSymbol or IParameterSymbol or CaptureId;

    internal bool IsField(int slot) => slot < _keys.Count && _keys[slot] is IFieldSymbol;

    /// <summary>Whether only this function's own code sets the variable, by plain assignment.</summary>
    internal bool IsTracked(ISymbol variable) =>
        !_untracked.Contains(variable) && SymbolEqualityComparer.Default.Equals(variable.ContainingSymbol, Function)
        && variable is ILocalSymbol { RefKind: RefKind.None } or IParameterSymbol { RefKind: RefKind.None };

    internal Site SiteOf(IOperation origin, RentalKind kind, Pools.Identity? pool, bool isRentedHere)
    {
        if (!_siteAt.TryGetValue(origin.Syntax, out Site? site))
        {
            site = new Site(Sites.Count, Slot(origin.Syntax), kind, origin, pool, isRentedHere);
            _siteAt.Add(origin.Syntax, site);
            Sites.Add(site);
        }

        return site;
    }

    internal int PointOf(IOperation operation, BasicBlock block)
    {
        if (!_pointAt.TryGetValue(operation.Syntax, out int point))
        {
            point = Points.Count;
            _pointAt.Add(operation.Syntax, point);
            Points.Add(new ReturnPoint(operation, block));
        }

        return point;
    }

    /// <summary>Locals and parameters that more than plain assignments of their own function set, or that lambdas see.</summary>
    internal static HashSet<ISymbol> Untracked(ImmutableArray<IOperation> blocks, ISymbol owner)
    {
        var found = new HashSet<ISymbol>(SymbolEqualityComparer.Default);
        foreach (IOperation block in blocks)
        {
            Visit(block, owner, found);
        }

        return found;
    }

    private static void Visit(IOperation operation, ISymbol function, HashSet<ISymbol> found)
    {
        RuntimeHelpers.EnsureSufficientExecutionStack();
        switch (operation)
        {
            case IAnonymousFunctionOperation lambda:
                function = lambda.Symbol;
                break;
            case ILocalFunctionOperation local:
                function = local.Symbol;
                break;
            case ILocalReferenceOperation reference when !Owns(function, reference.Local):
                found.Add(reference.Local);
                break;
            case IParameterReferenceOperation reference when !Owns(function, reference.Parameter):
                found.Add(reference.Parameter);
                break;
            case IAddressOfOperation { Reference: var reference }:
                AddVariable(reference, found);
                break;
            case ISimpleAssignmentOperation { IsRef: true } assignment:
                AddVariable(assignment.Value, found);
                break;
            case IVariableDeclaratorOperation { Symbol.IsRef: true, Initializer.Value: var value }:
                AddVariable(value, found);
                break;
        }

        foreach (IOperation child in operation.ChildOperations)
        {
            Visit(child, function, found);
        }
    }

    private static bool Owns(ISymbol function, ISymbol variable) =>
        SymbolEqualityComparer.Default.Equals(variable.ContainingSymbol, function)
        || function is not IMethodSymbol { MethodKind: MethodKind.AnonymousFunction or MethodKind.LocalFunction };

    private static void AddVariable(IOperation operation, HashSet<ISymbol> found)
    {
        if (VariableOf(operation) is { } variable)
        {
            found.Add(variable);
        }
    }

    internal static ISymbol? VariableOf(IOperation? operation) => operation switch
    {
        ILocalReferenceOperation reference => reference.Local,
        IParameterReferenceOperation reference => reference.Parameter,
        IConversionOperation { OperatorMethod: null } conversion => VariableOf(conversion.Operand),
        _ => null,
    };
}

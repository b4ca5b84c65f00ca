using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.FlowAnalysis;

namespace Tidepool.Analyzers;

/// <summary>A place that rents, or that returns what came from elsewhere.</summary>
internal sealed class Site(int index, int slot, RentalKind kind, IOperation origin, Pools.Identity? pool, bool isRentedHere)
{
    internal int Index { get; } = index;

    /// <summary>Where states keep its standing.</summary>
    internal int Slot { get; } = slot;

    internal RentalKind Kind { get; } = kind;

    internal IOperation Origin { get; } = origin;

    /// <summary>The pool it came from, when that is known for sure.</summary>
    internal Pools.Identity? Pool { get; } = pool;

    /// <summary>False for what came from elsewhere and is only returned here.</summary>
    internal bool IsRentedHere { get; } = isRentedHere;

    /// <summary>Whether a way was found on which it is returned or handed on.</summary>
    internal bool IsEverEnded { get; set; }

    /// <summary>Whether a way leaves the method with it, neither returned nor handed on.</summary>
    internal bool IsLeftOpen { get; set; }

    /// <summary>Whether it was ever needed as what it is, where a span of the stack would not do.</summary>
    internal bool IsNeededOnHeap { get; set; }

    /// <summary>Whether anything else ever got it: then what it may be used for is not known.</summary>
    internal bool HasEscaped { get; set; }

    /// <summary>Whether the code asks how long it really is, or fills it to its end: then the whole of it is meant.</summary>
    internal bool IsWholeMeant { get; set; }

    /// <summary>Where it is used to its end.</summary>
    internal List<SyntaxNode> WholeUses { get; } = [];
}

/// <summary>A place that returns.</summary>
internal readonly struct ReturnPoint(IOperation operation, BasicBlock block)
{
    internal IOperation Operation { get; } = operation;

    internal BasicBlock Block { get; } = block;
}

using System.Collections.Concurrent;
using Microsoft.CodeAnalysis;

namespace Tidepool.Analyzers;

/// <summary>What each method does to rentals. One for a compilation; safe for any number of threads.</summary>
internal sealed class Catalog
{
    private readonly ConcurrentDictionary<IMethodSymbol, MethodFacts> _known = new(SymbolEqualityComparer.Default);

    /// <summary>Which pools are told apart.</summary>
    internal Pools Pools { get; } = new();

    internal MethodFacts Of(IMethodSymbol method)
    {
        IMethodSymbol definition = (method.ReducedFrom ?? method).OriginalDefinition;
        return _known.TryGetValue(definition, out MethodFacts facts) ? facts : _known.GetOrAdd(definition, Classify);
    }

    private static MethodFacts Classify(IMethodSymbol method) =>
        method.MethodKind == MethodKind.Constructor ? OfConstructor(method) : OfMethod(method);

    private static MethodFacts OfConstructor(IMethodSymbol constructor)
    {
        INamedTypeSymbol type = constructor.ContainingType;
        if (Names.Has(type, "MustReturn"))
        {
            return new MethodFacts(MethodRole.Rent, RentalKind.Disposable);
        }

        if (Names.LeaseKind(type) == RentalKind.Disposable && type.Name != "SequenceLease")
        {
            // A stream over the caller's own memory holds nothing of a pool.
            bool isOverMemory = constructor.Parameters.Length > 0
                && (constructor.Parameters[0].Type is IArrayTypeSymbol || Names.IsView(constructor.Parameters[0].Type));
            return new MethodFacts(isOverMemory ? MethodRole.Unknown : MethodRole.Rent, RentalKind.Disposable);
        }

        return new MethodFacts(Readers.IsReader(constructor) ? MethodRole.Reader : MethodRole.Unknown);
    }

    private static MethodFacts OfMethod(IMethodSymbol method)
    {
        IMethodSymbol root = method;
        while (root.OverriddenMethod is { } overridden)
        {
            root = overridden.OriginalDefinition;
        }

        return Marked(method) ?? OfArrays(root) ?? OfObjects(root) ?? OfTidepool(method) ?? OfEnds(method)
            ?? new MethodFacts(Readers.IsReader(root) ? MethodRole.Reader : MethodRole.Unknown);
    }

    /// <summary>Methods that their author marked.</summary>
    private static MethodFacts? Marked(IMethodSymbol method)
    {
        bool isRent = Names.Has(method, "ReturnsRented") || Names.Has(method, "MustReturn");
        foreach (AttributeData data in method.GetReturnTypeAttributes())
        {
            isRent |= data.AttributeClass?.Name is "ReturnsRentedAttribute" or "MustReturnAttribute" or "ReturnsRented" or "MustReturn";
        }

        if (!isRent || method.ReturnsVoid)
        {
            return null;
        }

        ITypeSymbol result = Awaited(method.ReturnType) ?? method.ReturnType;
        RentalKind kind = result is IArrayTypeSymbol ? RentalKind.Array : Names.LeaseKind(result) ?? RentalKind.Disposable;
        return new MethodFacts(Awaited(method.ReturnType) is null ? MethodRole.Rent : MethodRole.RentAsync, kind);
    }

    private static MethodFacts? OfArrays(IMethodSymbol root)
    {
        if (root.Name is not ("Rent" or "Return"))
        {
            return null;
        }

        string type = Names.Full(root.ContainingType);
        return (type, root.Name) switch
        {
            (Names.ArrayPool, "Rent") => new MethodFacts(MethodRole.Rent),
            (Names.ArrayPool, "Return") => new MethodFacts(MethodRole.ReturnArgument),
            (Names.MemoryPool, "Rent") => new MethodFacts(MethodRole.Rent, RentalKind.Owner),
            _ => null,
        };
    }

    private static MethodFacts? OfObjects(IMethodSymbol root)
    {
        if (root.Name is not ("Get" or "Return" or "RentRaw" or "ReturnRaw"))
        {
            return null;
        }

        string type = Names.Full(root.ContainingType);
        return (type, root.Name) switch
        {
            (Names.MicrosoftObjectPool, "Get") => new MethodFacts(MethodRole.Rent, RentalKind.Object),
            (Names.MicrosoftObjectPool, "Return") => new MethodFacts(MethodRole.ReturnArgument, RentalKind.Object),
            (Names.ObjectPool, "RentRaw") => new MethodFacts(MethodRole.Rent, RentalKind.Object),
            (Names.ObjectPool, "ReturnRaw") => new MethodFacts(MethodRole.ReturnArgument, RentalKind.Object),
            _ => null,
        };
    }

    private static MethodFacts? OfTidepool(IMethodSymbol method)
    {
        INamedTypeSymbol type = method.ContainingType;
        if (type is null || Names.Space(type) is not ("Tidepool" or "Tidepool.Data") || type.Name == "LeaseScopeExtensions")
        {
            return null;
        }

        bool isRent = method.Name.StartsWith("Rent", StringComparison.Ordinal) || method.Name == "GetThreadHandle";
        if (isRent && Names.LeaseKind(method.ReturnType) is { } kind)
        {
            return new MethodFacts(MethodRole.Rent, kind);
        }

        if (isRent && Names.LeaseKind(Awaited(method.ReturnType)) is { } awaited)
        {
            return new MethodFacts(MethodRole.RentAsync, awaited);
        }

        if (method.Name == "TryRent" && method.Parameters.Length > 0
            && method.Parameters[method.Parameters.Length - 1] is { RefKind: RefKind.Out, Type: var tried }
            && Names.LeaseKind(tried) is { } found)
        {
            return new MethodFacts(MethodRole.TryRent, found);
        }

        return type.Name == "ThreadHandle" && method.Name == "Return"
            ? new MethodFacts(MethodRole.ReturnArgument, RentalKind.Lease)
            : OfLease(method, type);
    }

    private static MethodFacts? OfLease(IMethodSymbol method, INamedTypeSymbol type)
    {
        if (Names.LeaseKind(type) is not { } kind)
        {
            return null;
        }

        return method.Name switch
        {
            "Return" or "ToStringAndReturn" when method.Parameters.IsEmpty => new MethodFacts(MethodRole.ReturnInstance, kind),
            "Detach" or "ToOwner" when Names.LeaseKind(method.ReturnType) is { } next => new MethodFacts(MethodRole.HandOn, next),
            "Detach" or "ToOwner" => new MethodFacts(MethodRole.HandOn, kind),
            _ => null,
        };
    }

    private static MethodFacts? OfEnds(IMethodSymbol method) => method.Name switch
    {
        "Dispose" or "DisposeAsync" or "Close" when method.Parameters.IsEmpty => new MethodFacts(MethodRole.Dispose),
        "Return" when method.Parameters.IsEmpty && Names.Has(method.ContainingType, "MustReturn") =>
            new MethodFacts(MethodRole.ReturnInstance, RentalKind.Disposable),
        "ConfigureAwait" or "AsTask" or "Preserve" or "GetAwaiter" or "GetResult"
            when Names.Space(method.ContainingType).StartsWith("System.", StringComparison.Ordinal) => new MethodFacts(MethodRole.Pending),
        _ => null,
    };

    private static ITypeSymbol? Awaited(ITypeSymbol type) =>
        type is INamedTypeSymbol { Arity: 1, Name: "Task" or "ValueTask" } task && Names.Space(task) == "System.Threading.Tasks"
            ? task.TypeArguments[0]
            : null;
}

using Microsoft.CodeAnalysis;

namespace Tidepool.Analyzers;

/// <summary>Names of types, and attributes recognised by name in any namespace.</summary>
internal static class Names
{
    internal const string ArrayPool = "System.Buffers.ArrayPool`1";
    internal const string MemoryPool = "System.Buffers.MemoryPool`1";
    internal const string MicrosoftObjectPool = "Microsoft.Extensions.ObjectPool.ObjectPool`1";
    internal const string ObjectPool = "Tidepool.ObjectPool`1";

    internal static string Full(ITypeSymbol? type) => type is null ? "" : Space(type) + "." + type.MetadataName;

    internal static string Space(ITypeSymbol type) => type.ContainingNamespace?.ToDisplayString() ?? "";

    internal static bool IsOrInherits(ITypeSymbol? type, string full)
    {
        for (; type is not null; type = type.BaseType)
        {
            if (full.EndsWith("." + type.MetadataName, StringComparison.Ordinal) && Full(type) == full)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Whether the symbol carries the attribute, in whatever namespace it is declared.</summary>
    internal static bool Has(ISymbol? symbol, string attribute)
    {
        if (symbol is null)
        {
            return false;
        }

        foreach (AttributeData data in symbol.GetAttributes())
        {
            if (data.AttributeClass?.Name is { } name && (name == attribute || name == attribute + "Attribute"))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Spans, memories, segments, sequences: what shows someone else's elements and owns nothing.</summary>
    internal static bool IsView(ITypeSymbol? type) =>
        type is INamedTypeSymbol { Arity: 1 } view
        && view.MetadataName is "Span`1" or "ReadOnlySpan`1" or "Memory`1" or "ReadOnlyMemory`1" or "ArraySegment`1" or "ReadOnlySequence`1"
        && Space(view) is "System" or "System.Buffers";

    /// <summary>Whether the type may be used again after its Dispose.</summary>
    internal static bool IsReusable(ITypeSymbol? type) => type?.Name is "LeaseScope" or "AsyncLeaseScope" && Space(type) == "Tidepool";

    /// <summary>The kind of a lease type of Tidepool, or null.</summary>
    internal static RentalKind? LeaseKind(ITypeSymbol? type)
    {
        if (type is null || Space(type) is not ("Tidepool" or "Tidepool.Data"))
        {
            return type is not null && Full(type) == "System.Buffers.IMemoryOwner`1" ? RentalKind.Owner : null;
        }

        return type.Name switch
        {
            "BufferLease" or "ObjectLease" or "StreamLease" or "ResourceLease" or "KeyedResourceLease" or "SharedLease"
                or "DbConnectionLease" or "PooledStringBuilder" => RentalKind.Lease,
            "ArrayScope" => RentalKind.Scope,
            "ThreadHandle" => RentalKind.Handle,
            "PooledMemoryStream" or "PooledBufferWriter" or "PooledSequenceWriter" or "SequenceLease" or "LeaseScope"
                or "AsyncLeaseScope" => RentalKind.Disposable,
            _ => null,
        };
    }
}

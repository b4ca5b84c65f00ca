using System.Buffers;
using CommunityToolkit.HighPerformance.Buffers;

namespace Tidepool.Labs;

/// <summary>The subjects of lab <c>arrays</c>, by element type, under the names that tables and results use.</summary>
internal static class RentalCatalog
{
    public const string NewArray = "new T[n]";
    public const string Shared = "ArrayPool<T>.Shared";
    public const string Created = "ArrayPool<T>.Create()";
    public const string ClassicScope = "scope struct over ArrayPool<T>";
    public const string SharedMemory = "MemoryPool<T>.Shared";
    public const string ToolkitOwner = "CommunityToolkit MemoryOwner<T>";
    public const string ToolkitSpan = "CommunityToolkit SpanOwner<T>";
    public const string Kestrel = "Kestrel pinned block pool";
    public const string NoPool = "no pool (floor)";
    public const string Raw = "BufferPool<T>.AsArrayPool()";
    public const string Lease = "BufferLease<T>";
    public const string Scope = "ArrayScope<T>";
    public const string Handle = "ThreadHandle<T>";
    public const string Memory = "BufferPool<T>.AsMemoryPool()";
    public const string DefaultLease = "BufferLease<T>, default checks";
    public const string CheckedLease = "BufferLease<T>, full checks";
    public const string Filled = "filling and comparing alone";
    public const string OverflowLease = "BufferLease<T>, budget used up";
    public const string OverflowRaw = "BufferPool<T>.AsArrayPool(), budget used up";

    /// <summary>All subjects for an element type without references.</summary>
    public static IReadOnlyList<Rental> For<T>()
        where T : unmanaged =>
    [
        Rental.Anywhere<NewArray<T>, ArrayItem<T>>(NewArray, ours: false),
        Rental.Anywhere<SharedArrayPool<T>, ArrayItem<T>>(Shared, ours: false),
        Rental.Anywhere<CreatedArrayPool<T>, ArrayItem<T>>(Created, ours: false),
        Rental.Anywhere<ScopedArrayPool<T>, ClassicScope<T>>(ClassicScope, ours: false),
        Rental.Anywhere<SharedMemoryPool<T>, OwnerItem<T>>(SharedMemory, ours: false),
        Rental.Anywhere<ToolkitMemoryOwner<T>, ToolkitItem<T>>(ToolkitOwner, ours: false),
        Rental.OnStack<ToolkitSpanOwner<T>, SpanOwner<T>>(ToolkitSpan, ours: false),
        Rental.Anywhere<TidepoolArrays<T>, ArrayItem<T>>(Raw, ours: true),
        Rental.Anywhere<TidepoolLease<T>, BufferLease<T>>(Lease, ours: true),
        Rental.OnStack<TidepoolScope<T>, ArrayScope<T>>(Scope, ours: true),
        Rental.OnStack<TidepoolHandle<T>, BufferLease<T>>(Handle, ours: true),
        Rental.Anywhere<TidepoolMemory<T>, OwnerItem<T>>(Memory, ours: true),
    ];

    /// <summary>Subjects for arrays of objects that are returned as they are, or never had a way to be cleared.</summary>
    public static IReadOnlyList<Rental> ForObjectsAsTheyAre { get; } =
    [
        Rental.OnStack<NewObjects, Objects>(NewArray, ours: false),
        Rental.OnStack<SharedObjects, Objects>(Shared, ours: false),
        Rental.OnStack<CreatedObjects, Objects>(Created, ours: false),
        Rental.OnStack<ScopedObjects, ScopedObjects.Scope>(ClassicScope, ours: false),
        Rental.OnStack<SharedObjectMemory, ObjectsOwner>(SharedMemory, ours: false),
        Rental.OnStack<ToolkitObjectsOwner, ToolkitObjectsOwner.Item>(ToolkitOwner, ours: false),
        Rental.OnStack<ToolkitObjectsSpan, ToolkitObjectsSpan.Item>(ToolkitSpan, ours: false),
        Rental.OnStack<TidepoolObjects, Objects>(Raw, ours: true),
    ];

    /// <summary>Subjects for arrays of objects that are cleared, because what they refer to must not stay alive.</summary>
    public static IReadOnlyList<Rental> ForObjectsCleared { get; } =
    [
        Rental.OnStack<NewObjects, Objects>(NewArray, ours: false),
        Rental.OnStack<SharedObjectsCleared, Objects>(Shared, ours: false),
        Rental.OnStack<CreatedObjectsCleared, Objects>(Created, ours: false),
        Rental.OnStack<TidepoolObjectsCleared, Objects>(Raw, ours: true),
        Rental.OnStack<TidepoolObjectLease, TidepoolObjectLease.Item>(Lease, ours: true),
        Rental.OnStack<TidepoolObjectScope, TidepoolObjectScope.Item>(Scope, ours: true),
        Rental.OnStack<TidepoolObjectHandle, TidepoolObjectLease.Item>(Handle, ours: true),
        Rental.OnStack<TidepoolObjectMemory, ObjectsOwner>(Memory, ours: true),
    ];

    /// <summary>Kestrel's pool in the patterns of lab <c>arrays</c>: 4096 bytes only.</summary>
    public static Rental KestrelBlocks { get; } = MemorySubject.Of<KestrelPool>(Kestrel, ours: false).Rental;

    /// <summary>The floor of patterns in which the buffer crosses threads.</summary>
    public static Rental Floor { get; } = Rental.Anywhere<NoPool<byte>, ArrayItem<byte>>(NoPool, ours: false);

    /// <summary>A lease of a pool that checks everything, stacks apart.</summary>
    public static Rental Checked { get; } =
        Rental.Anywhere<TidepoolCheckedLease<byte>, BufferLease<byte>>(CheckedLease, ours: true);

    /// <summary>The lease with the checks that a pool has by default.</summary>
    public static Rental ByDefault { get; } =
        Rental.Anywhere<TidepoolLease<byte>, BufferLease<byte>>(DefaultLease, ours: true);

    /// <summary>What full checks do with the bytes of a buffer, without a pool, in as many buffers as rest.</summary>
    public static Rental FillAndCompare { get; } = Rental.Anywhere<FilledArrays, ArrayItem<byte>>(Filled, ours: false);

    /// <summary>Arrays, and ours from a pool whose budget holds none.</summary>
    public static IReadOnlyList<Rental> BeyondBudget { get; } =
    [
        Rental.Anywhere<NewArray<byte>, ArrayItem<byte>>(NewArray, ours: false),
        Rental.Anywhere<TidepoolOverflowLease, BufferLease<byte>>(OverflowLease, ours: true),
        Rental.Anywhere<TidepoolOverflowArrays, ArrayItem<byte>>(OverflowRaw, ours: true),
    ];

    /// <summary>Versions of the rivals.</summary>
    public static void DescribeRivals(LabPlan plan)
    {
        plan.Rivals["ArrayPool, MemoryPool"] = RivalVersion.Of(typeof(ArrayPool<byte>));
        plan.Rivals["CommunityToolkit.HighPerformance"] = RivalVersion.Of(typeof(MemoryOwner<byte>));
        plan.Rivals["Kestrel"] = RivalVersion.Of(typeof(Microsoft.AspNetCore.Server.Kestrel.Core.KestrelServerOptions));
    }
}

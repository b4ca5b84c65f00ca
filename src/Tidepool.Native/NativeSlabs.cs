using System.Collections.Concurrent;

namespace Tidepool;

/// <summary>The slabs of the process, shared by the sources of all element types.</summary>
internal static unsafe class NativeSlabs
{
    /// <summary>What every block of the library is aligned to.</summary>
    internal const int NaturalAlignment = 16;

    /// <summary>Buffers up to this many bytes are cells; larger ones are blocks by themselves.</summary>
    internal const int MaxCellBytes = NativeSlab.Bytes / 8;

    private static readonly ConcurrentDictionary<(int CellBytes, int Alignment), NativeSlabClass> Classes = new();

    /// <summary>
    /// The class for buffers of that size, or null when they are blocks by themselves: also in the checked library, which then watches
    /// each.
    /// </summary>
    internal static NativeSlabClass? Find(long bytes, int alignment)
    {
        alignment = Math.Max(alignment, NaturalAlignment);
        long cell = (bytes + alignment - 1) & -alignment;
        return cell > MaxCellBytes || NativeLoader.IsChecked
            ? null
            : Classes.GetOrAdd(((int)cell, alignment), static key => new NativeSlabClass(key.CellBytes, key.Alignment));
    }

    /// <summary>The slabs that exist.</summary>
    internal static int Count => Classes.Values.Sum(static c => c.SlabCount);

    /// <summary>Every class of slabs is in order.</summary>
    internal static bool IsValid() => Classes.Values.All(static c => c.IsValid());

    /// <summary>A block of the library.</summary>
    /// <exception cref="InsufficientMemoryException">The library has no memory left.</exception>
    internal static void* Allocate(nuint bytes, nuint alignment)
    {
        void* block = alignment <= NaturalAlignment ? NativeMethods.tp_malloc(bytes) : NativeMethods.tp_aligned_alloc(alignment, bytes);
        return block is not null ? block : throw NoMemory(bytes, alignment);
    }

    private static InsufficientMemoryException NoMemory(nuint bytes, nuint alignment)
    {
        string budget = TidepoolNative.Budget is { } limit
            ? $"TidepoolNative.Budget is {limit:N0} bytes, {TidepoolNative.GetStatistics().CommittedBytes:N0} are committed"
            : "the system gives no more (TidepoolNative.Budget is not set)";
        return new InsufficientMemoryException($"There is no native memory for {bytes:N0} bytes aligned to {alignment}: {budget}.");
    }
}

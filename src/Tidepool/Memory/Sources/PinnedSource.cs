using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Arrays of the pinned object heap, which the garbage collector never moves: their address may be given to native code without a handle.
/// Making one is slow (it takes a lock and is collected with generation 2 only), so keep them: give such a pool a budget that holds its
/// working set.
/// </summary>
/// <typeparam name="T">An element type without references.</typeparam>
public sealed class PinnedSource<T> : BufferSource<T>
{
    private PinnedSource()
    {
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>())
        {
            throw new NotSupportedException(
                $"{typeof(T)} holds references; only types without references can be pinned. Use HeapSource<{typeof(T).Name}>.");
        }
    }

    /// <summary>The one instance; it has no state.</summary>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> holds references.</exception>
    public static PinnedSource<T> Instance => Holder.Instance ?? new PinnedSource<T>();

    /// <inheritdoc/>
    /// <remarks>Whole arrays unless an alignment is asked for: an aligned buffer begins somewhere in a longer array.</remarks>
    public override BufferForm Form => BufferForm.WholeArray;

    /// <inheritdoc/>
    public override int MaxAlignment => 4096;

    /// <inheritdoc/>
    public override SourceBuffer<T> Allocate(int length, int alignment)
    {
        bool isNatural = alignment <= 8 && Unsafe.SizeOf<T>() % Math.Max(alignment, 1) == 0;
        return AlignedArray.Allocate<T>(length, isNatural ? 0 : alignment);
    }

    private static class Holder
    {
        internal static readonly PinnedSource<T>? Instance =
            RuntimeHelpers.IsReferenceOrContainsReferences<T>() ? null : new PinnedSource<T>();
    }
}

using System.Buffers;

namespace Tidepool;

/// <summary>
/// A <see cref="MemoryPool{T}"/> of fixed-size pinned blocks, each block a pinned array of its own, so that its memory is the whole array.
/// </summary>
/// <typeparam name="T">An element type without references.</typeparam>
/// <remarks>
/// Thread-safe. Every rental is a whole block, and owners are reused, so a rental allocates nothing. A second Dispose of an owner is
/// harmless until the owner has been reused, which is after at least 16 further rentals on that thread: dispose once. Requests longer
/// than a block are refused.
/// </remarks>
public sealed class PinnedMemoryPool<T> : BlockMemoryPool<T>
{
    /// <summary>Makes a pool.</summary>
    /// <param name="blockLength">The length of each block in elements, 1 to 2^20.</param>
    /// <param name="alignment">The alignment of each block in bytes: 0, or a power of two up to 4096.</param>
    /// <param name="name">The name in messages, events and metrics; null for the type's name. A further pool of a name gets a number
    /// (<c>name#2</c>).</param>
    /// <exception cref="ArgumentOutOfRangeException">An argument is out of range.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> holds references.</exception>
    public PinnedMemoryPool(int blockLength = 4096, int alignment = 0, string? name = null)
        : base(name, nameof(PinnedMemoryPool<>), static () => PinnedSource<T>.Instance, blockLength, alignment)
    {
    }
}

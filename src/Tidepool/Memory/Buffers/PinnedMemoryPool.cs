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
public sealed class PinnedMemoryPool<T> : MemoryPool<T>
{
    private readonly BlockMemoryPool<T> _blocks;

    /// <summary>Makes a pool.</summary>
    /// <param name="blockLength">The length of each block in elements, 1 to 2^20.</param>
    /// <param name="alignment">The alignment of each block in bytes: 0, or a power of two up to 4096.</param>
    /// <param name="name">The name in messages, events and metrics; null for the type's name. A further pool of a name gets a number
    /// (<c>name#2</c>).</param>
    /// <exception cref="ArgumentOutOfRangeException">An argument is out of range.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> holds references.</exception>
    public PinnedMemoryPool(int blockLength = 4096, int alignment = 0, string? name = null)
    {
        if (blockLength is < 1 or > 1 << 20)
        {
            throw new ArgumentOutOfRangeException(nameof(blockLength), blockLength, "A block has 1 to 1,048,576 elements.");
        }

        PoolName.Check(name, nameof(name));
        _blocks = new BlockMemoryPool<T>(name ?? $"PinnedMemoryPool<{typeof(T).Name}>", PinnedSource<T>.Instance, blockLength, alignment);
        MaxBufferSize = blockLength;
    }

    /// <summary>The name in messages, events and metrics.</summary>
    public string Name => _blocks.Pool.Name;

    /// <summary>The length of each block in elements: the longest and the only length that is served.</summary>
    public override int MaxBufferSize { get; }

    /// <summary>Rents a block.</summary>
    /// <param name="minBufferSize">-1, or the least length needed in elements, 0 to <see cref="MaxBufferSize"/>.</param>
    /// <returns>An owner of a whole block, whatever was asked for.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="minBufferSize"/> is out of range.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    public override IMemoryOwner<T> Rent(int minBufferSize = -1) => _blocks.Rent(minBufferSize);

    /// <summary>What the pool has done and holds.</summary>
    public PoolStatistics GetStatistics() => _blocks.Pool.GetStatistics();

    /// <summary>Gives every idle block back now.</summary>
    public void Trim() => _blocks.Pool.Trim();

    /// <summary>Checks every invariant of the tiers. For tests: call it while no thread rents or returns.</summary>
    /// <exception cref="InvalidOperationException">An invariant is broken; the message names it.</exception>
    public void Validate() => _blocks.Pool.Validate();

    /// <summary>Ends the pool: idle blocks are given up, blocks that are out stay usable.</summary>
    /// <param name="disposing">True from Dispose.</param>
    protected override void Dispose(bool disposing) => _blocks.Pool.Dispose();
}

using System.Buffers;

namespace Tidepool;

/// <summary>
/// A <see cref="MemoryPool{T}"/> of fixed-size pinned blocks, blocks carved from large pinned arrays: one allocation for many, and none
/// ever moves. For pipes and sockets.
/// </summary>
/// <typeparam name="T">An element type without references.</typeparam>
/// <remarks>
/// Thread-safe. Every rental is a whole block, and owners are reused, so a rental allocates nothing. A second Dispose of an owner is
/// harmless until the owner has been reused, which is after at least 16 further rentals on that thread: dispose once. Requests longer
/// than a block are refused.
/// </remarks>
/// <example>
/// <code>
/// using System.IO.Pipelines;
///
/// using var blocks = new SlabMemoryPool&lt;byte&gt;();
/// var pipe = new Pipe(new PipeOptions(pool: blocks));
/// await pipe.Writer.WriteAsync("rent, use, return"u8.ToArray());
/// </code>
/// </example>
public sealed class SlabMemoryPool<T> : MemoryPool<T>
{
    private readonly BlockMemoryPool<T> _blocks;

    /// <summary>Makes a pool.</summary>
    /// <param name="blockLength">The length of each block in elements, 1 to 2^20.</param>
    /// <param name="slabBytes">The size of one slab in bytes, 65,536 to 1,073,741,824. Blocks longer than a quarter of it get an array of
    /// their own.</param>
    /// <param name="alignment">The alignment of each block in bytes: 0, or a power of two up to 4096.</param>
    /// <param name="name">The name in messages, events and metrics; null for the type's name. A further pool of a name gets a number
    /// (<c>name#2</c>).</param>
    /// <exception cref="ArgumentOutOfRangeException">An argument is out of range.</exception>
    /// <exception cref="ArgumentException">The name is empty or white space.</exception>
    /// <exception cref="NotSupportedException"><typeparamref name="T"/> holds references.</exception>
    public SlabMemoryPool(int blockLength = 4096, int slabBytes = 1 << 20, int alignment = 0, string? name = null)
    {
        if (blockLength is < 1 or > 1 << 20)
        {
            throw new ArgumentOutOfRangeException(nameof(blockLength), blockLength, "A block has 1 to 1,048,576 elements.");
        }

        PoolName.Check(name, nameof(name));
        _blocks = new BlockMemoryPool<T>(name ?? $"SlabMemoryPool<{typeof(T).Name}>", new SlabSource<T>(slabBytes), blockLength, alignment);
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

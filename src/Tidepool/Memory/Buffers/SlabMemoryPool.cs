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
public sealed class SlabMemoryPool<T> : BlockMemoryPool<T>
{
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
        : base(name, nameof(SlabMemoryPool<>), () => new SlabSource<T>(slabBytes), blockLength, alignment)
    {
    }

    /// <summary>Makes a pool whose idle blocks count in a budget that it shares with others.</summary>
    internal SlabMemoryPool(int blockLength, Budget budget, string? name)
        : base(name, nameof(SlabMemoryPool<>), static () => new SlabSource<T>(), blockLength, alignment: 0, budget)
    {
    }
}

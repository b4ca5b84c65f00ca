using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A <see cref="MemoryPool{T}"/> of fixed-size pinned blocks from a pool of its own: what <see cref="SlabMemoryPool{T}"/> and
/// <see cref="PinnedMemoryPool{T}"/> share.
/// </summary>
/// <typeparam name="T">An element type without references.</typeparam>
/// <remarks>
/// Thread-safe. Every rental is a whole block, and owners are reused, so a rental allocates nothing. A second Dispose of an owner is
/// harmless until the owner has been reused, which is after at least 16 further rentals on that thread: dispose once. Requests longer
/// than a block are refused.
/// </remarks>
[DebuggerDisplay("{Name,nq}")]
public abstract class BlockMemoryPool<T> : MemoryPool<T>
{
    private readonly BufferPool<T> _pool;
    private readonly int[] _ids;
    private readonly int _blockLength;

    private protected BlockMemoryPool(
        string? name, string kind, Func<BufferSource<T>> source, int blockLength, int alignment, Budget? budget = null)
    {
        if (blockLength is < 1 or > 1 << 20)
        {
            throw new ArgumentOutOfRangeException(nameof(blockLength), blockLength, "A block has 1 to 1,048,576 elements.");
        }

        PoolName.Check(name, nameof(name));
        _blockLength = blockLength;
        _pool = BufferPool<T>.Create(new BufferPoolOptions<T>
        {
            Name = name ?? $"{kind}<{TypeName.Of<T>()}>",
            Source = source(),
            Sizes = SizeClasses.FromLengths(blockLength),
            Alignment = alignment,
            SharedBudget = budget,
        });
        _ids = _pool.Core.FastIds; // one class, one id; taken away when the pool is disposed
    }

    /// <summary>The name in messages, events and metrics.</summary>
    public string Name => _pool.Name;

    /// <summary>The length of each block in elements: the longest and the only length that is served.</summary>
    public sealed override int MaxBufferSize => _blockLength;

    /// <summary>Rents a block.</summary>
    /// <param name="minBufferSize">-1, or the least length needed in elements, 0 to <see cref="MaxBufferSize"/>.</param>
    /// <returns>An owner of a whole block, whatever was asked for.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="minBufferSize"/> is out of range.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    public sealed override IMemoryOwner<T> Rent(int minBufferSize = -1)
    {
        if (minBufferSize < -1 || minBufferSize > _blockLength)
        {
            Refuse(minBufferSize);
        }

        Magazine? magazine = _pool.IsFast ? ThreadTier.Find(_ids[0]) : null;
        BufferSlot<T>? slot = magazine is null ? null : Unsafe.As<BufferSlot<T>>(magazine.TryPop());
        slot ??= _pool.RentSlow(_blockLength);
        return ReusedOwners.Guarded(new BufferLease<T>(slot, slot.Begin(), _blockLength));
    }

    /// <summary>What the pool has done and holds.</summary>
    public PoolStatistics GetStatistics() => _pool.GetStatistics();

    /// <summary>Gives every idle block back now.</summary>
    public void Trim() => _pool.Trim();

    /// <summary>Checks every invariant of the tiers. For tests: call it while no thread rents or returns.</summary>
    /// <exception cref="InvalidOperationException">An invariant is broken; the message names it.</exception>
    public void Validate() => _pool.Validate();

    /// <summary>Ends the pool: idle blocks are given up, blocks that are out stay usable.</summary>
    /// <param name="disposing">True from Dispose.</param>
    protected sealed override void Dispose(bool disposing) => _pool.Dispose();

    private void Refuse(int minBufferSize) => throw new ArgumentOutOfRangeException(
        nameof(minBufferSize), minBufferSize, $"The length must be -1, or 0 to {_blockLength} elements, the block of this pool.");
}

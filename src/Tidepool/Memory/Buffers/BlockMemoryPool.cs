using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>What the slab and the pinned memory pool share: blocks of one length from a pool of their own, with reused owners.</summary>
internal sealed class BlockMemoryPool<T>
{
    private readonly BufferPool<T> _pool;
    private readonly int[] _ids;
    private readonly int _blockLength;

    internal BlockMemoryPool(string name, BufferSource<T> source, int blockLength, int alignment)
    {
        _blockLength = blockLength;
        _pool = BufferPool<T>.Create(new BufferPoolOptions<T>
        {
            Name = name,
            Source = source,
            Sizes = SizeClasses.FromLengths(blockLength),
            Alignment = alignment,
        });
        _ids = _pool.Core.FastIds; // one class, one id; taken away when the pool is disposed
    }

    internal BufferPool<T> Pool => _pool;

    internal PooledOwner<T> Rent(int minBufferSize)
    {
        if (minBufferSize < -1 || minBufferSize > _blockLength)
        {
            Refuse(minBufferSize);
        }

        Magazine? magazine = _pool.IsFast ? ThreadTier.Find(_ids[0]) : null;
        BufferSlot<T>? slot = magazine is null ? null : Unsafe.As<BufferSlot<T>>(magazine.TryPop());
        slot ??= _pool.RentSlow(_blockLength);
        return OwnerReuse.Wrap(new BufferLease<T>(slot, slot.Begin(), _blockLength));
    }

    private void Refuse(int minBufferSize) => throw new ArgumentOutOfRangeException(
        nameof(minBufferSize), minBufferSize, $"The length must be -1, or 0 to {_blockLength} elements, the block of this pool.");
}

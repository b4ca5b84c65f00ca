using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A <see cref="MemoryPool{T}"/> over a <see cref="BufferPool{T}"/>: memory of exactly the requested length, backed by arrays where the
/// pool's source has them.
/// </summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>
/// Thread-safe. With fresh owners each rental allocates one object of 40 bytes, and a second Dispose of it never does harm. With reused
/// owners a rental allocates nothing; a second Dispose is harmless until its owner has been reused, which is after at least 16 further
/// rentals of that size on that thread: dispose once.
/// </remarks>
/// <example>
/// <code>
/// using System.Buffers;
///
/// using var memory = new PooledMemoryPool&lt;byte&gt;(BufferPool&lt;byte&gt;.Shared, reuseOwners: true);
/// using IMemoryOwner&lt;byte&gt; owner = memory.Rent(1000);
/// owner.Memory.Span.Fill(1);
/// </code>
/// </example>
public sealed class PooledMemoryPool<T> : MemoryPool<T>
{
    private const int DefaultBytes = 4096;

    private readonly BufferPool<T> _pool;
    private readonly bool _reuseOwners;
    private readonly bool _ignoresDispose;
    private readonly int _maxLength;
    private bool _disposed;

    /// <summary>Makes a memory pool.</summary>
    /// <param name="pool">Where the buffers come from; null for <see cref="BufferPool{T}.Shared"/>. It is not disposed with this
    /// one.</param>
    /// <param name="reuseOwners">Whether owners are reused.</param>
    public PooledMemoryPool(BufferPool<T>? pool = null, bool reuseOwners = false)
        : this(pool ?? BufferPool<T>.Shared, reuseOwners, ignoresDispose: false)
    {
    }

    internal PooledMemoryPool(BufferPool<T> pool, bool reuseOwners, bool ignoresDispose)
    {
        _pool = pool;
        _reuseOwners = reuseOwners;
        _ignoresDispose = ignoresDispose;
        _maxLength = pool.Core.Settings.Source.MaxLength;
    }

    /// <summary>The longest memory that can be rented, in elements.</summary>
    public override int MaxBufferSize => _maxLength;

    /// <summary>Rents memory.</summary>
    /// <param name="minBufferSize">Its length in elements, 0 to <see cref="MaxBufferSize"/>; -1 for 4096 bytes' worth.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="minBufferSize"/> is out of range.</exception>
    /// <exception cref="ObjectDisposedException">This pool or the one behind it was disposed.</exception>
    public override IMemoryOwner<T> Rent(int minBufferSize = -1)
    {
        int length = minBufferSize == -1 ? Math.Max(1, DefaultBytes / Unsafe.SizeOf<T>()) : minBufferSize;
        if ((uint)length > (uint)_maxLength || _disposed)
        {
            Refuse(minBufferSize, length);
        }

        BufferLease<T> lease = _pool.Rent(length);
        return _reuseOwners ? OwnerReuse.Wrap(lease) : new PooledOwner<T>(lease, OwnerKind.Owner);
    }

    private void Refuse(int minBufferSize, int length)
    {
        if ((uint)length > (uint)_maxLength)
        {
            throw new ArgumentOutOfRangeException(
                nameof(minBufferSize),
                minBufferSize,
                $"The length must be -1 for the default, or 0 to {_maxLength} elements.");
        }

        throw new ObjectDisposedException(nameof(PooledMemoryPool<T>), "The memory pool was disposed.");
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing) => _disposed = !_ignoresDispose;
}

using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A <see cref="MemoryPool{T}"/> over a <see cref="BufferPool{T}"/>: memory of exactly the requested length, backed by arrays where the
/// pool's source has them.
/// </summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>
/// Thread-safe. Each rental allocates one object of 40 bytes, its owner, and a second Dispose of it never does harm. Owners that are
/// reused cost no allocation, and ask for one Dispose each: <see cref="OwnerReuse"/> says how long a second one does no harm.
/// </remarks>
/// <example>
/// <code>
/// using System.Buffers;
///
/// using var memory = new PooledMemoryPool&lt;byte&gt;(BufferPool&lt;byte&gt;.Shared, OwnerReuse.Guarded);
/// using IMemoryOwner&lt;byte&gt; owner = memory.Rent(1000);
/// owner.Memory.Span.Fill(1);
/// </code>
/// </example>
public sealed class PooledMemoryPool<T> : MemoryPool<T>
{
    private const int DefaultBytes = 4096;

    private readonly BufferPool<T> _pool;
    private readonly OwnerReuse _reuse;
    private readonly bool _ignoresDispose;
    private readonly int _maxLength;
    private bool _disposed;

    /// <summary>Makes a memory pool.</summary>
    /// <param name="pool">Where the buffers come from; null for <see cref="BufferPool{T}.Shared"/>. It is not disposed with this
    /// one.</param>
    /// <param name="reuse">Whether owners are reused, and how soon.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="reuse"/> is none of the defined values.</exception>
    public PooledMemoryPool(BufferPool<T>? pool = null, OwnerReuse reuse = OwnerReuse.Never)
        : this(pool ?? BufferPool<T>.Shared, reuse, ignoresDispose: false)
    {
    }

    internal PooledMemoryPool(BufferPool<T> pool, OwnerReuse reuse, bool ignoresDispose)
    {
        if (reuse is < OwnerReuse.Never or > OwnerReuse.Unguarded)
        {
            throw new ArgumentOutOfRangeException(nameof(reuse), reuse, "The reuse of owners must be Never, Guarded or Unguarded.");
        }

        _pool = pool;
        _reuse = reuse;
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
        return _reuse switch
        {
            OwnerReuse.Guarded => ReusedOwners.Guarded(lease),
            OwnerReuse.Unguarded => ReusedOwners.Unguarded(lease),
            _ => new PooledOwner<T>(lease, OwnerKind.Owner),
        };
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

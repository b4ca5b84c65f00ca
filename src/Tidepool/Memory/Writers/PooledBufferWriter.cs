using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// An <see cref="IBufferWriter{T}"/> whose elements lie in one piece of pooled memory: what <see cref="ArrayBufferWriter{T}"/> is,
/// without an allocation per growth.
/// </summary>
/// <typeparam name="T">Any element type. Elements that hold references are cleared when they are given up.</typeparam>
/// <remarks>
/// Not thread-safe; disposals that race return the buffer once. Growth doubles and copies what was written;
/// <see cref="PooledSequenceWriter{T}"/> never copies. Cost: this object; nothing else while idle buffers serve it.
/// </remarks>
/// <example>
/// <code>
/// using var writer = new PooledBufferWriter&lt;byte&gt;();
/// "rent, use, "u8.CopyTo(writer.GetSpan(11));
/// writer.Advance(11);
/// Console.WriteLine(writer.WrittenSpan.Length);
/// </code>
/// </example>
public sealed class PooledBufferWriter<T> : IBufferWriter<T>, IDisposable, IResettable
{
    private const int LeastLength = 256;

    private readonly BufferPool<T>? _pool;
    private readonly int _maxLength = Array.MaxLength;
    private BufferLease<T> _lease;
    private int _written;
    private int _handed; // what GetMemory or GetSpan handed out and Advance has not used
    private bool _disposed;

    /// <summary>Makes a writer over <see cref="BufferPool{T}.Shared"/>. Nothing is rented before it is needed.</summary>
    public PooledBufferWriter()
    {
    }

    /// <summary>Makes a writer.</summary>
    /// <param name="pool">Where the buffer comes from; null for <see cref="BufferPool{T}.Shared"/>. It is not disposed with the
    /// writer.</param>
    /// <param name="initialCapacity">Elements to rent at once, 0 or more; 0 rents nothing yet.</param>
    /// <param name="maxLength">The most elements that may be written, 0 or more; never more than the longest buffer that the pool's
    /// source makes, which is mostly <see cref="Array.MaxLength"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="initialCapacity"/> or <paramref name="maxLength"/> is out of
    /// range.</exception>
    /// <exception cref="ObjectDisposedException">The pool was disposed.</exception>
    public PooledBufferWriter(BufferPool<T>? pool, int initialCapacity = 0, int maxLength = int.MaxValue)
    {
        if (maxLength < 0)
        {
            throw new ArgumentOutOfRangeException(nameof(maxLength), maxLength, "The maximum length must be 0 elements or more.");
        }

        _maxLength = Math.Min(maxLength, (pool ?? BufferPool<T>.Shared).Core.Settings.LongestBuffer);
        if (initialCapacity < 0 || initialCapacity > _maxLength)
        {
            throw new ArgumentOutOfRangeException(
                nameof(initialCapacity), initialCapacity, $"The initial capacity must be 0 to {_maxLength} elements.");
        }

        _pool = pool;
        if (initialCapacity > 0)
        {
            _lease = Pool.Rent(initialCapacity);
        }
    }

    /// <summary>The elements written so far.</summary>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    /// <remarks>Not to be used after the next call of any other member.</remarks>
    public ReadOnlySpan<T> WrittenSpan => ToSpanUnsafe();

    /// <summary>The elements written so far.</summary>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    /// <remarks>Not to be used after the next call of any other member.</remarks>
    public ReadOnlyMemory<T> WrittenMemory => CheckOpen()._written == 0 ? default : _lease.Memory[.._written];

    /// <summary>The number of elements written so far.</summary>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public int WrittenCount => CheckOpen()._written;

    /// <summary>The elements that the rented buffer holds, written or not.</summary>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public int Capacity => CheckOpen()._lease.Length;

    /// <summary>The elements that can be written before the next rental.</summary>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public int FreeCapacity => Capacity - _written;

    private BufferPool<T> Pool => _pool ?? BufferPool<T>.Shared;

    /// <inheritdoc/>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="InsufficientMemoryException">The writer would hold more than its maximum length.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public Memory<T> GetMemory(int sizeHint = 0)
    {
        MakeRoom(sizeHint);
        Memory<T> memory = _lease.Memory[_written..];
        _handed = memory.Length;
        return memory;
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="sizeHint"/> is negative.</exception>
    /// <exception cref="InsufficientMemoryException">The writer would hold more than its maximum length.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public Span<T> GetSpan(int sizeHint = 0)
    {
        MakeRoom(sizeHint);
        Span<T> span = _lease.Span[_written..];
        _handed = span.Length;
        return span;
    }

    /// <inheritdoc/>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is negative.</exception>
    /// <exception cref="InvalidOperationException">That much was not handed out.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Advance(int count)
    {
        if ((uint)(count - 1) >= (uint)_handed)
        {
            AdvanceByNothing(count);
            return;
        }

        _written += count;
        _handed -= count;
    }

    /// <summary>Writes elements.</summary>
    /// <param name="elements">What is copied.</param>
    /// <exception cref="InsufficientMemoryException">The writer would hold more than its maximum length; nothing was written.</exception>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public void Write(ReadOnlySpan<T> elements)
    {
        if (elements.IsEmpty)
        {
            CheckOpen();
            return;
        }

        MakeRoom(elements.Length);
        elements.CopyTo(_lease.Span[_written..]);
        _written += elements.Length;
        _handed = 0;
    }

    /// <summary>The elements written so far, to be read or changed in place.</summary>
    /// <returns>The memory of the writer itself: not to be used after the next call of any other member.</returns>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public Span<T> ToSpanUnsafe() => CheckOpen()._written == 0 ? default : _lease.Span[.._written];

    /// <summary>Forgets what was written and keeps the buffer for what comes. Elements that hold references are cleared.</summary>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public void Reset()
    {
        CheckOpen();
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>() && _lease.Length > 0)
        {
            _lease.Span.Clear(); // also what was handed out and written without Advance
        }

        _written = 0;
        _handed = 0;
    }

    /// <inheritdoc/>
    /// <remarks>Returns the buffer, so that a writer that waits in a pool holds none.</remarks>
    public bool TryReset()
    {
        if (_disposed)
        {
            return false;
        }

        ReturnBuffer();
        return true;
    }

    /// <summary>Takes what was written out of the writer, which is empty afterwards and can be used on. Nothing is copied.</summary>
    /// <returns>A lease of exactly the written elements; dispose it to return the buffer.</returns>
    /// <exception cref="ObjectDisposedException">The writer was disposed.</exception>
    public BufferLease<T> Detach()
    {
        CheckOpen();
        (BufferLease<T> lease, int written) = (_lease, _written);
        if (lease.Length == 0)
        {
            return Pool.Rent(0);
        }

        lease.Span[written..].Clear(); // a lease clears and shows only its own length
        BufferLease<T> content = lease.Shorten(written);
        _lease = default;
        _written = 0;
        _handed = 0;
        return content;
    }

    /// <summary>Returns the buffer. A second call does nothing.</summary>
    public void Dispose()
    {
        _disposed = true;
        ReturnBuffer();
    }

    private void ReturnBuffer()
    {
        BufferLease<T> lease = _lease;
        _lease = default;
        _written = 0;
        _handed = 0;
        lease.Dispose(); // of racing disposals the lease lets one win
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void MakeRoom(int sizeHint)
    {
        int room = _lease.Length - _written;
        if (room == 0 || (uint)sizeHint > (uint)room)
        {
            Grow(sizeHint);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Grow(int sizeHint)
    {
        CheckOpen();
        ArgumentOutOfRangeException.ThrowIfNegative(sizeHint);
        sizeHint = Math.Max(sizeHint, 1);
        if (sizeHint <= _lease.Length - _written)
        {
            return;
        }

        long needed = (long)_written + sizeHint;
        if (needed > _maxLength)
        {
            throw new InsufficientMemoryException(
                $"The writer holds {_written} elements; {sizeHint} more would exceed its maximum length of {_maxLength}.");
        }

        int length = (int)Math.Min(Math.Max(Math.Max(needed, LeastLength), 2L * _lease.Length), _maxLength);
        BufferLease<T> longer = Pool.Rent(length);
        BufferLease<T> shorter = _lease; // a copy: by the time it is returned another thread may have put a new one there
        if (_written > 0)
        {
            shorter.Span[.._written].CopyTo(longer.Span);
        }

        _lease = longer;
        _handed = 0;
        shorter.Dispose();
    }

    /// <summary>This writer, which is not disposed.</summary>
    private PooledBufferWriter<T> CheckOpen() => _disposed ? throw WriterErrors.Disposed<T>(nameof(PooledBufferWriter<T>)) : this;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AdvanceByNothing(int count)
    {
        CheckOpen();
        WriterErrors.Check(count, _handed);
    }
}

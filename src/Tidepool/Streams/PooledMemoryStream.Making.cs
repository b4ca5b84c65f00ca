using System.Buffers;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <content>How streams are made and rented. Arguments are checked before a core is.</content>
public sealed partial class PooledMemoryStream
{
    /// <summary>Makes an empty stream that grows.</summary>
    public PooledMemoryStream() => _core = Begin();

    /// <summary>Makes an empty stream that grows.</summary>
    /// <param name="capacity">The expected length in bytes, 0 or more. Nothing is rented before it is needed.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
    public PooledMemoryStream(int capacity)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(capacity);
        _core = Begin();
        _core.Capacity = capacity;
    }

    /// <summary>Makes an empty stream that grows, with options.</summary>
    /// <param name="options">The options; the stream keeps a reference to them.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="InvalidOperationException">The options have both a pool and a budget.</exception>
    public PooledMemoryStream(PooledMemoryStreamOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        BufferPool<byte>? pool = options.ChoosePool();
        _core = Begin();
        _core.UseOptions(options, pool);
    }

    /// <summary>Makes an empty stream whose memory comes from a buffer pool of any source.</summary>
    /// <param name="pool">The pool; it is not disposed with the stream.</param>
    /// <param name="capacity">The expected length in bytes, 0 or more.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
    public PooledMemoryStream(BufferPool<byte> pool, int capacity = 0)
    {
        ArgumentNullException.ThrowIfNull(pool);
        ArgumentOutOfRangeException.ThrowIfNegative(capacity);
        _core = Begin();
        _core.UsePool(pool, null);
        _core.Capacity = capacity;
    }

    /// <summary>Makes an empty stream whose memory comes from an array pool.</summary>
    /// <param name="pool">The pool. Each of its arrays is returned to it once.</param>
    /// <param name="capacity">The expected length in bytes, 0 or more.</param>
    /// <exception cref="ArgumentNullException"><paramref name="pool"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="capacity"/> is negative.</exception>
    public PooledMemoryStream(ArrayPool<byte> pool, int capacity = 0)
    {
        ArgumentNullException.ThrowIfNull(pool);
        ArgumentOutOfRangeException.ThrowIfNegative(capacity);
        _core = Begin();
        _core.UsePool(null, pool);
        _core.Capacity = capacity;
    }

    /// <summary>Makes a read-only stream over an array. <c>(buffer, writable: true)</c> makes one that can be written to.</summary>
    /// <param name="buffer">The content; not copied, and not returned to any pool.</param>
    /// <exception cref="ArgumentNullException"><paramref name="buffer"/> is null.</exception>
    public PooledMemoryStream(byte[] buffer)
        : this(buffer, writable: false)
    {
    }

    /// <summary>Makes a stream of fixed capacity over an array.</summary>
    /// <param name="buffer">The content; not copied, and not returned to any pool.</param>
    /// <param name="writable">Whether the array may be written to.</param>
    /// <exception cref="ArgumentNullException"><paramref name="buffer"/> is null.</exception>
    public PooledMemoryStream(byte[] buffer, bool writable)
        : this(buffer, 0, buffer?.Length ?? 0, writable, publiclyVisible: false)
    {
    }

    /// <summary>Makes a stream of fixed capacity over a part of an array, which may be written to.</summary>
    /// <param name="buffer">The array; not copied, and not returned to any pool.</param>
    /// <param name="index">The first byte.</param>
    /// <param name="count">The number of bytes.</param>
    /// <exception cref="ArgumentNullException"><paramref name="buffer"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> or <paramref name="count"/> is negative.</exception>
    /// <exception cref="ArgumentException">The part does not lie in the array.</exception>
    public PooledMemoryStream(byte[] buffer, int index, int count)
        : this(buffer, index, count, writable: true, publiclyVisible: false)
    {
    }

    /// <summary>Makes a stream of fixed capacity over a part of an array.</summary>
    /// <param name="buffer">The array; not copied, and not returned to any pool.</param>
    /// <param name="index">The first byte.</param>
    /// <param name="count">The number of bytes.</param>
    /// <param name="writable">Whether the part may be written to.</param>
    /// <exception cref="ArgumentNullException"><paramref name="buffer"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> or <paramref name="count"/> is negative.</exception>
    /// <exception cref="ArgumentException">The part does not lie in the array.</exception>
    public PooledMemoryStream(byte[] buffer, int index, int count, bool writable)
        : this(buffer, index, count, writable, publiclyVisible: false)
    {
    }

    /// <summary>Makes a stream of fixed capacity over a part of an array.</summary>
    /// <param name="buffer">The array; not copied, and not returned to any pool.</param>
    /// <param name="index">The first byte.</param>
    /// <param name="count">The number of bytes.</param>
    /// <param name="writable">Whether the part may be written to.</param>
    /// <param name="publiclyVisible">Whether <see cref="GetBuffer"/> and <see cref="TryGetBuffer"/> give the array away.</param>
    /// <exception cref="ArgumentNullException"><paramref name="buffer"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> or <paramref name="count"/> is negative.</exception>
    /// <exception cref="ArgumentException">The part does not lie in the array.</exception>
    public PooledMemoryStream(byte[] buffer, int index, int count, bool writable, bool publiclyVisible)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (buffer.Length - index < count)
        {
            throw new ArgumentException($"The part from {index} with {count} bytes does not lie in the array of {buffer.Length} bytes.");
        }

        _core = Begin();
        _core.UseArray(buffer, index, count, writable, publiclyVisible);
    }

    /// <summary>Makes a read-only stream over memory of any kind.</summary>
    /// <param name="content">The content; not copied.</param>
    public PooledMemoryStream(ReadOnlyMemory<byte> content)
        : this(new ReadOnlySequence<byte>(content))
    {
    }

    /// <summary>Makes a read-only stream over a sequence.</summary>
    /// <param name="content">The content; not copied.</param>
    public PooledMemoryStream(ReadOnlySequence<byte> content)
    {
        _core = Begin();
        _core.UseMemory(content);
    }

    private PooledMemoryStream(StreamCore core) => _core = core;

    /// <summary>Leases an empty stream whose object was used before. Disposing it returns the object together with its memory.</summary>
    /// <remarks>
    /// Allocates nothing once warm. A reference that is kept after the disposal throws <see cref="ObjectDisposedException"/> when it is used, until the object serves
    /// another renter: on each thread at least 16 others go before it. With full checks objects are not used again, so that every such use is found.
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PooledMemoryStream Rent()
    {
        StreamCore core = StreamPool.Instance.Rent(out object? shell);
        core.HasReusableShell = true;
        if (shell is null || core.Watch is not null)
        {
            return RentSlow(core, shell);
        }

        PooledMemoryStream stream = Unsafe.As<PooledMemoryStream>(shell);
        stream._core = core;
        return stream;
    }

    /// <summary>Leases an empty stream with options; see <see cref="Rent()"/>.</summary>
    /// <param name="options">The options; the stream keeps a reference to them until it is disposed.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="InvalidOperationException">The options have both a pool and a budget.</exception>
    public static PooledMemoryStream Rent(PooledMemoryStreamOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        BufferPool<byte>? pool = options.ChoosePool();
        PooledMemoryStream stream = Rent();
        stream._core.UseOptions(options, pool);
        return stream;
    }

    /// <summary>A core for a new stream.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static StreamCore Begin()
    {
        StreamCore core = StreamPool.Instance.Rent();
        if (core.Watch is not null)
        {
            StreamPool.BeginWatch(core);
        }

        return core;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static PooledMemoryStream RentSlow(StreamCore core, object? shell)
    {
        if (core.Watch is not null)
        {
            StreamPool.BeginWatch(core);
        }

        if (shell is not PooledMemoryStream stream)
        {
            return new PooledMemoryStream(core);
        }

        stream._core = core;
        return stream;
    }
}

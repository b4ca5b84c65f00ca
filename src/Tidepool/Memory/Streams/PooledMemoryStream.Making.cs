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
        _core.UseCapacity(capacity);
    }

    /// <summary>Makes an empty stream that grows, with options.</summary>
    /// <param name="options">The options; the stream keeps a reference to them.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A value of the options is out of range.</exception>
    /// <exception cref="ArgumentException">The options have both a pool and a budget.</exception>
    public PooledMemoryStream(PooledMemoryStreamOptions options)
    {
        BufferPool<byte>? pool = PooledMemoryStreamOptions.ChoosePool(options);
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
        _core.UseCapacity(capacity);
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
        _core.UseCapacity(capacity);
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
        : base(CheckPart(buffer, index, count), index, count, writable: true, publiclyVisible)
    {
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

    /// <summary>
    /// Makes the stream object of a core's leases. The base, of which nothing else is used, says that it is one: see
    /// <see cref="IsLeased"/>.
    /// </summary>
    private PooledMemoryStream(StreamCore core)
        : base([], writable: false) => _core = core;

    /// <summary>Makes an empty stream that grows: the same as <c>new PooledMemoryStream()</c>.</summary>
    /// <remarks>
    /// Allocates the stream object; its state and its memory are rented. Disposing it a second time does nothing, however late.
    /// <see cref="RentLease()"/> reuses the object too and allocates nothing.
    /// </remarks>
    public static PooledMemoryStream Rent() => new();

    /// <summary>Makes an empty stream that grows, with options; see <see cref="Rent()"/>.</summary>
    /// <param name="options">The options; the stream keeps a reference to them until it is disposed.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A value of the options is out of range.</exception>
    /// <exception cref="ArgumentException">The options have both a pool and a budget.</exception>
    public static PooledMemoryStream Rent(PooledMemoryStreamOptions options) => new(options);

    /// <summary>Leases an empty stream whose object is used again. Only the lease ends it.</summary>
    /// <returns>The lease; dispose it once.</returns>
    /// <remarks>
    /// <para>Allocates nothing once warm.</para>
    /// <para>Disposing or closing the stream object does nothing, so a <see cref="StreamWriter"/> or a <c>GZipStream</c> over it may do
    /// so.</para>
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static StreamLease RentLease()
    {
        StreamCore core = Begin();
        if (core.LeasedStream is not { } stream || StreamPool.WatchesAll)
        {
            stream = core.LeasedStream = new PooledMemoryStream(core);
        }

        stream._core = core;
        long ticket = core.Ticket + 1;
        core.Ticket = ticket;
        return new StreamLease(core, ticket);
    }

    /// <summary>Leases an empty stream with options; see <see cref="RentLease()"/>.</summary>
    /// <param name="options">The options; the stream keeps a reference to them until the lease is disposed.</param>
    /// <returns>The lease; dispose it once.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A value of the options is out of range.</exception>
    /// <exception cref="ArgumentException">The options have both a pool and a budget.</exception>
    public static StreamLease RentLease(PooledMemoryStreamOptions options)
    {
        BufferPool<byte>? pool = PooledMemoryStreamOptions.ChoosePool(options);
        StreamLease lease = RentLease();
        lease.Stream._core.UseOptions(options, pool);
        return lease;
    }

    /// <summary>Ends a lease and returns the stream's memory.</summary>
    /// <returns>False when the lease had ended: nothing was changed.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static bool TryEnd(StreamCore core, long ticket)
    {
        // Of racing copies of the lease one gets the core.
        if (Interlocked.CompareExchange(ref core.Ticket, ticket + 1, ticket) != ticket)
        {
            return false;
        }

        core.LeasedStream!._core = StreamCore.Closed;
        Return(core);
        return true;
    }

    /// <summary>A core for a new stream.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static StreamCore Begin()
    {
        StreamCore core = StreamPool.Instance.Rent();
        core.Begin();
        if (core.Watch is not null)
        {
            StreamPool.BeginWatch(core);
        }

        return core;
    }

    /// <summary>Checks that a part lies in an array, before the base does, whose message names no values.</summary>
    private static byte[] CheckPart(byte[] buffer, int index, int count)
    {
        ArgumentNullException.ThrowIfNull(buffer);
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        return buffer.Length - index >= count
            ? buffer
            : throw new ArgumentException($"The part from {index} with {count} bytes does not lie in the array of {buffer.Length} bytes.");
    }
}

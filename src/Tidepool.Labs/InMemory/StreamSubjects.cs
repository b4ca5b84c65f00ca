using System.Runtime.CompilerServices;
using Microsoft.Extensions.ObjectPool;

namespace Tidepool.Labs;

/// <summary>What the platform has.</summary>
internal readonly struct PlainStream(MemoryStream stream) : IStreamSubject<PlainStream>
{
    /// <inheritdoc/>
    public Stream Base => stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PlainStream Open() => new(new MemoryStream());

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PlainStream Open(int capacity) => new(new MemoryStream(capacity));

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(byte[] buffer, int offset, int count) => stream.Write(buffer, offset, count);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteByte(byte value) => stream.WriteByte(value);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Rewind() => stream.Position = 0;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Read(byte[] buffer, int offset, int count) => stream.Read(buffer, offset, count);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Close() => stream.Dispose();
}

/// <summary>Ours, made and ended in one of several ways.</summary>
internal readonly struct OwnStream<TUse>(PooledMemoryStream stream) : IStreamSubject<OwnStream<TUse>>
    where TUse : struct, IOwnStreamUse
{
    /// <inheritdoc/>
    public Stream Base => stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static OwnStream<TUse> Open() => new(TUse.Open());

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static OwnStream<TUse> Open(int capacity) => new(TUse.Open(capacity));

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(byte[] buffer, int offset, int count) => stream.Write(buffer, offset, count);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteByte(byte value) => stream.WriteByte(value);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Rewind() => stream.Position = 0;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Read(byte[] buffer, int offset, int count) => stream.Read(buffer, offset, count);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Close() => TUse.Close(stream);
}

/// <summary>How one of our streams is made and ended.</summary>
internal interface IOwnStreamUse
{
    /// <summary>An empty stream.</summary>
    static abstract PooledMemoryStream Open();

    /// <summary>An empty stream with room for a length.</summary>
    static abstract PooledMemoryStream Open(int capacity);

    /// <summary>Ends its use.</summary>
    static abstract void Close(PooledMemoryStream stream);
}

/// <summary>A new object each time.</summary>
internal readonly struct NewUse : IOwnStreamUse
{
    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PooledMemoryStream Open() => new();

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PooledMemoryStream Open(int capacity) => new(capacity);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Close(PooledMemoryStream stream) => stream.Dispose();
}

/// <summary>Ours under a lease: the object is used again.</summary>
internal readonly struct LeasedStream(StreamLease lease) : IStreamSubject<LeasedStream>
{
    private readonly PooledMemoryStream _stream = lease.Stream;

    /// <inheritdoc/>
    public Stream Base => _stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static LeasedStream Open() => new(PooledMemoryStream.RentLease());

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static LeasedStream Open(int capacity)
    {
        StreamLease lease = PooledMemoryStream.RentLease();
        lease.Stream.Capacity = capacity;
        return new(lease);
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(byte[] buffer, int offset, int count) => _stream.Write(buffer, offset, count);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void WriteByte(byte value) => _stream.WriteByte(value);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Rewind() => _stream.Position = 0;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Read(byte[] buffer, int offset, int count) => _stream.Read(buffer, offset, count);

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Close() => lease.Dispose();
}

/// <summary>In Microsoft's object pool, with the classic ritual.</summary>
internal readonly struct ObjectPoolUse : IOwnStreamUse
{
    private static readonly Microsoft.Extensions.ObjectPool.ObjectPool<PooledMemoryStream> Pool = ObjectPool.Create<PooledMemoryStream>();

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PooledMemoryStream Open() => Pool.Get();

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PooledMemoryStream Open(int capacity)
    {
        PooledMemoryStream stream = Pool.Get();
        stream.Capacity = Math.Max(stream.Capacity, capacity);
        return stream;
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Close(PooledMemoryStream stream)
    {
        stream.SetLength(0);
        Pool.Return(stream);
    }
}

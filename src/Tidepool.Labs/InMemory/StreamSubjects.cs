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

/// <summary>Ours, a new object each time.</summary>
internal readonly struct NewPooledStream(PooledMemoryStream stream) : IStreamSubject<NewPooledStream>
{
    /// <inheritdoc/>
    public Stream Base => stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static NewPooledStream Open() => new(new PooledMemoryStream());

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

/// <summary>Ours, its object used again.</summary>
internal readonly struct RentedPooledStream(PooledMemoryStream stream) : IStreamSubject<RentedPooledStream>
{
    /// <inheritdoc/>
    public Stream Base => stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static RentedPooledStream Open() => new(PooledMemoryStream.Rent());

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

/// <summary>Ours in Microsoft's object pool, with the classic ritual.</summary>
internal readonly struct ObjectPoolStream(PooledMemoryStream stream) : IStreamSubject<ObjectPoolStream>
{
    private static readonly ObjectPool<PooledMemoryStream> Pool = ObjectPool.Create<PooledMemoryStream>();

    /// <inheritdoc/>
    public Stream Base => stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ObjectPoolStream Open() => new(Pool.Get());

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
    public void Close()
    {
        stream.SetLength(0);
        Pool.Return(stream);
    }
}

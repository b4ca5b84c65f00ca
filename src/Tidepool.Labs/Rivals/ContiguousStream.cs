using System.Runtime.CompilerServices;

namespace Tidepool.Labs;

/// <summary>The stream of the package PooledStream, one pooled array that doubles.</summary>
internal readonly struct ContiguousStream(global::PooledStream.PooledMemoryStream stream) : IStreamSubject<ContiguousStream>
{
    /// <inheritdoc/>
    public Stream Base => stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ContiguousStream Open() => new(new global::PooledStream.PooledMemoryStream());

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ContiguousStream Open(int capacity) => new(new global::PooledStream.PooledMemoryStream(capacity));

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

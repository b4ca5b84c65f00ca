using System.Runtime.CompilerServices;
using Microsoft.IO;

namespace Tidepool.Labs;

/// <summary>Microsoft.IO.RecyclableMemoryStream with one manager for all, as its documentation asks for.</summary>
internal readonly struct RecyclableStream(RecyclableMemoryStream stream) : IStreamSubject<RecyclableStream>
{
    private static readonly RecyclableMemoryStreamManager Manager = new();

    /// <inheritdoc/>
    public Stream Base => stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static RecyclableStream Open() => new(Manager.GetStream());

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static RecyclableStream Open(int capacity) => new(Manager.GetStream(tag: null, capacity));

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

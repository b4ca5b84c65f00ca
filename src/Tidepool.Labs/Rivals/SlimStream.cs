using System.Runtime.CompilerServices;
using KZDev.PerfUtils;

namespace Tidepool.Labs;

/// <summary>MemoryStreamSlim of KZDev.PerfUtils.</summary>
internal readonly struct SlimStream(MemoryStreamSlim stream) : IStreamSubject<SlimStream>
{
    /// <inheritdoc/>
    public Stream Base => stream;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static SlimStream Open() => new(MemoryStreamSlim.Create());

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static SlimStream Open(int capacity) => new(MemoryStreamSlim.Create(capacity));

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

using System.Buffers;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool;

/// <summary>What a <see cref="PooledSequenceWriter{T}"/> wrote, detached from it. Dispose it to return the buffers.</summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>Not thread-safe, but disposals that race return each buffer once.</remarks>
public sealed class SequenceLease<T> : IDisposable
{
    private readonly WriterSegment<T>? _last;
    private WriterSegment<T>? _first;
    private bool _disposed;

    internal SequenceLease(WriterSegment<T>? first, WriterSegment<T>? last)
    {
        _first = first;
        _last = last;
        Length = first is null ? 0 : last!.RunningIndex + last.Written;
    }

    /// <summary>The number of elements.</summary>
    public long Length { get; }

    /// <summary>The elements. The sequence must not be used after the disposal.</summary>
    /// <exception cref="ObjectDisposedException">The lease was disposed.</exception>
    public ReadOnlySequence<T> Sequence
    {
        get
        {
            // Read before the check: a disposal marks the lease before it takes the segments.
            WriterSegment<T>? first = Volatile.Read(ref _first);
            if (_disposed)
            {
                Refuse();
            }

            try
            {
                return WriterSegment<T>.SequenceOf(first, _last);
            }
            catch (ArgumentException) when (Volatile.Read(ref _disposed))
            {
                Refuse(); // another thread emptied the segments at this moment
                return default;
            }
        }
    }

    /// <summary>Returns the buffers. A second call does nothing.</summary>
    public void Dispose()
    {
        _disposed = true;
        WriterSegment<T>.ReturnAll(Interlocked.Exchange(ref _first, null));
    }

    [DoesNotReturn]
    private static void Refuse() => throw new ObjectDisposedException(
        $"SequenceLease<{typeof(T).Name}>", "The lease was disposed and its memory returned. Use the sequence before.");
}

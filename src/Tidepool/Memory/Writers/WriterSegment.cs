using System.Buffers;

namespace Tidepool;

/// <summary>A part of what a <see cref="PooledSequenceWriter{T}"/> wrote, in a buffer of its own.</summary>
internal sealed class WriterSegment<T> : ReadOnlySequenceSegment<T>
{
    private BufferLease<T> _lease;

    internal WriterSegment(BufferLease<T> lease) => _lease = lease;

    internal int Written { get; private set; }

    internal int Room => _lease.Length - Written;

    internal WriterSegment<T>? Following => (WriterSegment<T>?)Next;

    internal BufferLease<T> Lease => _lease;

    internal Memory<T> FreeMemory => _lease.Memory[Written..];

    internal Span<T> FreeSpan => _lease.Span[Written..];

    internal void Advance(int count)
    {
        Written += count;
        Memory = _lease.Memory[..Written];
    }

    /// <summary>Begins again, with the buffer it has.</summary>
    internal void Restart()
    {
        Written = 0;
        Memory = default;
        RunningIndex = 0;
        Next = null;
    }

    internal void Append(WriterSegment<T> next)
    {
        next.RunningIndex = RunningIndex + Written;
        Next = next;
    }

    internal void Return()
    {
        BufferLease<T> lease = _lease;
        _lease = default;
        Memory = default;
        Next = null;
        lease.Dispose();
    }

    /// <summary>Returns this segment and all that follow.</summary>
    internal static void ReturnAll(WriterSegment<T>? first)
    {
        while (first is not null)
        {
            WriterSegment<T>? next = first.Following;
            first.Return();
            first = next;
        }
    }

    /// <summary>The written elements of a list of segments.</summary>
    internal static ReadOnlySequence<T> SequenceOf(WriterSegment<T>? first, WriterSegment<T>? last) => first is null || last is null
        ? ReadOnlySequence<T>.Empty
        : new ReadOnlySequence<T>(first, 0, last, last.Written);
}

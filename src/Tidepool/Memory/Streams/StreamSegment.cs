using System.Buffers;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// A part of a stream's content: <see cref="Length"/> bytes from <see cref="Start"/> on. A node of a sequence, so that a
/// <see cref="ReadOnlySequence{T}"/> over the content needs no other object.
/// </summary>
internal sealed class StreamSegment : ReadOnlySequenceSegment<byte>
{
    internal SegmentKind Kind;

    /// <summary>The array, or null where the memory is in none.</summary>
    internal byte[]? Array;

    /// <summary>The first byte in <see cref="Array"/>.</summary>
    internal int Offset;

    /// <summary>The lease of a segment of kind <see cref="SegmentKind.Leased"/>.</summary>
    internal BufferLease<byte> Lease;

    /// <summary>The position in the stream of the first byte.</summary>
    internal long Start => RunningIndex;

    internal long End => RunningIndex + Memory.Length;

    internal int Length => Memory.Length;

    internal void SetAttached(byte[] array) => Set(SegmentKind.Attached, array, 0, array.Length);

    internal void SetLease(BufferLease<byte> lease)
    {
        Kind = SegmentKind.Leased;
        Lease = lease;
        if (lease.Slot!.Array is not null)
        {
            ArraySegment<byte> part = lease.Segment;
            Set(SegmentKind.Leased, part.Array!, part.Offset, part.Count);
        }
        else
        {
            Memory = lease.Memory;
        }
    }

    internal void SetRented(byte[] array) => Set(SegmentKind.Rented, array, 0, array.Length);

    internal void SetForeign(ReadOnlyMemory<byte> memory)
    {
        Kind = SegmentKind.Foreign;
        Memory = memory;
        if (MemoryMarshal.TryGetArray(memory, out ArraySegment<byte> part) && part.Array is not null)
        {
            Array = part.Array;
            Offset = part.Offset;
        }
    }

    /// <summary>Puts the segment between two others, either of which may be missing.</summary>
    internal void Follow(StreamSegment? previous, StreamSegment? next = null)
    {
        RunningIndex = previous is null ? 0 : previous.End;
        Next = next;
        if (previous is not null)
        {
            previous.Next = this;
        }
    }

    /// <summary>Puts a cleared node in front of others that wait for their next use.</summary>
    internal void LinkSpare(StreamSegment? next) => Next = next;

    /// <summary>Ends the list here.</summary>
    internal void EndChain() => Next = null;

    /// <summary>Gives up everything from <paramref name="length"/> on; what is behind is lost until the segment is returned.</summary>
    internal void Cut(int length) => Memory = Memory[..length];

    /// <summary>The bytes for reading.</summary>
    internal ReadOnlySpan<byte> Span => Memory.Span;

    /// <summary>The bytes for writing; only for segments that may be written to.</summary>
    internal Span<byte> Writable => Array is null ? Lease.Span[..Length] : new Span<byte>(Array, Offset, Length);

    /// <summary>Forgets everything, so that the node can be used again.</summary>
    internal void Clear()
    {
        Kind = SegmentKind.Foreign;
        Array = null;
        Offset = 0;
        Lease = default;
        Memory = default;
        RunningIndex = 0;
        Next = null;
    }

    private void Set(SegmentKind kind, byte[] array, int offset, int length)
    {
        Kind = kind;
        Array = array;
        Offset = offset;
        Memory = new ReadOnlyMemory<byte>(array, offset, length);
    }
}

/// <summary>Where the memory of a segment comes from, and so what has to be done when the stream gives it up.</summary>
internal enum SegmentKind
{
    /// <summary>The array that stays with the core while it waits idle.</summary>
    Attached,

    /// <summary>A lease of a buffer pool.</summary>
    Leased,

    /// <summary>An array of an <see cref="ArrayPool{T}"/>.</summary>
    Rented,

    /// <summary>Memory of the caller: never returned and, unless the caller gave it for writing, never written to.</summary>
    Foreign,
}

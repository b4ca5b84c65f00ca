using System.Buffers;
using System.Diagnostics.CodeAnalysis;

namespace Tidepool;

/// <content>The content as an array, a sequence or a lease.</content>
public sealed partial class PooledMemoryStream
{
    /// <summary>The rented array that holds the content from its first element on.</summary>
    /// <returns>
    /// At least <see cref="Capacity"/> bytes. What lies behind the content is anything. The array is rented: it must not be used after
    /// the stream was disposed or has grown.
    /// </returns>
    /// <exception cref="UnauthorizedAccessException">The stream is over memory of the caller that is not to be given away.</exception>
    /// <exception cref="IOException">The content is longer than <see cref="Array.MaxLength"/>.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    /// <remarks>Content in several segments is copied once into a single one, which stays.</remarks>
    public override byte[] GetBuffer()
    {
        if (HasContentLeft)
        {
            return base.GetBuffer();
        }

        StreamCore core = OpenContent();
        if ((core.Flags & StreamFlags.Exposable) == 0)
        {
            throw new UnauthorizedAccessException(
                "The buffer of this stream cannot be given away: the stream is over memory of the caller.");
        }

        if ((core.Flags & StreamFlags.Fixed) != 0)
        {
            return core.SegmentAt(0).Array!;
        }

        return Contiguous(core, core.Capacity, isOwn: true).Array ?? [];
    }

    /// <summary><see cref="GetBuffer"/>, as the part of the array that holds the content.</summary>
    /// <param name="buffer">The content.</param>
    /// <returns>False when the stream was disposed, or is over memory of the caller that is not to be given away.</returns>
    /// <exception cref="IOException">The content is longer than <see cref="Array.MaxLength"/>.</exception>
    /// <remarks>
    /// The array has room for the content, not for <see cref="Capacity"/>. A disposed stream over an array of the caller still gives it.
    /// </remarks>
    public override bool TryGetBuffer(out ArraySegment<byte> buffer)
    {
        if (HasContentLeft)
        {
            bool isVisible = base.TryGetBuffer(out buffer);
            buffer = isVisible ? buffer[..LengthLeft] : default;
            return isVisible;
        }

        StreamCore core = _core;
        if ((core.Flags & StreamFlags.Exposable) == 0)
        {
            buffer = default;
            return false;
        }

        if ((core.Flags & StreamFlags.Fixed) != 0)
        {
            StreamSegment only = core.SegmentAt(0);
            buffer = new ArraySegment<byte>(only.Array!, only.Offset, (int)core.Length);
            return true;
        }

        buffer = Contiguous(core, core.Length, isOwn: true);
        return true;
    }

    /// <summary>
    /// The content in one piece, without a copy when it lies in one segment; otherwise it is copied once into a single one, which stays.
    /// </summary>
    /// <returns>The content. It must not be used after the stream was written to or disposed: the memory is the stream's.</returns>
    /// <exception cref="IOException">The content is longer than <see cref="Array.MaxLength"/>.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public ArraySegment<byte> ToUnsafeArraySegment() => Contiguous(OpenContent(), room: 0, isOwn: false);

    /// <summary>The content as a sequence, without a copy.</summary>
    /// <returns>The content from its first byte on. It must not be used after the stream was written to or disposed: the memory is the
    /// stream's.</returns>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    /// <remarks>Allocates nothing.</remarks>
    public ReadOnlySequence<byte> GetReadOnlySequence()
    {
        StreamCore core = OpenContent();
        long length = core.Length;
        if (length == 0)
        {
            return ReadOnlySequence<byte>.Empty;
        }

        StreamSegment first = core.SegmentAt(0);
        if (length <= first.End)
        {
            return new ReadOnlySequence<byte>(first.Memory[..(int)length]);
        }

        StreamSegment last = core.SegmentAt(core.Find(length - 1));
        return new ReadOnlySequence<byte>(first, 0, last, (int)(length - last.Start));
    }

    /// <summary>
    /// Takes the content out of the stream, which is empty afterwards and can be used on. The way to keep content beyond the stream's
    /// disposal.
    /// </summary>
    /// <returns>A lease of exactly the content; dispose it to return the memory.</returns>
    /// <exception cref="IOException">The content is longer than <see cref="Array.MaxLength"/>.</exception>
    /// <exception cref="NotSupportedException">The stream is over memory of the caller, which it cannot give away.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    /// <remarks>
    /// Without a copy when the content lies in one segment that a buffer pool leased (a size in the options, or <see cref="Reserve"/> on
    /// the empty stream, makes it so); otherwise copied once.
    /// </remarks>
    public BufferLease<byte> Detach()
    {
        StreamCore core = OpenContent();
        int length = (int)CheckOneArray(core.Length);
        if (!core.IsExpandable)
        {
            throw new NotSupportedException("The stream is over memory of the caller, which it cannot give away.");
        }

        using (Change(core))
        {
            return core.Detach(length);
        }
    }

    /// <summary>Brings the content into one segment.</summary>
    /// <param name="core">The core.</param>
    /// <param name="room">The least length of the array, if that is longer than the content.</param>
    /// <param name="isOwn">Whether it must be the stream's own array from its start on.</param>
    private ArraySegment<byte> Contiguous(StreamCore core, long room, bool isOwn)
    {
        int length = (int)CheckOneArray(core.Length);
        room = Math.Max(length, Math.Min(room, Array.MaxLength));
        if (room == 0)
        {
            return core.SegmentCount > 0 && core.SegmentAt(0) is { Array: { } empty, Offset: var start } && (start == 0 || !isOwn)
                ? new ArraySegment<byte>(empty, start, 0)
                : ArraySegment<byte>.Empty;
        }

        if (core.SegmentCount == 0 || !Serves(core.SegmentAt(0), length, room, isOwn))
        {
            ArraySegment<byte> whole;
            using (Change(core))
            {
                core.Consolidate(room);
                whole = ContentOf(core, length);
            }

            CheckHas(core);
            return whole;
        }

        return ContentOf(core, length);
    }

    private static ArraySegment<byte> ContentOf(StreamCore core, int length)
    {
        StreamSegment only = core.SegmentAt(0);
        return new ArraySegment<byte>(only.Array!, only.Offset, length);
    }

    /// <summary>Whether a segment can be given away as the buffer of the stream.</summary>
    private static bool Serves(StreamSegment segment, int length, long room, bool isOwn) =>
        length <= segment.End && segment.Array is { } array
        && (!isOwn || (segment.Kind != SegmentKind.Foreign && segment.Offset == 0 && array.Length >= room));

    private StreamCore OpenContent()
    {
        StreamCore core = _core;
        if (core == StreamCore.Closed)
        {
            ThrowContentIsGone();
        }

        return core;
    }

    [DoesNotReturn]
    private static void ThrowContentIsGone() => throw new ObjectDisposedException(
        nameof(PooledMemoryStream),
        "The stream was disposed and its memory returned. Read the content before, pass leaveOpen: true to the code that disposes "
            + "the stream, or take the content out with Detach().");
}

using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace Tidepool;

/// <content>Reading and copying out.</content>
public sealed partial class PooledMemoryStream
{
    private const int LeastCopy = 80 << 10; // a target sees no shorter writes than these, but for the last

    /// <inheritdoc/>
    /// <remarks>Reads as much as is there. Allocates nothing.</remarks>
    public override int Read(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        return Read(new Span<byte>(buffer, offset, count));
    }

    /// <inheritdoc/>
    /// <remarks>Reads as much as is there. Allocates nothing.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public override int Read(Span<byte> buffer)
    {
        StreamCore core = _core;
        int index = core.Index;
        if (buffer.Length > core.DataEnd - index)
        {
            return ReadSlow(buffer);
        }

        // The number first, for the same reason as in Write.
        var content = new ReadOnlySpan<byte>(core.Array, index, buffer.Length);
        core.Index = index + buffer.Length;
        if (buffer.Length > StreamCore.MaxCopy)
        {
            StreamCore.Copy(content, buffer);
            return buffer.Length;
        }

        content.CopyTo(buffer);
        return buffer.Length;
    }

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public override int ReadByte()
    {
        StreamCore core = _core;
        int index = core.Index;
        byte[] array = core.Array;
        if (index >= core.DataEnd || (uint)index >= (uint)array.Length)
        {
            return ReadByteSlow();
        }

        core.Index = index + 1;
        return array[index];
    }

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">The target made this stream shorter, and not everything had been copied yet.</exception>
    /// <remarks>Writes segment by segment, at least 80 KiB at a time where there is that much.</remarks>
    public override void CopyTo(Stream destination, int bufferSize)
    {
        ValidateCopyToArguments(destination, bufferSize);
        StreamCore core = Open();
        if (core.HasRestInWindow)
        {
            byte[] array = core.Array;
            int index = core.Index;
            int end = core.DataEnd;
            core.Index = end;
            destination.Write(array, index, end - index);
            return;
        }

        CopyToSlow(core, destination);
    }

    /// <summary>Writes the whole content to another stream. The position stays.</summary>
    /// <param name="stream">The target.</param>
    /// <exception cref="ArgumentNullException"><paramref name="stream"/> is null.</exception>
    /// <exception cref="ObjectDisposedException">This stream was disposed.</exception>
    public override void WriteTo(Stream stream)
    {
        ArgumentNullException.ThrowIfNull(stream);
        StreamCore core = Open();
        long length = core.Length;
        if (length == 0)
        {
            stream.Write([], 0, 0); // a target may count on a call
            return;
        }

        if (stream == this)
        {
            // What is written may overwrite what is still to be read: read all of it first.
            bool wipes = core.Wipes; // what is copied may dispose of this stream
            using BufferLease<byte> copy = BufferPool<byte>.Shared.Rent((int)CheckOneArray(length));
            try
            {
                CopyOut(core, 0, copy.Span);
                Write(copy.Span);
            }
            finally
            {
                if (wipes)
                {
                    CryptographicOperations.ZeroMemory(copy.Span);
                }
            }

            return;
        }

        Send(core, stream, 0, length);
    }

    /// <summary>A copy of the whole content.</summary>
    /// <exception cref="IOException">The content is longer than <see cref="Array.MaxLength"/>.</exception>
    /// <exception cref="ObjectDisposedException">The stream was disposed.</exception>
    public override byte[] ToArray()
    {
        if (HasContentLeft)
        {
            return base.ToArray()[..LengthLeft];
        }

        StreamCore core = OpenContent();
        long length = CheckOneArray(core.Length);
        if (length == 0)
        {
            return [];
        }

        byte[] copy = GC.AllocateUninitializedArray<byte>((int)length);
        CopyOut(core, 0, copy);
        return copy;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int ReadSlow(Span<byte> buffer)
    {
        StreamCore core = Open();
        long position = core.Position;
        int count = (int)Math.Min(buffer.Length, core.Length - position);
        if (count <= 0)
        {
            return 0;
        }

        if (count <= core.DataEnd - core.Index)
        {
            return Read(buffer[..count]);
        }

        using (Change(core))
        {
            core.CopyOut(position, buffer[..count]);
            core.MoveTo(position + count);
        }

        return count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private int ReadByteSlow()
    {
        byte value = 0;
        return ReadSlow(new Span<byte>(ref value)) == 0 ? -1 : value;
    }

    private void CopyToSlow(StreamCore core, Stream destination)
    {
        (long start, long end) = EmulateRead(core);
        if (start < end)
        {
            Send(core, destination, start, end);
        }
    }

    /// <summary>
    /// What is left to read, as positions; the position moves to its end at once, so that a target that throws leaves it there.
    /// </summary>
    private (long Start, long End) EmulateRead(StreamCore core)
    {
        long start = core.Position;
        long end = core.Length;
        if (start < end)
        {
            MoveTo(core, end);
        }

        return (start, end);
    }

    private void Send(StreamCore core, Stream target, long start, long end)
    {
        byte[]? buffer = null;
        bool wipes = core.Wipes; // the target may dispose this stream
        try
        {
            while (start < end)
            {
                ReadOnlyMemory<byte> part = NextPart(core, start, end, isDirect: target is MemoryStream, ref buffer);
                start += part.Length;
                if (MemoryMarshal.TryGetArray(part, out ArraySegment<byte> segment))
                {
                    target.Write(segment.Array!, segment.Offset, segment.Count);
                }
                else
                {
                    target.Write(part.Span);
                }

                CheckRest(core, start, end);
            }
        }
        finally
        {
            ReturnCopyBuffer(buffer, wipes);
        }
    }

    /// <summary>
    /// Begins with the first write, so that what a target throws instead of returning a task goes to the caller as with
    /// <see cref="MemoryStream"/>.
    /// </summary>
    private Task SendAsync(StreamCore core, Stream target, long start, long end, CancellationToken cancellation)
    {
        byte[]? buffer = null;
        bool wipes = core.Wipes; // the target may dispose this stream
        ValueTask first;
        try
        {
            ReadOnlyMemory<byte> part = NextPart(core, start, end, isDirect: false, ref buffer);
            start += part.Length;
            first = target.WriteAsync(part, cancellation);
        }
        catch
        {
            ReturnCopyBuffer(buffer, wipes);
            throw;
        }

        return buffer is null && start == end
            ? first.AsTask()
            : SendRestAsync(first, buffer, wipes, core, target, start, end, cancellation);
    }

    private async Task SendRestAsync(
        ValueTask first, byte[]? buffer, bool wipes, StreamCore core, Stream target, long start, long end, CancellationToken cancellation)
    {
        try
        {
            await first.ConfigureAwait(false);
            CheckRest(core, start, end);
            while (start < end)
            {
                ReadOnlyMemory<byte> part = NextPart(core, start, end, isDirect: false, ref buffer);
                start += part.Length;
                await target.WriteAsync(part, cancellation).ConfigureAwait(false);
                CheckRest(core, start, end);
            }
        }
        finally
        {
            ReturnCopyBuffer(buffer, wipes);
        }
    }

    /// <summary>
    /// Checks that the target has not disposed or shortened this stream: the memory of the rest would be another renter's by now, or
    /// void.
    /// </summary>
    private void CheckRest(StreamCore core, long start, long end)
    {
        if (start == end)
        {
            return;
        }

        if (_core != core)
        {
            ThrowClosed();
        }

        if (core.Length < end)
        {
            throw new InvalidOperationException(
                $"The stream was made shorter while it was copied: {core.Length} bytes, and {start} to {end} were still to be copied.");
        }
    }

    /// <summary>The next part to write: a segment, or several short ones gathered in a rented buffer.</summary>
    private ReadOnlyMemory<byte> NextPart(StreamCore core, long start, long end, bool isDirect, ref byte[]? buffer)
    {
        StreamSegment segment = core.SegmentAt(core.Find(start));
        int skip = (int)(start - segment.Start);
        int length = (int)Math.Min(segment.Length - skip, end - start);
        if (isDirect || length >= LeastCopy || start + length == end)
        {
            return segment.Memory.Slice(skip, length);
        }

        buffer ??= BufferPool<byte>.Shared.AsArrayPool().Rent(LeastCopy);
        length = (int)Math.Min(buffer.Length, end - start);
        CopyOut(core, start, buffer.AsSpan(0, length));
        return buffer.AsMemory(0, length);
    }

    /// <summary>Copies content out, all of it even where memory of the caller's own class disposes of this stream in between.</summary>
    private void CopyOut(StreamCore core, long start, Span<byte> target)
    {
        if (!core.HasForeignMemory)
        {
            core.CopyOut(start, target);
            return;
        }

        using (Change(core)) // its disposal leaves the segments to the copy
        {
            core.CopyOut(start, target);
        }
    }

    private static void ReturnCopyBuffer(byte[]? buffer, bool wipes)
    {
        if (buffer is not null)
        {
            if (wipes)
            {
                CryptographicOperations.ZeroMemory(buffer);
            }

            BufferPool<byte>.Shared.AsArrayPool().Return(buffer);
        }
    }

    private static long CheckOneArray(long length) => length <= Array.MaxLength
        ? length
        : throw new IOException(
            $"The stream holds {length} bytes, more than the {Array.MaxLength} of one array. Use {nameof(CopyTo)} or "
                + $"{nameof(GetReadOnlySequence)}.");
}

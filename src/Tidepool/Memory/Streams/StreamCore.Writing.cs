using System.Buffers;
using System.Security.Cryptography;

namespace Tidepool;

/// <content>Growing, and the memory that a buffer writer is handed.</content>
internal sealed partial class StreamCore
{
    private BufferLease<byte> _scratch;
    private byte[]? _scratchArray;
    private long _handedAt;
    private int _handedLength;
    private int _scratchUsed;

    /// <summary>Writes anywhere, growing as needed. Nothing has changed when it throws.</summary>
    internal void Write(ReadOnlySpan<byte> source)
    {
        long position = Position;
        long length = Length;
        long end = position + source.Length;
        if (end > length)
        {
            Grow(end);
        }

        if ((Flags & StreamFlags.HasAppended) != 0)
        {
            CopyForeign(position, end);
        }

        if (position > length)
        {
            Zero(length, position);
        }

        CopyIn(position, source);
        StoredLength = Math.Max(length, end);
        Current = -1; // the stored length is newer than the window's
        MoveTo(end);
    }

    /// <summary>Sets the length; what is new is zero.</summary>
    internal void SetLength(long value)
    {
        long position = Position;
        long length = Length;
        if (value > length)
        {
            Grow(value);
            Zero(length, value);
        }

        Leave(position);
        StoredLength = value;
        try
        {
            if (value < length && (Flags & StreamFlags.HasAppended) != 0)
            {
                EndForeignAt(value);
            }
        }
        finally
        {
            MoveTo(Math.Min(position, value)); // also when a pool fails to take a segment back
        }
    }

    /// <summary>Makes sure that nothing has to be rented for content up to <paramref name="end"/>.</summary>
    internal void Grow(long end) => RentWith(CheckGrowth(end), end);

    /// <summary>Rents memory for content of up to <paramref name="capacity"/> bytes.</summary>
    internal void Reserve(long capacity)
    {
        long position = Position;
        CheckGrowth(capacity);
        RentWith(Math.Max(capacity, Capacity), capacity);
        MoveTo(position);
    }

    /// <summary>Adds the caller's memory behind the content.</summary>
    internal void Append(ReadOnlyMemory<byte> content)
    {
        long length = Length;
        long capacity = CheckGrowth(length + content.Length);
        if (!IsExpandable)
        {
            throw new NotSupportedException("The stream is over memory of the caller and cannot grow.");
        }

        if (!content.IsEmpty)
        {
            AddForeign(content);
            Capacity = capacity;
        }

        MoveTo(length + content.Length);
    }

    /// <summary>Takes the content out as a lease.</summary>
    internal BufferLease<byte> Detach(int length)
    {
        StoredLength = length;
        if (TryTakeOnlyLease(out BufferLease<byte> lease))
        {
            // What the lease does not show must not come to light elsewhere when the stream promised to zero it.
            if ((Flags & StreamFlags.Wipes) != 0 || Pool is { Core.Settings.Clear: not ClearMode.Never })
            {
                lease.Span[length..].Clear();
            }

            lease = lease.Shorten(length);
        }
        else
        {
            lease = PoolFor(length).Rent(length);
            try
            {
                CopyOut(0, lease.Span);
            }
            catch
            {
                lease.Dispose();
                throw;
            }
        }

        Leave(0);
        StoredLength = 0;
        Recycle();
        return lease;
    }

    /// <summary>Lets the window use room of its segment that growth allows: the common slow path of small writes.</summary>
    /// <returns>False when the segment has no such room.</returns>
    internal bool TryWiden(int count)
    {
        if (Current < 0 || !IsExpandable)
        {
            return false;
        }

        StreamSegment segment = _segments[Current];
        if (!MayWrite(segment) || count > First + segment.Length - Index)
        {
            return false;
        }

        long end = Position + count;
        if (end > Capacity)
        {
            Capacity = CheckGrowth(end);
        }

        WriteEnd = EndIn(segment, Capacity);
        return true;
    }

    /// <summary>Hands out the room behind the window's content, if the position is at the end of all content and there is enough.</summary>
    internal bool TryHandOut(int length, out Memory<byte> memory)
    {
        long position = Position;
        if (Current >= 0 && (Flags & (StreamFlags.Expandable | StreamFlags.HasScratch)) == StreamFlags.Expandable && position == Length)
        {
            StreamSegment segment = _segments[Current];
            int room = (int)Math.Min(First + segment.Length - Index, MaxLength - position);
            if (room >= length && MayWrite(segment))
            {
                (_handedAt, _handedLength) = (position, room);
                memory = new Memory<byte>(Array, Index, room);
                return true;
            }
        }

        memory = default;
        return false;
    }

    /// <summary>Makes the first bytes of what <see cref="TryHandOut"/> handed out content.</summary>
    internal bool TryAdvance(int count)
    {
        long position = Position;
        if (Current < 0 || (Flags & StreamFlags.HasScratch) != 0 || position != Length || position != _handedAt || count > _handedLength)
        {
            return false;
        }

        long end = position + count;
        if (end > Capacity)
        {
            Capacity = CheckGrowth(end);
        }

        Index += count;
        DataEnd = Index;
        (_handedAt, _handedLength) = (end, _handedLength - count);
        return true;
    }

    /// <summary>Memory for at least <paramref name="length"/> bytes from the position on.</summary>
    internal Memory<byte> HandOut(int length)
    {
        long position = Position;
        long most = MaxLength - position;
        if (!IsExpandable)
        {
            most = Capacity - position;
        }

        if (length > most)
        {
            CheckGrowth(position + length);
        }

        if (length > System.Array.MaxLength)
        {
            throw new InsufficientMemoryException(
                $"One piece of memory has at most {System.Array.MaxLength} bytes; {length} were asked for.");
        }

        Exception? failure = null;
        ReturnScratch(ref failure);
        if (position == Length && IsExpandable)
        {
            Leave(position);
            RentContiguous(length);
            MoveTo(position);
            if (TryHandOut(length, out Memory<byte> room))
            {
                return room;
            }
        }

        Memory<byte> memory = HandOutScratch(length);
        memory = memory[..(int)Math.Min(memory.Length, most)];
        (_handedAt, _handedLength) = (position, memory.Length);
        return memory;
    }

    /// <summary>Makes the first bytes of what was handed out content.</summary>
    /// <exception cref="InvalidOperationException">That much was not handed out at this position.</exception>
    internal void Advance(int count)
    {
        // Room that was handed out lies behind the content: what was written since may be in it.
        bool isApart = (Flags & StreamFlags.HasScratch) != 0;
        int handed = _handedAt == Position && (isApart || Position == Length) ? _handedLength : 0;
        if (count > handed)
        {
            throw new InvalidOperationException(
                $"Cannot advance by {count} bytes: {handed} were handed out by GetMemory or "
                    + "GetSpan at this position and not yet advanced over.");
        }

        if (count == 0)
        {
            return;
        }

        // TryAdvance has done it where the content's own room was handed out.
        Write((_scratchArray ?? _scratch.Span).Slice(_scratchUsed, count));
        _scratchUsed += count;
        (_handedAt, _handedLength) = (Position, handed - count);
    }

    /// <summary>
    /// Rents memory up to <paramref name="end"/> for a capacity, which tells the length of the segments. The capacity stays what it was
    /// when it throws.
    /// </summary>
    private void RentWith(long capacity, long end)
    {
        long before = Capacity;
        Capacity = capacity;
        try
        {
            RentUpTo(end);
        }
        catch
        {
            Capacity = before;
            throw;
        }
    }

    /// <summary>
    /// Memory apart from the content: inside of it, what is not advanced over must not change, and room that is in no array has no window.
    /// </summary>
    private Memory<byte> HandOutScratch(int length)
    {
        length = Math.Max(length, MinSegmentLength);
        _scratchUsed = 0;
        Flags |= StreamFlags.HasScratch;
        if (ArrayPool is { } arrays)
        {
            return _scratchArray = RentArray(arrays, length);
        }

        _scratch = PoolFor(length).Rent(length);
        return _scratch.Memory;
    }

    private void ReturnScratch(ref Exception? failure)
    {
        _handedLength = 0;
        if ((Flags & StreamFlags.HasScratch) == 0)
        {
            return;
        }

        (BufferLease<byte> lease, byte[]? array) = (_scratch, _scratchArray);
        Flags &= ~StreamFlags.HasScratch;
        _scratch = default;
        _scratchArray = null;
        try
        {
            if ((Flags & StreamFlags.Wipes) != 0)
            {
                CryptographicOperations.ZeroMemory(array is null && lease.IsActive ? lease.Span : array);
            }

            if (array is not null)
            {
                ArrayPool!.Return(array);
            }
            else
            {
                lease.Dispose();
            }
        }
        catch (Exception e)
        {
            failure ??= e;
        }
    }
}

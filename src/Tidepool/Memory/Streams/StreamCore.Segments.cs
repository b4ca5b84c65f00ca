namespace Tidepool;

/// <content>The list of segments: finding, growing, cutting, joining.</content>
internal sealed partial class StreamCore
{
    /// <summary>The longest segment that growth makes, in bytes. A single request for contiguous memory may make a longer one.</summary>
    internal const int MaxSegmentLength = 1 << 20;

    private const int MaxSpareNodes = 32; // that stay with a core; others go to StreamPool.Spares
    private const int TableLength = 64; // of the table that stays with a core

    internal int SegmentCount;

    private StreamSegment[] _segments;
    private StreamSegment[]? _ownTable; // that stays with the core, while _segments is a longer one
    private StreamSegment? _spare; // nodes that can be used again
    private int _spareCount;

    /// <summary>The end of the rented memory as a position in the stream.</summary>
    internal long PhysicalEnd => SegmentCount == 0 ? 0 : _segments[SegmentCount - 1].End;

    internal StreamSegment SegmentAt(int number) => _segments[number];

    /// <summary>The segment that holds <paramref name="position"/>, the last one for the end of the memory; -1 beyond that.</summary>
    internal int Find(long position)
    {
        int low = 0;
        int high = SegmentCount - 1;
        if (high < 0 || position > _segments[high].End)
        {
            return -1;
        }

        if (position >= _segments[high].Start)
        {
            return high;
        }

        while (low < high)
        {
            int middle = (int)(((uint)low + (uint)high + 1) >> 1);
            if (_segments[middle].Start <= position)
            {
                low = middle;
            }
            else
            {
                high = middle - 1;
            }
        }

        return low;
    }

    /// <summary>
    /// Rents until there is memory up to <paramref name="end"/>. When a pool fails, what was rented until then stays as room.
    /// </summary>
    /// <exception cref="InsufficientMemoryException">The process cannot have that much; nothing was rented.</exception>
    internal void RentUpTo(long end)
    {
        if (PhysicalEnd >= end)
        {
            return;
        }

        CheckMemory(end - PhysicalEnd);
        StoredLength = Length;
        if (StoredLength == 0)
        {
            FreeTooSmall(end);
        }

        if (SegmentCount == 0 && end <= AttachedLength && (Flags & StreamFlags.OwnPool) == 0)
        {
            Add(_attachedSegment);
        }

        while (PhysicalEnd < end)
        {
            Add(RentSegment(NextLength(end - PhysicalEnd)));
        }
    }

    /// <summary>Makes the memory behind the content one segment with room for at least <paramref name="length"/> more bytes.</summary>
    /// <returns>The segment; the content ends in it.</returns>
    internal StreamSegment RentContiguous(int length)
    {
        StoredLength = Length;
        int number = Find(StoredLength);
        if (number >= 0 && MayWrite(_segments[number]) && _segments[number].End - StoredLength >= length)
        {
            return _segments[number];
        }

        if (StoredLength == 0)
        {
            FreeTooSmall(length);
        }

        // Rent first: when the pool fails nothing has changed.
        StreamSegment segment = RentSegment(Math.Max(length, NextLength(length)));
        try
        {
            EndMemoryAt(StoredLength);
        }
        finally
        {
            Add(segment); // also when a pool fails to take the old room back: then this is room, and returned in the end
        }

        return segment;
    }

    /// <summary>
    /// Gives up memory behind <paramref name="end"/>: whole segments are returned, the last one is cut when it must not be longer.
    /// </summary>
    internal void EndMemoryAt(long end)
    {
        try
        {
            ReturnBehind(end);
        }
        finally
        {
            if (SegmentCount > 0 && _segments[SegmentCount - 1].End > end)
            {
                _segments[SegmentCount - 1].Cut((int)(end - _segments[SegmentCount - 1].Start));
            }
        }
    }

    /// <summary>Returns the segments that begin at <paramref name="end"/> or behind it.</summary>
    internal void ReturnBehind(long end)
    {
        Exception? failure = null;
        ReturnBehind(end, ref failure);
        ThrowIfFailed(failure, string.Empty);
    }

    private void ReturnBehind(long end, ref Exception? failure)
    {
        while (SegmentCount > 0 && _segments[SegmentCount - 1].Start >= end)
        {
            ReturnLast(ref failure);
        }
    }

    private static void ThrowIfFailed(Exception? failure, string rest)
    {
        if (failure is not null)
        {
            throw new InvalidOperationException($"A pool failed to take a segment of a stream back{rest}.", failure);
        }
    }

    /// <summary>The content of the caller that lies behind <paramref name="length"/> goes; no own memory may follow where it was.</summary>
    internal void EndForeignAt(long length)
    {
        for (int i = 0; i < SegmentCount; i++)
        {
            if (_segments[i].Kind == SegmentKind.Foreign && _segments[i].End > length)
            {
                EndMemoryAt(length);
                return;
            }
        }
    }

    /// <summary>Adds the caller's memory behind the content, without copying it.</summary>
    internal void AddForeign(ReadOnlyMemory<byte> memory)
    {
        StreamSegment segment = NewNode();
        EnsureTable();
        long end = StoredLength = Length;
        Leave(end);
        EndMemoryAt(end);
        segment.SetForeign(memory);
        Add(segment);
        Flags |= StreamFlags.HasAppended;
        StoredLength = end + memory.Length;
    }

    /// <summary>Gives every segment of the caller between two positions a copy of its own.</summary>
    internal void CopyForeign(long start, long end)
    {
        for (int i = Math.Max(0, Find(start)); i < SegmentCount && _segments[i].Start < end; i++)
        {
            StreamSegment old = _segments[i];
            if (MayWrite(old))
            {
                continue;
            }

            StreamSegment copy = RentSegment(old.Length);
            copy.Cut(old.Length);
            FillFrom(old.Start, copy, old.Length);
            Leave(Position); // the window may be on the old one, and the next rental may fail
            Replace(i, copy);
            Keep(old);
        }
    }

    /// <summary>Makes all content one segment of at least <paramref name="length"/> bytes, which begins at the start of an array.</summary>
    internal void Consolidate(long length)
    {
        long position = Position;
        long end = StoredLength = Length;
        StreamSegment whole = RentWhole((int)Math.Max(Math.Max(end, length), 1));
        FillFrom(0, whole, (int)end);
        Leave(position);
        Exception? failure = null;
        ReturnBehind(0, ref failure);
        Add(whole);
        MoveTo(position);
        ThrowIfFailed(failure, "; the content is complete");
    }

    /// <summary>Copies content into a segment that was just rented.</summary>
    private void FillFrom(long start, StreamSegment target, int length)
    {
        try
        {
            CopyOut(start, target.Writable[..length]);
        }
        catch
        {
            // The caller's memory, which the content may be, may be gone by now.
            Exception? ignored = null;
            Return(target, ref ignored);
            throw;
        }
    }

    /// <summary>Takes the first segment out if it is a lease that holds the whole content.</summary>
    internal bool TryTakeOnlyLease(out BufferLease<byte> lease)
    {
        StoredLength = Length;
        if (SegmentCount == 0 || _segments[0].Kind != SegmentKind.Leased || StoredLength > _segments[0].End)
        {
            lease = default;
            return false;
        }

        StreamSegment only = _segments[0];
        ReturnBehind(1);
        lease = only.Lease;
        Keep(only);
        SegmentCount = 0;
        return true;
    }

    /// <summary>Returns everything but the attached segment. The window is void afterwards.</summary>
    private void Release(ref Exception? failure)
    {
        ReturnScratch(ref failure);
        int count = SegmentCount;
        SegmentCount = 0;
        for (int i = 0; i < count; i++) // the last one is the first to be rented again: most of it is still in the caches
        {
            StreamSegment segment = _segments[i];
            if (segment == _attachedSegment)
            {
                RenewAttached();
            }
            else
            {
                _segments[i] = null!;
                Return(segment, ref failure);
            }
        }
    }

    /// <summary>Leaves to other streams what a core does not keep. No change may be under way, and none may have met another.</summary>
    private void LeaveSpares()
    {
        if (_ownTable is not null)
        {
            System.Array.Clear(_segments);
            StreamPool.Instance.Spares.PutTable(_segments);
            _segments = _ownTable;
            _ownTable = null;
        }

        int rest = _spareCount - MaxSpareNodes;
        if (CutSpares() is { } first)
        {
            StreamPool.Instance.Spares.PutNodes(first, rest);
        }
    }

    /// <summary>Gives up what a core does not keep: another change may be under way, so no other stream may have it.</summary>
    private void FreeSpares()
    {
        if (!IsTangled)
        {
            _segments = _ownTable ?? _segments;
            _ownTable = null;
            _ = CutSpares();
        }
    }

    /// <summary>Cuts off the nodes beyond those that stay with a core.</summary>
    private StreamSegment? CutSpares()
    {
        if (_spareCount <= MaxSpareNodes)
        {
            return null;
        }

        StreamSegment last = _spare!;
        for (int i = 1; i < MaxSpareNodes; i++)
        {
            last = (StreamSegment)last.Next!;
        }

        var rest = (StreamSegment)last.Next!;
        last.EndChain();
        _spareCount = MaxSpareNodes;
        return rest;
    }

    /// <summary>Returns the segments of a list that two threads changed at once: it may have holes, or hold a node twice.</summary>
    private void ReleaseTangled(ref Exception? failure)
    {
        ReturnScratch(ref failure);
        foreach (StreamSegment? segment in _segments)
        {
            if (segment is not null)
            {
                GiveBack(segment, ref failure);
                segment.Clear();
            }
        }
    }

    private void Add(StreamSegment segment)
    {
        EnsureTable();
        segment.Follow(SegmentCount == 0 ? null : _segments[SegmentCount - 1]);
        _segments[SegmentCount++] = segment;
    }

    /// <summary>Puts a segment of the same length in the place of another.</summary>
    private void Replace(int number, StreamSegment segment)
    {
        segment.Follow(number == 0 ? null : _segments[number - 1], number + 1 < SegmentCount ? _segments[number + 1] : null);
        _segments[number] = segment;
    }

    private void EnsureTable()
    {
        StreamSegment[] full = _segments;
        if (SegmentCount < full.Length)
        {
            return;
        }

        if (full.Length < TableLength)
        {
            System.Array.Resize(ref _segments, Math.Max(8, full.Length * 2));
            return;
        }

        StreamSegment[] longer = StreamPool.Instance.Spares.TakeTable(full.Length * 2);
        full.CopyTo(longer, 0);
        _segments = longer;
        if (_ownTable is null)
        {
            System.Array.Clear(full); // it waits, and would keep nodes alive
            _ownTable = full;
        }
    }

    private StreamSegment NewNode()
    {
        if ((_spare ??= StreamPool.Instance.Spares.TakeNodes(MaxSpareNodes, out _spareCount)) is not { } node)
        {
            return new StreamSegment();
        }

        _spare = (StreamSegment?)node.Next;
        _spareCount--;
        node.EndChain();
        return node;
    }

    /// <summary>Forgets what a node was for; it may serve again.</summary>
    private void Keep(StreamSegment node)
    {
        node.Clear();
        node.LinkSpare(_spare);
        _spare = node;
        _spareCount++;
    }

    private void RenewAttached()
    {
        Wipe(_attachedSegment);
        _attachedSegment.SetAttached(_attached); // whole again, if it was cut
    }

    private void ReturnLast(ref Exception? failure)
    {
        int number = SegmentCount - 1;
        StreamSegment last = _segments[number];
        SegmentCount = number;
        if (number > 0)
        {
            _segments[number - 1].EndChain();
        }

        if (last == _attachedSegment)
        {
            RenewAttached();
        }
        else
        {
            _segments[number] = null!;
            Return(last, ref failure);
        }
    }
}

using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;

namespace Tidepool;

/// <summary>
/// All state of an open stream. A core is leased to one <see cref="PooledMemoryStream"/> at a time and waits idle with its first
/// segment attached, so that a small stream needs one rental in all.
/// </summary>
/// <remarks>
/// <para>The window is the part of the content that the fast paths of reading and writing see: <see cref="Array"/> with the
/// position at <see cref="Index"/>, valid bytes up to <see cref="DataEnd"/>, and room for writing up to <see cref="WriteEnd"/>. The
/// position in the stream is always <see cref="Base"/> + <see cref="Index"/>. <see cref="Current"/> is the number of the segment in the
/// window; -1 means that no segment is: then both ends are -1, which sends every operation to its slow path.</para>
/// <para>Invariants (<see cref="FindFault"/>): segments follow each other without gaps from 0; in an open window Index is at most
/// DataEnd, which is at most the segment's end; the length is at most the capacity; bytes of own memory beyond the length may hold
/// anything, so whatever makes the stream longer without writing zeroes them.</para>
/// </remarks>
internal sealed partial class StreamCore
{
    /// <summary>The size of the attached segment in bytes.</summary>
    internal const int AttachedLength = 1024;

    /// <summary>
    /// The longest content of any stream in bytes, 1 TiB: more than streams in memory have, and less than a
    /// miscalculated position. Without an end, a write there would fill the gap with zeros until no memory is left.
    /// </summary>
    internal const long LongestLength = 1L << 40;

    private const int TicketBits = 40; // leases of one core before they meet those of the next

    /// <summary>The core of every stream that is closed: no operation passes its window.</summary>
    internal static readonly StreamCore Closed = new();

    private static long s_cores;

    internal byte[] Array;
    internal int Index;
    internal int WriteEnd;
    internal int DataEnd;

    /// <summary>The first byte of the window's segment in <see cref="Array"/>.</summary>
    internal int First;

    internal int Current;
    internal long Base;

    /// <summary>What the window does not know better: see <see cref="Length"/>.</summary>
    internal long StoredLength;

    internal long MaxLength;
    internal StreamFlags Flags;
    internal PooledMemoryStreamOptions? Options;
    internal BufferPool<byte>? Pool;
    internal ArrayPool<byte>? ArrayPool;

    /// <summary>
    /// Where the content begins in the array that the caller gave; positions end so much earlier, as with <see cref="MemoryStream"/>.
    /// </summary>
    internal int Origin;

    /// <summary>The last result of an asynchronous read, kept because the next one is mostly the same.</summary>
    internal Task<int>? LastRead;

    /// <summary>The stream object of leases over this core: see <see cref="StreamLease"/>. Null until it is first leased.</summary>
    internal PooledMemoryStream? LeasedStream;

    /// <summary>The ticket of the lease that is out, an odd number; each lease of each core of the process has another.</summary>
    internal long Ticket;

    /// <summary>Rentals while <see cref="Watch"/> watches.</summary>
    internal int WatchedRentals;

    /// <summary>Reports the stream when it is dropped without being disposed; only some cores have one.</summary>
    internal readonly RentalRecord? Watch;

    private byte[] _attached;
    private StreamSegment _attachedSegment;

    internal StreamCore(RentalRecord? watch)
    {
        Watch = watch;
        Ticket = Interlocked.Increment(ref s_cores) << TicketBits;
        BeginAnew();
        Rest();
    }

    private StreamCore()
    {
        Array = _attached = [];
        _attachedSegment = new StreamSegment();
        _segments = [];
        WriteEnd = DataEnd = Current = -1;
    }

    /// <summary>The length of the content in bytes.</summary>
    internal long Length
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Current < 0 ? StoredLength : Math.Max(StoredLength, Base + DataEnd);
    }

    internal long Position
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Base + Index;
    }

    /// <summary>Whether something is left to read, and the window has all of it.</summary>
    internal bool HasRestInWindow
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Index < DataEnd && Base + DataEnd >= StoredLength;
    }

    /// <summary>The last position that a caller may set: as far as content can reach, as with <see cref="MemoryStream"/>.</summary>
    internal long LongestPosition => (Flags & StreamFlags.Fixed) == 0 ? LongestLength
        : Capacity > int.MaxValue ? Capacity
        : int.MaxValue - Origin;

    /// <summary>Whether a lease over the core is out.</summary>
    internal bool IsLeasedOut => (Volatile.Read(ref Ticket) & 1) != 0;

    internal bool IsWritable => (Flags & StreamFlags.Writable) != 0;

    internal bool IsExpandable => (Flags & StreamFlags.Expandable) != 0;

    /// <summary>Whether a segment may be memory of a class of the caller's own, whose code runs when it is read.</summary>
    internal bool HasForeignMemory =>
        (Flags & StreamFlags.HasAppended) != 0 || (Flags & (StreamFlags.Fixed | StreamFlags.OverArray)) == StreamFlags.Fixed;

    /// <summary>Whether content must be zeroed wherever it was before the memory is returned.</summary>
    internal bool Wipes => (Flags & StreamFlags.Wipes) != 0;

    /// <summary>Whether only numbers differ from a new stream's core: the attached segment alone is in the window.</summary>
    internal bool IsSmall
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => ((int)(Flags ^ StreamFlags.Default) | Current) == 0;
    }

    /// <summary>Whether the core of a disposed stream can rest as it is.</summary>
    /// <remarks>Looks for changes first: once there is none, none begins, and what the last one did is visible.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool CanRest() => Volatile.Read(ref _changes) == 0 && IsSmall && Watch is null;

    /// <summary>Makes the core what a new stream needs, whatever a thread has done to it since it was returned.</summary>
    /// <remarks>
    /// A thread that was on a fast path when its stream was disposed may still store into the window's numbers, and nowhere else. A
    /// resting core is closed, so such a store shows; the core then leaves that thread the array that it may be writing to.
    /// </remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Begin()
    {
        if ((WriteEnd & DataEnd) != -1)
        {
            BeginAnew();
        }

        LastRead = null;
        BeFresh();
    }

    /// <summary>Closes the core for its time in the pool: nothing can be read or written through it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Rest()
    {
        WriteEnd = -1;
        DataEnd = -1;
        Flags = StreamFlags.None; // refuses every slow path
    }

    /// <summary>Sets the numbers to those of a new stream; the segment list holds the attached segment alone.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void BeFresh()
    {
        Index = 0;
        WriteEnd = FirstCapacity;
        DataEnd = 0;
        First = 0;
        Current = 0;
        Base = 0;
        StoredLength = 0;
        _capacity = 0;
        MaxLength = LongestLength;
        Flags = StreamFlags.Default;
        SegmentCount = 1;
        _handedLength = 0;
    }

    /// <summary>Makes a fresh core one with options.</summary>
    internal void UseOptions(PooledMemoryStreamOptions options, BufferPool<byte>? pool)
    {
        if (options.IsDefault)
        {
            return;
        }

        Options = options;
        SetMaxLength(options.MaxLength);
        Flags |= StreamFlags.HasOptions | (options.ZeroOnReturn ? StreamFlags.Wipes : 0);
        if (pool is not null || options.InitialSize > 0)
        {
            UsePool(pool, null);
        }
    }

    /// <summary>Makes a fresh core one whose memory comes from a pool of the caller.</summary>
    internal void UsePool(BufferPool<byte>? pool, ArrayPool<byte>? arrays)
    {
        Pool = pool;
        ArrayPool = arrays;
        Flags |= StreamFlags.OwnPool;
        if (pool is { Core.Settings.Secrets: true })
        {
            Flags |= StreamFlags.Wipes; // also what does not come from that pool
        }

        FreeAttached();
    }

    /// <summary>Makes a fresh core one over the caller's array.</summary>
    internal void UseArray(byte[] array, int index, int count, bool writable, bool visible)
    {
        Flags = StreamFlags.Fixed | StreamFlags.OverArray
            | (writable ? StreamFlags.Writable | StreamFlags.WritesForeign : 0)
            | (visible ? StreamFlags.Exposable : 0);
        FreeAttached();
        StreamSegment only = NewNode();
        only.SetForeign(new ReadOnlyMemory<byte>(array, index, count));
        only.Array = array; // also of length 0, where the memory forgets it
        only.Offset = index;
        Add(only);
        Origin = index;
        StoredLength = Capacity = MaxLength = count;
        MoveTo(0);
    }

    /// <summary>Makes a fresh core a read-only one over the caller's memory.</summary>
    internal void UseMemory(in ReadOnlySequence<byte> content)
    {
        Flags = StreamFlags.Fixed;
        FreeAttached();
        foreach (ReadOnlyMemory<byte> part in content)
        {
            if (!part.IsEmpty)
            {
                StreamSegment segment = NewNode();
                segment.SetForeign(part);
                Add(segment);
            }
        }

        StoredLength = Capacity = MaxLength = content.Length;
        MoveTo(0);
    }

    /// <summary>
    /// Gives everything that was rented back; the core can rest then. Returns each segment once, also when a pool throws.
    /// </summary>
    internal void ReleaseAll()
    {
        Exception? failure = null;
        if (IsTangled)
        {
            ReleaseTangled(ref failure);
            BeginAnew();
        }
        else
        {
            Release(ref failure);
            LeaveSpares();
        }

        Options = null;
        Pool = null;
        ArrayPool = null;
        LastRead = null;
        Restore();
        ThrowIfFailed(failure, "; all the others were returned");
    }

    /// <summary>Empties the stream for its next user and keeps its options and pools.</summary>
    internal void Recycle()
    {
        Exception? failure = null;
        Release(ref failure);
        FreeSpares();
        StreamFlags kept = Flags & ~(StreamFlags.HasAppended | StreamFlags.HasRented);
        long maxLength = MaxLength;
        Restore();
        SetMaxLength(maxLength);
        Flags = kept;
        if ((kept & StreamFlags.OwnPool) != 0)
        {
            FreeAttached();
        }

        ThrowIfFailed(failure, "; all the others were returned");
    }

    /// <summary>Checks every invariant.</summary>
    /// <returns>What is wrong, or null.</returns>
    internal string? FindFault()
    {
        long start = 0;
        for (int i = 0; i < SegmentCount; i++)
        {
            StreamSegment segment = _segments[i];
            if (segment.Start != start || segment.Next != (i + 1 < SegmentCount ? _segments[i + 1] : null))
            {
                return $"Segment {i} of {SegmentCount} begins at {segment.Start} and not at {start}, or is not followed by the next one.";
            }

            start = segment.End;
        }

        if (Length > Capacity || Length > start || Length > MaxLength || Position < 0)
        {
            return $"Length {Length}, capacity {Capacity}, memory {start}, maximum length {MaxLength}, position {Position}.";
        }

        if (Current < 0)
        {
            return WriteEnd == -1 && DataEnd == -1 && Array.Length == 0
                ? null
                : $"The window is closed and has the ends {WriteEnd} and {DataEnd}.";
        }

        StreamSegment shown = _segments[Current];
        bool fits = Current < SegmentCount && Array == shown.Array && First == shown.Offset && Base + First == shown.Start
            && Index >= First && Index <= DataEnd && DataEnd <= First + shown.Length && WriteEnd <= First + shown.Length;
        return fits
            ? null
            : $"Window {First}..{Index}..{DataEnd}..{WriteEnd} at {Base} does not fit segment {Current} of {SegmentCount}, "
                + $"{shown.Start}..{shown.End} from {shown.Offset} on.";
    }

    /// <summary>Closes the window and remembers the position.</summary>
    internal void Leave(long position)
    {
        StoredLength = Length;
        _capacity = Capacity; // while the window tells it
        _handedLength = 0; // its memory may move or be returned
        Current = -1;
        Array = [];
        First = 0;
        Index = 0;
        Base = position;
        WriteEnd = -1;
        DataEnd = -1;
    }

    /// <summary>Sets the position, with a window on it where there is memory in an array.</summary>
    internal void MoveTo(long position)
    {
        Leave(position);
        if (position <= StoredLength)
        {
            Open(position);
        }
    }

    private void Open(long position)
    {
        int number = Find(position);
        if (number < 0 || _segments[number].Array is not { } array)
        {
            return;
        }

        StreamSegment segment = _segments[number];
        Current = number;
        Array = array;
        First = segment.Offset;
        Base = segment.Start - segment.Offset;
        Index = (int)(position - Base);
        DataEnd = EndIn(segment, StoredLength);
        WriteEnd = IsWritable && MayWrite(segment) ? EndIn(segment, Capacity) : -1;
    }

    /// <summary>The window's end in the array for content up to <paramref name="end"/>.</summary>
    private static int EndIn(StreamSegment segment, long end) =>
        segment.Offset + (int)Math.Clamp(end - segment.Start, 0, segment.Length);

    private bool MayWrite(StreamSegment segment) =>
        segment.Kind != SegmentKind.Foreign || (Flags & StreamFlags.WritesForeign) != 0;

    /// <summary>Begins with memory and nodes of its own: others, which a thread may still write to, are the collector's.</summary>
    [MemberNotNull(nameof(_attached), nameof(_attachedSegment), nameof(_segments), nameof(Array))]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void BeginAnew()
    {
        _attached = GC.AllocateUninitializedArray<byte>(AttachedLength);
        _attachedSegment = new StreamSegment();
        _attachedSegment.SetAttached(_attached);
        _segments = [_attachedSegment];
        _spare = null;
        _spareCount = 0;
        _ownTable = null;
        _scratch = default;
        _scratchArray = null;
        Interlocked.And(ref _changes, ~Tangled);
        Origin = 0;
        Array = _attached;
    }

    private void SetMaxLength(long length)
    {
        MaxLength = length;
        WriteEnd = (int)Math.Min(WriteEnd, length);
    }

    private void Restore()
    {
        Origin = 0;
        _attachedSegment.Follow(null);
        _segments[0] = _attachedSegment;
        Array = _attached;
        BeFresh();
    }

    private void FreeAttached()
    {
        SegmentCount = 0;
        Leave(0);
    }

    private void Wipe(StreamSegment segment)
    {
        if (Wipes && segment.Kind != SegmentKind.Foreign)
        {
            // What was cut off was written to as well.
            CryptographicOperations.ZeroMemory(segment.Kind == SegmentKind.Leased ? segment.Lease.Span : segment.Array);
        }
    }
}

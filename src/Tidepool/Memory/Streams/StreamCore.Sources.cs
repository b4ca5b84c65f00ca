using System.Buffers;
using System.Numerics;

namespace Tidepool;

/// <content>Where a segment comes from, how long it is, and how it goes back.</content>
internal sealed partial class StreamCore
{
    private const int MinSegmentLength = 256;
    private const int GrowthShift = 2; // each segment is four times as long as the one before it
    private const long UncheckedBytes = 16L << 20; // of one call: asking how much there is costs nothing beside the zeroing of more

    private static long s_available; // bytes of memory that the process may have, as the collector said last

    /// <summary>Refuses at once what would otherwise be rented and zeroed until the process ends.</summary>
    /// <remarks>Asks again where more than half of it is wanted: asking allocates, and a container's limit seldom changes.</remarks>
    private void CheckMemory(long bytes)
    {
        if (bytes <= UncheckedBytes || Pool is { Core.Settings.IsNative: true })
        {
            return;
        }

        if (bytes <= Volatile.Read(ref s_available) / 2)
        {
            return;
        }

        long most = GC.GetGCMemoryInfo(GCKind.Any).TotalAvailableMemoryBytes;
        Volatile.Write(ref s_available, most);
        if (bytes > most)
        {
            throw new InsufficientMemoryException(
                $"The stream needs {bytes} more bytes of memory; all that this process may have is {most} bytes.");
        }
    }

    /// <summary>The length of the next segment: as much as is needed, rounded up, between what growth says and what is allowed.</summary>
    private int NextLength(long needed)
    {
        long last = SegmentCount == 0 ? 0 : _segments[SegmentCount - 1].Length;
        long growth = SegmentCount == 0 ? Math.Max(MinSegmentLength, Options?.InitialSize ?? 0) : last << GrowthShift;
        long wanted = Math.Max(growth, Math.Max(needed, Capacity - PhysicalEnd));
        int most = Pool is { } pool ? Math.Min(MaxSegmentLength, pool.Core.Settings.LongestBuffer) : MaxSegmentLength;
        return (int)Math.Min((ulong)most, BitOperations.RoundUpToPowerOf2((ulong)wanted));
    }

    /// <summary>Room that holds nothing yet and is too small for what comes is no good as a first segment.</summary>
    private void FreeTooSmall(long end)
    {
        if (SegmentCount > 0 && _segments[0].End < end)
        {
            long position = Position;
            Leave(position);
            ReturnBehind(0);
        }
    }

    /// <summary>The pool of the stream, or the shared one where the stream's own makes nothing as long.</summary>
    private BufferPool<byte> PoolFor(int length) =>
        Pool is { } pool && length <= pool.Core.Settings.LongestBuffer ? pool : BufferPool<byte>.Shared;

    private StreamSegment RentSegment(int length) => RentSegment(length, PoolFor(length));

    /// <summary>A segment that is an array from its start on; from the shared pool where the stream's own has no such memory.</summary>
    private StreamSegment RentWhole(int length) =>
        RentSegment(length, Pool is { Core.Settings.HasWholeArrays: false } ? BufferPool<byte>.Shared : PoolFor(length));

    private StreamSegment RentSegment(int length, BufferPool<byte> pool)
    {
        StreamSegment segment = NewNode();
        EnsureTable();
        Flags |= StreamFlags.HasRented;
        if (ArrayPool is { } arrays)
        {
            segment.SetRented(RentArray(arrays, length));
        }
        else
        {
            segment.SetLease(pool.Rent(length));
        }

        return segment;
    }

    /// <exception cref="InvalidOperationException">The pool gave a shorter array than it was asked for.</exception>
    private static byte[] RentArray(ArrayPool<byte> pool, int length)
    {
        byte[] array = pool.Rent(length);
        if (array.Length < length)
        {
            pool.Return(array);
            throw new InvalidOperationException($"{pool.GetType()} gave an array of {array.Length} bytes when it was asked for {length}.");
        }

        return array;
    }

    private void Return(StreamSegment segment, ref Exception? failure)
    {
        GiveBack(segment, ref failure);
        Keep(segment);
    }

    private void GiveBack(StreamSegment segment, ref Exception? failure)
    {
        (SegmentKind kind, BufferLease<byte> lease, byte[]? array) = (segment.Kind, segment.Lease, segment.Array);
        try
        {
            Wipe(segment);
            if (kind == SegmentKind.Leased)
            {
                lease.Dispose();
            }
            else if (kind == SegmentKind.Rented)
            {
                ArrayPool!.Return(array!);
            }
        }
        catch (Exception e)
        {
            failure ??= e;
        }
    }
}

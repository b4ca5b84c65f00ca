using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>The slot of a <see cref="BufferPool{T}"/>'s buffer: knows its pool's core.</summary>
internal sealed class PooledSlot<T> : BufferSlot<T>
{
    internal readonly BufferCore<T> Core;
    internal readonly Bucket Bucket;
    internal object? Tag;
    internal RentalRecord? Record;

    /// <summary>The owner of all its rentals from pools whose owners are reused unguarded; made by the first.</summary>
    internal PooledOwner<T>? Owner;

    internal PooledSlot(BufferCore<T> core, Bucket bucket)
    {
        Core = core;
        Bucket = bucket;
        Home = bucket.ClosedHome;
        HoldsReferences = BufferPoolSettings<T>.HoldsReferences;
    }

    internal override bool Return(int generation, int length, object? companion) => Core.Return(this, generation, length, companion);

    internal override ArraySegment<T> Detach(int generation, int length) => Core.Detach(this, generation, length);

    internal override void OnRetired(MisuseKind kind) => Core.OnRetired(this, kind);

    internal override bool OutlivesSlot => Address != 0;

    internal override void FreeLost() => Core.Evict(Bucket, [this]);

    internal override Slot Replace()
    {
        var slot = new PooledSlot<T>(Core, Bucket);
        slot.Adopt(ToBuffer());
        slot.Record = Record is null ? null : new RentalRecord(Core, slot, Bucket.ItemBytes, "A leased buffer", slot.Capacity);
        Record?.StopWatching();
        (Array, Address, Capacity, Record) = (null, 0, 0, null);
        return slot;
    }

    internal override void ClearReferences(int length)
    {
        if (BufferPoolSettings<T>.HoldsReferences && Array is not null)
        {
            AtMost(length).Clear(); // as a number without sign, -1 is more than any buffer has
        }
    }

    internal void Adopt(in SourceBuffer<T> buffer)
    {
        Array = buffer.Array;
        Offset = buffer.Offset;
        Address = buffer.Address;
        Capacity = buffer.Length;
        Tag = buffer.Tag;
        IsPlain = buffer.Array is not null && Core.Settings.Checks != PoolChecks.Full;
    }

    internal SourceBuffer<T> ToBuffer() =>
        Array is null ? new SourceBuffer<T>(Address, Capacity, Tag) : new SourceBuffer<T>(Array, Offset, Capacity, Tag);

    /// <summary>Takes the buffer out of the slot for good. Native memory is handed out once.</summary>
    internal bool TryTakeBuffer(out SourceBuffer<T> buffer)
    {
        nint address = Array is null ? Interlocked.Exchange(ref Address, 0) : 0;
        buffer = address != 0 ? new SourceBuffer<T>(address, Capacity, Tag) : Array is not null ? ToBuffer() : default;
        return address != 0 || Array is not null;
    }

    /// <summary>
    /// What a renter of <paramref name="length"/> elements can reach of the buffer: all of it where <see cref="BufferLease{T}.Segment"/>
    /// shows the array, else the rented elements.
    /// </summary>
    internal Span<T> Reachable(int length) => Array is null ? AtMost(length) : Whole();

    /// <summary>All elements of the buffer, rented or not.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal Span<T> Whole() => First(Capacity);
}

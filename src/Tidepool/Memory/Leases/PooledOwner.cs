using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// A lease as an <see cref="IMemoryOwner{T}"/>. Disposing it again does nothing; racing disposals return the buffer once.
/// </summary>
/// <remarks>
/// Where memory cannot be an array's (native buffers, full checks) an owner stands behind it and asks its lease each time a span is taken.
/// Such a memory throws once the lease has ended: for good when owners are fresh, until the owner's next rental when they are reused.
/// </remarks>
internal sealed class PooledOwner<T> : MemoryManager<T>, IMemoryOwner<T>
{
    private readonly OwnerKind _kind;
    private BufferSlot<T> _slot;
    private ulong _rental;

    internal PooledOwner(BufferLease<T> lease, OwnerKind kind)
    {
        _slot = lease.Slot!;
        _rental = lease.Rental;
        _kind = kind;
    }

    public override Memory<T> Memory
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            BufferSlot<T> slot = _slot;
            ulong rental = _rental;
            bool isOut = ((slot.State.Generation ^ RentalWord.GenerationOf(rental)) | slot.State.Posted) == 0;
            return isOut && slot.IsPlain && !RentalWord.MayTear
                ? new Memory<T>(slot.Array, slot.Offset, RentalWord.LengthOf(rental))
                : MemorySlow();
        }
    }

    /// <summary>The memory that asks the lease.</summary>
    internal Memory<T> Checked => CreateMemory(Lease.Span.Length);

    private BufferLease<T> Lease => new(_slot, _rental);

    public void Dispose()
    {
        BufferSlot<T> slot = _slot;
        ulong rental = _rental;
        Magazine home = slot.Home; // another one as soon as another thread has rented the slot
        if (_kind == OwnerKind.View || !BufferLease<T>.TryReturnFast(slot, rental))
        {
            DisposeSlow(slot, rental);
        }
        else if (_kind == OwnerKind.Reused)
        {
            home.Owners?.Put(this); // elsewhere the owner travels home with the slot
        }
    }

    public override Span<T> GetSpan() => Lease.Span;

    public override unsafe MemoryHandle Pin(int elementIndex = 0)
    {
        BufferLease<T> lease = Lease;
        Span<T> span = lease.Span;
        ArgumentOutOfRangeException.ThrowIfNegative(elementIndex);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(elementIndex, span.Length);
        GCHandle handle = lease.Slot!.Array is { } array ? GCHandle.Alloc(array, GCHandleType.Pinned) : default;
        return new MemoryHandle(Unsafe.Add<T>(Unsafe.AsPointer(ref MemoryMarshal.GetReference(span)), elementIndex), handle, this);
    }

    public override void Unpin()
    {
    }

    protected override bool TryGetArray(out ArraySegment<T> segment)
    {
        BufferLease<T> lease = Lease;
        segment = lease.Slot?.Array is null ? default : lease.Segment;
        return segment.Array is not null;
    }

    protected override void Dispose(bool disposing)
    {
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private Memory<T> MemorySlow() => _slot.IsPlain ? Lease.Memory : Checked;

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void DisposeSlow(BufferSlot<T> slot, ulong rental)
    {
        if (_kind == OwnerKind.View)
        {
            return; // code that reaches the manager behind a lease's Memory does not hold the lease
        }

        object? companion = _kind == OwnerKind.Reused ? this : null;
        if (!slot.Return(RentalWord.GenerationOf(rental), RentalWord.LengthOf(rental), companion))
        {
            slot.OnRetired(MisuseKind.StaleDispose);
        }
    }

    /// <summary>Begins another rental of its slot.</summary>
    internal void Begin(ulong rental) => _rental = rental;

    /// <summary>
    /// Begins another rental. Reusing an owner mostly means the same slot again: comparing is cheaper than the write barrier.
    /// </summary>
    internal void Bind(BufferSlot<T> slot, ulong rental)
    {
        if (_slot != slot)
        {
            _slot = slot;
        }

        _rental = rental;
    }
}

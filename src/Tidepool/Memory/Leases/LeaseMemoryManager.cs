using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>Memory that asks a lease each time a span is taken, so that use after return throws.</summary>
internal abstract class LeaseMemoryManager<T> : MemoryManager<T>
{
    /// <summary>The lease that is asked.</summary>
    protected abstract BufferLease<T> Lease { get; }

    public override Memory<T> Memory => CreateMemory(Lease.Span.Length);

    public override Span<T> GetSpan() => Lease.Span;

    public override unsafe MemoryHandle Pin(int elementIndex = 0)
    {
        BufferLease<T> lease = Lease;
        Span<T> span = lease.Span;
        ArgumentOutOfRangeException.ThrowIfNegative(elementIndex);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(elementIndex, span.Length);
        if (lease.Slot!.Array is not { } array)
        {
            return new MemoryHandle(Unsafe.Add<T>(Unsafe.AsPointer(ref MemoryMarshal.GetReference(span)), elementIndex), default, this);
        }

        var handle = GCHandle.Alloc(array, GCHandleType.Pinned);
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
}

/// <summary>The memory of one lease; a new one for each rental, so it never speaks of another.</summary>
internal sealed class LeaseMemory<T>(BufferLease<T> lease) : LeaseMemoryManager<T>
{
    protected override BufferLease<T> Lease => lease;
}

using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>Memory that asks its lease each time a span is taken, so that use after return throws.</summary>
internal sealed class LeaseMemoryManager<T>(BufferLease<T> lease) : MemoryManager<T>
{
    public override Memory<T> Memory => CreateMemory(lease.Length);

    public override Span<T> GetSpan() => lease.Span;

    public override unsafe MemoryHandle Pin(int elementIndex = 0)
    {
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
        segment = lease.Slot?.Array is null ? default : lease.Segment;
        return segment.Array is not null;
    }

    protected override void Dispose(bool disposing)
    {
    }
}

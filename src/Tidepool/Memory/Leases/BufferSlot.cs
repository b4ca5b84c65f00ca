using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>The slot of a buffer: the array and where the buffer begins in it, or a native address.</summary>
internal abstract class BufferSlot<T> : Slot
{
    internal T[]? Array;
    internal int Offset;
    internal int Capacity;
    internal nint Address;

    /// <summary>The first <paramref name="length"/> elements; the caller has checked the ticket.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal unsafe Span<T> First(int length)
    {
        T[]? array = Array;
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>() || array is not null)
        {
            return MemoryMarshal.CreateSpan(ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(array!), Offset), length);
        }

        return new Span<T>((void*)Address, length);
    }

    /// <summary>The first <paramref name="length"/> elements, or all when there are fewer: for a length that was not checked.</summary>
    internal Span<T> AtMost(int length) => First((int)Math.Min((uint)length, (uint)Capacity));

    /// <summary>What the return of so many elements clears: never more than the buffer, whatever the lease says.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ClearRange ToClear(int length) => new(Array, Offset, (int)Math.Min((uint)length, (uint)Capacity));

    /// <summary>Whether a Memory may be made of the array; otherwise it must look at the ticket each time its span is taken.</summary>
    internal bool IsPlain;

    /// <summary>Ends the rental and hands the buffer over for good.</summary>
    internal abstract ArraySegment<T> Detach(int generation, int length);
}

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>Pinned arrays with room to begin at an aligned address.</summary>
internal static class AlignedArray
{
    private const int Attempts = 16;

    /// <summary>Elements of a pinned array, the first of them at an address that is a multiple of <paramref name="alignment"/>.</summary>
    /// <exception cref="NotSupportedException">No element of the type can start there, because its size has no common step with the
    /// alignment.</exception>
    internal static SourceBuffer<T> Allocate<T>(int length, int alignment)
    {
        if (alignment <= 1)
        {
            return new SourceBuffer<T>(GC.AllocateUninitializedArray<T>(length, pinned: true), 0, length);
        }

        // The heap aligns arrays to 8 bytes, so with larger elements either all or none of an array's can be aligned: then try another
        // place.
        byte[]? filler = null;
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            T[] array = GC.AllocateUninitializedArray<T>(checked(length + alignment), pinned: true);
            int offset = FirstAligned(array, alignment);
            if (offset >= 0)
            {
                GC.KeepAlive(filler);
                return new SourceBuffer<T>(array, offset, length);
            }

            filler = GC.AllocateUninitializedArray<byte>(8 * (attempt + 1), pinned: true);
        }

        throw new NotSupportedException(
            $"No element of {typeof(T)} ({Unsafe.SizeOf<T>()} bytes) can begin at a multiple of {alignment} bytes: use an element "
                + "size that divides the alignment.");
    }

    private static unsafe int FirstAligned<T>(T[] array, int alignment)
    {
        nuint size = (nuint)Unsafe.SizeOf<T>();
        nuint first = (nuint)Unsafe.AsPointer(ref MemoryMarshal.GetArrayDataReference(array));
        for (int offset = 0; offset <= alignment; offset++)
        {
            if ((first + ((nuint)offset * size)) % (nuint)alignment == 0)
            {
                return offset;
            }
        }

        return -1;
    }
}

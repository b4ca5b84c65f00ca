namespace Tidepool;

/// <summary>A buffer that is a block of the native library by itself: one too large for a slab.</summary>
internal sealed unsafe class NativeBlock
{
    private readonly nuint _bytes;
    private nint _address;

    private NativeBlock(nint address, nuint bytes)
    {
        _address = address;
        _bytes = bytes;
        NativePressure.Add((long)bytes);
    }

    internal nint Address => _address;

    /// <summary>Makes a block.</summary>
    /// <exception cref="InsufficientMemoryException">The library has no memory left.</exception>
    internal static NativeBlock Make(nuint bytes, nuint alignment)
    {
        void* block = alignment <= NativeSlabs.NaturalAlignment ? NativeMethods.tp_try_malloc(bytes) : null;
        if (block is null)
        {
            block = NativeSlabs.Allocate(bytes, alignment);
        }

        return new NativeBlock((nint)block, bytes);
    }

    /// <summary>Gives the block back to the library.</summary>
    /// <returns>False when that was done before, or the address is another one.</returns>
    internal bool TryFree(nint address)
    {
        if (Interlocked.CompareExchange(ref _address, 0, address) != address)
        {
            return false;
        }

        if (!NativeMethods.tp_try_free((void*)address))
        {
            NativeMethods.tp_free((void*)address);
        }

        NativePressure.Remove((long)_bytes);
        return true;
    }
}

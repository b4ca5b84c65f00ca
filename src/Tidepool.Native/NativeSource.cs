using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// Native memory for a <see cref="BufferPool{T}"/>: buffers that the garbage collector neither moves nor scans nor counts, aligned as
/// asked. Small ones are carved from slabs of 64 KiB, so that one call of the native library makes many; the pool's tiers keep them, so
/// that a rental makes none.
/// </summary>
/// <typeparam name="T">An element type without references.</typeparam>
/// <remarks>
/// <para>Thread-safe. A buffer that is made or freed costs one short lock or one call of the library; a rental that a tier serves costs
/// what a rental of managed memory costs. The garbage collector is told about slabs and large blocks, in steps of 1 MiB, never about
/// leases.</para>
/// <para>A lease that is dropped without return is freed by a finalizer and reported as <see cref="MisuseKind.NeverReturned"/>. A span
/// does not keep its lease alive: hold the lease (or its <see cref="BufferLease{T}.Memory"/>) for as long as the span is used.</para>
/// </remarks>
public sealed class NativeSource<T> : BufferSource<T>
    where T : unmanaged
{
    private NativeSource()
    {
    }

    /// <summary>The one instance; it has no state of its own.</summary>
    /// <exception cref="DllNotFoundException">The native library is not there; the message says where it was looked for and how it is
    /// built.</exception>
    public static NativeSource<T> Instance
    {
        get
        {
            NativeLoader.Load(); // now, where the caller names the source, and not at the first rental
            return Holder.Instance;
        }
    }

    /// <inheritdoc/>
    public override BufferForm Form => BufferForm.Native;

    /// <inheritdoc/>
    /// <remarks>1 GiB. Every buffer is aligned to 16 bytes. Up to 8 KiB an alignment costs rounding up to its multiple.</remarks>
    public override int MaxAlignment => 1 << 30;

    /// <inheritdoc/>
    /// <exception cref="InsufficientMemoryException">The system or <see cref="TidepoolNative.Budget"/> gives no more; an
    /// <see cref="OutOfMemoryException"/>.</exception>
    public override SourceBuffer<T> Allocate(int length, int alignment)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(length, 1);
        ArgumentOutOfRangeException.ThrowIfNegative(alignment);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(alignment, MaxAlignment);
        long bytes = (long)length * Unsafe.SizeOf<T>();
        if (NativeSlabs.Find(bytes, alignment) is { } cells)
        {
            (nint address, NativeSlab slab) = cells.Take();
            return new SourceBuffer<T>(address, length, slab);
        }

        NativeBlock block = NativeBlock.Make((nuint)bytes, (nuint)alignment);
        return new SourceBuffer<T>(block.Address, length, block);
    }

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">The buffer was freed before, or is not of this source.</exception>
    [SuppressMessage("Naming", "CA1716:Identifiers should not match keywords", Justification = "The name of the base class's method.")]
    public override void Free(in SourceBuffer<T> buffer)
    {
        bool freed = buffer.Tag switch
        {
            NativeSlab slab => slab.Class.TryPut(slab, buffer.Address),
            NativeBlock block => block.TryFree(buffer.Address),
            _ => false,
        };
        if (!freed)
        {
            throw new InvalidOperationException(
                $"The buffer at 0x{buffer.Address:x} ({buffer.Length} elements) was freed before, or was not made by "
                    + $"NativeSource<{typeof(T).Name}>.");
        }
    }

    private static class Holder
    {
        internal static readonly NativeSource<T> Instance = new();
    }
}

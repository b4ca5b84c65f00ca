using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A private stock of buffers of one size class for a tight loop on one thread: the fastest way to rent. A ref struct, so it cannot leave
/// its thread; dispose it, and what it holds goes back to the pool.
/// </summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>
/// Leases from a handle are ordinary leases: they may be disposed as usual, on any thread, also after the handle; <see cref="Return"/> is
/// the fastest way. Their rentals appear in the pool's statistics when the handle is disposed. Cost: no allocation once the stock is warm.
/// </remarks>
public readonly ref struct ThreadHandle<T>
{
    private readonly Magazine _magazine;
    private readonly BufferPool<T>? _pool;

    internal ThreadHandle(Magazine magazine, BufferPool<T> pool, int maxLength)
    {
        _magazine = magazine;
        _pool = pool;
        MaxLength = maxLength;
    }

    /// <summary>The longest length that this handle serves, in elements.</summary>
    public int MaxLength { get; }

    /// <summary>Rents a buffer.</summary>
    /// <param name="length">Elements, 0 to <see cref="MaxLength"/>.</param>
    /// <returns>A lease of exactly that length.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is out of range.</exception>
    /// <exception cref="ObjectDisposedException">The handle was disposed, or is <c>default</c>.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public BufferLease<T> Rent(int length)
    {
        BufferSlot<T>? slot = null;
        if ((uint)length <= (uint)MaxLength && _magazine is not null)
        {
            slot = Unsafe.As<BufferSlot<T>>(_magazine.PopPrivate());
        }

        slot ??= RentSlow(length);
        return new BufferLease<T>(slot, slot.Begin(), length);
    }

    /// <summary>Returns a lease of this handle.</summary>
    /// <param name="lease">A lease; one from elsewhere is returned to where it came from.</param>
    /// <exception cref="PoolMisuseException">The rental had ended before (not with checks off).</exception>
    /// <exception cref="ObjectDisposedException">The lease is <c>default</c>.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Return(BufferLease<T> lease)
    {
        BufferSlot<T>? slot = lease.Slot;
        if (RuntimeHelpers.IsReferenceOrContainsReferences<T>()
            || slot is null || slot.Home != _magazine || !_magazine.TryReturnPrivate(slot, lease.Generation))
        {
            lease.Return();
        }
    }

    /// <summary>Gives the stock back to the pool. Leases that are out stay usable.</summary>
    public void Dispose() => _magazine?.Stock?.Dispose();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private BufferSlot<T> RentSlow(int length)
    {
        if (_pool is null || _magazine.IsDisposedHandle)
        {
            throw new ObjectDisposedException(
                $"ThreadHandle<{TypeName.Of<T>()}>",
                _pool is null
                    ? "This handle is default(ThreadHandle): no pool made it."
                    : "The handle was disposed and its stock returned. Ask the pool for another one.");
        }

        if ((uint)length > (uint)MaxLength)
        {
            throw new ArgumentOutOfRangeException(nameof(length), length, $"This handle serves 0 to {MaxLength} elements.");
        }

        return _pool.RefillHandle(_magazine);
    }
}

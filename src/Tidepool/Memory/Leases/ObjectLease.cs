using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>A rented object. Dispose or <see cref="Return"/> it once, on any thread; <c>using</c> does so at the closing brace.</summary>
/// <typeparam name="T">The kind of object.</typeparam>
/// <remarks>
/// <para>A lease is a small value: {slot, generation}. Copies are the same rental, and whichever copy is returned first retires all of
/// them: later uses throw, a later <see cref="Dispose"/> does nothing. This holds in Release builds and against racing threads: one
/// object never has two renters, and it is reset once. Detection is by a generation number of 31 bits that starts at random for each
/// object. A lease kept for exactly 2^31 rentals of its object is good again: in a loop that does nothing but rent, that takes less than
/// a minute. What a thread reads of a field that another one replaces is one of the two leases, or is refused but for odds of 1 in
/// 2^31.</para>
/// <para>Cost: no allocation; a return is one compare-and-swap and what resetting the object takes.</para>
/// <para>A reference to the object that was taken from <see cref="Value"/> cannot be revoked: do not use it after the return.</para>
/// </remarks>
[DebuggerDisplay("active: {IsActive}")]
public readonly struct ObjectLease<T> : IDisposable, IEquatable<ObjectLease<T>>
    where T : class
{
    // Every member reads each field once, by one load: another thread may be replacing the lease where it lies.
    private readonly ObjectSlot<T>? _slot;
    private readonly int _generation;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal ObjectLease(ObjectSlot<T> slot, int generation)
    {
        _slot = slot;
        _generation = generation;
    }

    /// <summary>Whether the rental is still out. False for <c>default</c>.</summary>
    public bool IsActive => _slot is { } slot && slot.IsActive(_generation);

    /// <summary>The rented object.</summary>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public T Value
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            ObjectSlot<T>? slot = _slot;
            if (slot is null || slot.State.Generation != _generation)
            {
                Refuse(slot);
            }

            return slot.Item;
        }
    }

    internal ObjectSlot<T>? Slot => _slot;

    internal int Generation => _generation;

    /// <summary>Whether two leases are copies of one rental.</summary>
    public static bool operator ==(ObjectLease<T> left, ObjectLease<T> right) => left.Equals(right);

    /// <summary>Whether two leases are different rentals.</summary>
    public static bool operator !=(ObjectLease<T> left, ObjectLease<T> right) => !left.Equals(right);

    /// <summary>Ends the rental: the object is reset and waits for its next renter.</summary>
    /// <exception cref="PoolMisuseException">The rental had ended before (not with checks off: then this is only counted).</exception>
    /// <exception cref="ObjectDisposedException">The lease is <c>default</c>.</exception>
    /// <remarks>What resetting the object throws goes to the caller; the rental has ended then, and the object was destroyed.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Return()
    {
        ObjectSlot<T>? slot = _slot;
        if (slot is null || !slot.TryReturn(_generation))
        {
            OnRetired(slot, MisuseKind.DoubleReturn);
        }
    }

    /// <summary>Ends the rental; does nothing when it has ended before (which is counted) or the lease is <c>default</c>.</summary>
    /// <remarks>What resetting the object throws goes to the caller; the rental has ended then, and the object was destroyed.</remarks>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Dispose()
    {
        ObjectSlot<T>? slot = _slot;
        if (slot is null || !slot.TryReturn(_generation))
        {
            OnRetired(slot, MisuseKind.StaleDispose);
        }
    }

    /// <summary>Ends the rental but keeps the object out of the pool for good: it is the caller's now, who also disposes it.</summary>
    /// <returns>The object, as it is.</returns>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    public T Detach()
    {
        ObjectSlot<T>? slot = _slot;
        if (slot is null || !slot.TryDetach(_generation))
        {
            Refuse(slot);
        }

        return slot.Item;
    }

    /// <inheritdoc/>
    public bool Equals(ObjectLease<T> other) => _slot == other._slot && _generation == other._generation;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is ObjectLease<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(_slot, _generation);

    // The slow exits take the fields and not the lease: its address would keep it out of registers in every caller.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void OnRetired(ObjectSlot<T>? slot, MisuseKind kind)
    {
        if (slot is null)
        {
            if (kind == MisuseKind.DoubleReturn)
            {
                Refuse(null);
            }
        }
        else
        {
            slot.OnRetired(kind);
        }
    }

    [DoesNotReturn]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Refuse([NotNull] ObjectSlot<T>? slot)
    {
        slot?.OnRetired(MisuseKind.UseAfterReturn);
        throw new ObjectDisposedException($"ObjectLease<{TypeName.Of<T>()}>", MisuseText.NeverRented(nameof(ObjectLease<T>)));
    }
}

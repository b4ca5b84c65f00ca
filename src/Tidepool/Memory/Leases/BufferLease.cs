using System.Buffers;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// A rented buffer of an exact length. Dispose or <see cref="Return"/> it once, on any thread; <c>using</c> does so at the closing brace.
/// </summary>
/// <typeparam name="T">The element type.</typeparam>
/// <remarks>
/// <para>A lease is a small value: {slot, generation, length}. Copies are the same rental, and whichever copy is returned first retires all
/// of them: later uses throw, a later <see cref="Dispose"/> does nothing. This holds in Release builds and against racing threads: one
/// buffer never has two renters. Detection is by a generation number of 31 bits that starts at random for each buffer. A lease kept for
/// exactly 2^31 rentals of its buffer is good again: in a loop that does nothing but rent, that takes less than a minute.</para>
/// <para>Generation and length are one word. So when a thread reads a field that another one replaces, it gets the one lease, the other,
/// or the slot of one with the word of the other, which is refused like a returned one but for odds of 1 in 2^31.</para>
/// <para>Cost: no allocation. A return on the renting thread uses no locked instruction; on another thread it is one compare-and-swap on
/// the buffer's slot, and one for several buffers on the inbox of the renting thread.</para>
/// <para>A <see cref="Span"/> or <see cref="Memory"/> taken earlier cannot be revoked: do not use it after the return.</para>
/// </remarks>
[DebuggerDisplay("{Length} elements, active: {IsActive}")]
public readonly struct BufferLease<T> : IDisposable, IEquatable<BufferLease<T>>
{
    // Every member reads each field once, by one load: another thread may be replacing the lease where it lies.
    private readonly BufferSlot<T>? _slot;
    private readonly ulong _rental;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal BufferLease(BufferSlot<T> slot, int generation, int length)
        : this(slot, RentalWord.Of(generation, length))
    {
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal BufferLease(BufferSlot<T> slot, ulong rental)
    {
        _slot = slot;
        _rental = rental;
    }

    /// <summary>The rented length in elements: exactly what was asked for.</summary>
    public int Length => RentalWord.LengthOf(_rental);

    /// <summary>Whether the rental is still out. False for <c>default</c>.</summary>
    public bool IsActive => _slot is { } slot && slot.IsActive(RentalWord.GenerationOf(_rental));

    /// <summary>The rented elements. Their content is whatever the last renter left, unless the pool clears.</summary>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public Span<T> Span
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            ulong rental = _rental;
            BufferSlot<T> slot = Leased(_slot, rental);
            return slot.First(RentalWord.LengthOf(rental));
        }
    }

    /// <summary>The rented elements as memory that may be stored and crossed with <c>await</c>.</summary>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    /// <remarks>
    /// Allocates nothing for buffers in arrays; for native buffers, and in full checks, one object that checks the lease each time its
    /// span is taken.
    /// </remarks>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public Memory<T> Memory
    {
        get
        {
            ulong rental = _rental;
            BufferSlot<T> slot = Leased(_slot, rental);
            return slot.IsPlain ? new Memory<T>(slot.Array, slot.Offset, RentalWord.LengthOf(rental)) : NewMemory(slot, rental);
        }
    }

    /// <summary>The rented elements as a segment of their array.</summary>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    /// <exception cref="NotSupportedException">The pool's buffers are native memory.</exception>
    [DebuggerBrowsable(DebuggerBrowsableState.Never)] // throws once the lease has ended
    public ArraySegment<T> Segment
    {
        get
        {
            ulong rental = _rental;
            BufferSlot<T> slot = Check(_slot, rental);
            return slot.Array is null
                ? throw new NotSupportedException("The buffers of this pool are native memory and no part of an array; use Span or Memory.")
                : new ArraySegment<T>(slot.Array, slot.Offset, RentalWord.LengthOf(rental));
        }
    }

    internal BufferSlot<T>? Slot => _slot;

    internal int Generation => RentalWord.GenerationOf(_rental);

    /// <summary>Generation and length of the rental.</summary>
    internal ulong Rental => _rental;

    /// <summary>Whether two leases are copies of one rental.</summary>
    public static bool operator ==(BufferLease<T> left, BufferLease<T> right) => left.Equals(right);

    /// <summary>Whether two leases are different rentals.</summary>
    public static bool operator !=(BufferLease<T> left, BufferLease<T> right) => !left.Equals(right);

    /// <summary>Ends the rental. Elements that hold references are cleared.</summary>
    /// <exception cref="PoolMisuseException">The rental had ended before (not with checks off: then this is only counted).</exception>
    /// <exception cref="ObjectDisposedException">The lease is <c>default</c>.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Return()
    {
        BufferSlot<T>? slot = _slot;
        ulong rental = _rental;
        if (!TryReturnFast(slot, rental))
        {
            End(slot, rental, MisuseKind.DoubleReturn);
        }
    }

    /// <summary>Ends the rental; does nothing when it has ended before (which is counted) or the lease is <c>default</c>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Dispose()
    {
        BufferSlot<T>? slot = _slot;
        ulong rental = _rental;
        if (!TryReturnFast(slot, rental))
        {
            End(slot, rental, MisuseKind.StaleDispose);
        }
    }

    /// <summary>
    /// Moves the rental to an <see cref="IMemoryOwner{T}"/>, which returns it when disposed. This lease and its copies are retired.
    /// </summary>
    /// <returns>The owner of the same elements.</returns>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    /// <exception cref="InvalidOperationException">The lease is of a <see cref="ThreadHandle{T}"/> that is not disposed, and this is
    /// another thread.</exception>
    /// <remarks>Allocates the owner. On a thread other than the renting one it takes about a microsecond.</remarks>
    public IMemoryOwner<T> ToOwner() => new PooledOwner<T>(Renew(), OwnerKind.Owner);

    /// <summary>
    /// Ends the rental but keeps the buffer out of the pool for good: it is the caller's now, and the garbage collector's after that.
    /// </summary>
    /// <returns>The rented elements.</returns>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    /// <exception cref="NotSupportedException">The pool's buffers are native memory; the lease is unchanged.</exception>
    /// <exception cref="InvalidOperationException">The lease is of a <see cref="ThreadHandle{T}"/> that is not disposed, and this is
    /// another thread.</exception>
    public ArraySegment<T> Detach()
    {
        ulong rental = _rental;
        return Check(_slot, rental).Detach(RentalWord.GenerationOf(rental), RentalWord.LengthOf(rental));
    }

    /// <inheritdoc/>
    public bool Equals(BufferLease<T> other) => _slot == other._slot && _rental == other._rental;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is BufferLease<T> other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(_slot, RentalWord.GenerationOf(_rental));

    /// <summary>Ends the rental on its home thread.</summary>
    /// <returns>False when the slow path must decide.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static unsafe bool TryReturnFast(BufferSlot<T>? slot, ulong rental)
    {
        if (slot is null)
        {
            return false;
        }

        Unsafe.SkipInit(out int here);
        Magazine home = slot.Home;
        if (!home.IsOwnedBy((nuint)(&here)))
        {
            return false;
        }

        int generation = RentalWord.GenerationOf(rental);
        return RuntimeHelpers.IsReferenceOrContainsReferences<T>()
            ? home.TryReturn(slot, generation, slot.ToClear(RentalWord.LengthOf(rental)))
            : home.TryReturn(slot, generation, default(NoClear));
    }

    /// <summary>Makes a lease of the same rental that shows less of it.</summary>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is longer than the lease.</exception>
    internal BufferLease<T> Shorten(int length)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)length, (uint)Length, nameof(length));
        return new BufferLease<T>(_slot!, Generation, length);
    }

    /// <summary>The slot of a lease that is out.</summary>
    /// <exception cref="ObjectDisposedException">The lease was returned, or is <c>default</c>.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static BufferSlot<T> Leased(BufferSlot<T>? slot, ulong rental) =>
        slot is null
        || ((slot.State.Generation ^ RentalWord.GenerationOf(rental)) | slot.State.Posted) != 0
        || (RentalWord.MayTear && (uint)RentalWord.LengthOf(rental) > (uint)slot.Capacity)
            ? Check(slot, rental)
            : slot;

    // The slow exits take the fields and not the lease: its address would keep it out of registers in every caller.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void End(BufferSlot<T>? slot, ulong rental, MisuseKind whenRetired)
    {
        if (slot is null)
        {
            if (whenRetired == MisuseKind.DoubleReturn)
            {
                Refuse(null);
            }
        }
        else if (!slot.Return(RentalWord.GenerationOf(rental), RentalWord.LengthOf(rental), null))
        {
            slot.OnRetired(whenRetired);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static BufferSlot<T> Check(BufferSlot<T>? slot, ulong rental)
    {
        bool isGood = slot is not null
            && slot.IsActive(RentalWord.GenerationOf(rental))
            && (uint)RentalWord.LengthOf(rental) <= (uint)slot.Capacity;
        return isGood ? slot! : Refuse(slot);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static Memory<T> NewMemory(BufferSlot<T> slot, ulong rental) =>
        new PooledOwner<T>(new BufferLease<T>(slot, rental), OwnerKind.View).Checked;

    private static BufferSlot<T> Refuse(BufferSlot<T>? slot)
    {
        slot?.OnRetired(MisuseKind.UseAfterReturn);
        throw new ObjectDisposedException($"BufferLease<{TypeName.Of<T>()}>", MisuseText.NeverRented(nameof(BufferLease<T>)));
    }

    private unsafe BufferLease<T> Renew()
    {
        ulong rental = _rental;
        BufferSlot<T> slot = Check(_slot, rental);
        Unsafe.SkipInit(out int here);
        if (!slot.Home.TryTakeBack(slot, RentalWord.GenerationOf(rental), (nuint)(&here)))
        {
            Refuse(slot);
        }

        return new BufferLease<T>(slot, slot.Begin(), RentalWord.LengthOf(rental));
    }
}

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// Retired memory owners on their way to reuse: first in, first out, and never fewer than <see cref="Delay"/> of them wait, so that a late
/// second Dispose of an owner meets a retired one and not a new renter. Used by one thread.
/// </summary>
internal sealed class OwnerRing
{
    /// <summary>One less than a power of two: see <see cref="_places"/>.</summary>
    internal const int Delay = 31;

    private const int MaxLength = 2048;

    // A power of two, so that counts become places by a mask. One place more than must wait: a thread that rents and returns one at a
    // time then puts each owner back where it lay, which the comparison in Put turns into no write at all. Taken owners stay in their
    // places until then; the ring dies with its magazine.
    private Place[] _places = new Place[Delay + 1];
    private int _taken; // both counts may wrap around
    private int _put;

    /// <summary>Lets an owner wait. Never throws, because slots that come home are settled while their magazine is busy.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void Put(object owner)
    {
        int put = _put;
        if (put - _taken == _places.Length && !TryGrow())
        {
            return; // more than a thread needs: the collector may have it
        }

        ref object? place = ref PlaceOf(put);
        if (place != owner)
        {
            place = owner;
        }

        _put = put + 1;
    }

    /// <summary>The owner that has waited longest, once enough others wait behind it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal object? TryTake()
    {
        int taken = _taken;
        if (_put - taken <= Delay)
        {
            return null;
        }

        _taken = taken + 1;
        return PlaceOf(taken);
    }

    /// <summary>A place, without a bounds check: the mask keeps the index within the array.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref object? PlaceOf(int count)
    {
        Place[] places = _places;
        return ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(places), (nint)(uint)(count & (places.Length - 1))).Owner;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryGrow()
    {
        Place[] shorter = _places;
        if (shorter.Length >= MaxLength)
        {
            return false;
        }

        Place[] longer;
        try
        {
            longer = new Place[shorter.Length * 2];
        }
        catch (OutOfMemoryException)
        {
            return false;
        }

        for (int i = _taken; i != _put; i++)
        {
            longer[i & (longer.Length - 1)] = shorter[i & (shorter.Length - 1)];
        }

        _places = longer;
        return true;
    }

    /// <summary>A struct around the reference spares the array's covariance check.</summary>
    private struct Place
    {
        internal object? Owner;
    }
}

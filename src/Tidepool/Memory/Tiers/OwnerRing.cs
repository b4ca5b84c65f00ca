namespace Tidepool;

/// <summary>
/// Retired memory owners on their way to reuse: first in, first out, and never fewer than <see cref="Delay"/> of them wait, so that a late
/// second Dispose of an owner meets a retired one and not a new renter. Used by one thread.
/// </summary>
internal sealed class OwnerRing
{
    internal const int Delay = 16;
    private const int MaxLength = 1024 + Delay;

    // One place more than must wait: a thread that rents and returns one at a time then puts each owner back where it lay, which the
    // comparison in Put turns into no write at all. Taken owners stay in their places until then; the ring dies with its magazine.
    private Place[] _places = new Place[Delay + 1];
    private int _first;
    private int _next;
    private int _count;

    /// <summary>Lets an owner wait. Never throws, because slots that come home are settled while their magazine is busy.</summary>
    internal void Put(object owner)
    {
        if (_count == _places.Length && !TryGrow())
        {
            return; // more than a thread needs: the collector may have it
        }

        ref Place place = ref _places[_next];
        if (place.Owner != owner)
        {
            place.Owner = owner;
        }

        _next = Following(_next);
        _count++;
    }

    /// <summary>The owner that has waited longest, once enough others wait behind it.</summary>
    internal object? TryTake()
    {
        if (_count <= Delay)
        {
            return null;
        }

        object? owner = _places[_first].Owner;
        _first = Following(_first);
        _count--;
        return owner;
    }

    private int Following(int index) => index + 1 == _places.Length ? 0 : index + 1;

    private bool TryGrow()
    {
        if (_places.Length >= MaxLength)
        {
            return false;
        }

        Place[] longer;
        try
        {
            longer = new Place[Math.Min(_places.Length * 2, MaxLength)];
        }
        catch (OutOfMemoryException)
        {
            return false;
        }

        for (int i = 0; i < _count; i++)
        {
            longer[i] = _places[(_first + i) % _places.Length];
        }

        _places = longer;
        _first = 0;
        _next = _count;
        return true;
    }

    /// <summary>A struct around the reference spares the array's covariance check.</summary>
    private struct Place
    {
        internal object? Owner;
    }
}

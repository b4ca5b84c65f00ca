namespace Tidepool;

/// <summary>
/// Retired memory owners on their way to reuse: first in, first out, and never fewer than <see cref="Delay"/> of them wait, so that a late
/// second Dispose of an owner meets a retired one and not a new renter. Used by one thread.
/// </summary>
internal sealed class OwnerRing
{
    internal const int Delay = 16;
    private const int MaxLength = 1024;

    private object?[] _places = new object?[2 * Delay];
    private int _first;
    private int _count;

    internal void Put(object owner)
    {
        if (_count == _places.Length && !TryGrow())
        {
            return; // more than a thread needs: the collector may have it
        }

        _places[(_first + _count) & (_places.Length - 1)] = owner;
        _count++;
    }

    /// <summary>The owner that has waited longest, once enough others wait behind it.</summary>
    internal object? TryTake()
    {
        if (_count <= Delay)
        {
            return null;
        }

        object? owner = _places[_first];
        _first = (_first + 1) & (_places.Length - 1);
        _count--;
        return owner;
    }

    private bool TryGrow()
    {
        if (_places.Length == MaxLength)
        {
            return false;
        }

        var longer = new object?[_places.Length * 2];
        for (int i = 0; i < _count; i++)
        {
            longer[i] = _places[(_first + i) & (_places.Length - 1)];
        }

        _places = longer;
        _first = 0;
        return true;
    }
}

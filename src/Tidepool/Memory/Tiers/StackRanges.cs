namespace Tidepool;

/// <summary>
/// Holds the stacks of the threads that are known by them. No two ranges overlap, so an address is on the stack of one thread at
/// most. Not thread-safe.
/// </summary>
internal sealed unsafe class StackRanges
{
    private readonly List<Range> _sorted = []; // by the lowest address; those of ended threads stay until they are removed or in the way

    /// <summary>The number of ranges, those of ended threads included.</summary>
    internal int Count => _sorted.Count;

    /// <summary>Enters a range and writes its lowest address to <paramref name="cell"/>, unless it overlaps with a live one.</summary>
    /// <returns>False when it does. Then none counts: <paramref name="cell"/> is not written, and the others are withdrawn.</returns>
    internal bool TryAdd(nuint* cell, nuint low, nuint size)
    {
        int end = FirstFrom(low + size);
        int start = end;
        bool isFree = true;
        while (start > 0 && _sorted[start - 1].Low + _sorted[start - 1].Size > low)
        {
            start--;
            isFree &= !TryWithdraw(_sorted[start]);
        }

        _sorted.RemoveRange(start, end - start);
        if (isFree)
        {
            _sorted.Insert(start, new Range(low, size, (nint)cell));
            Volatile.Write(ref *cell, low);
        }

        return isFree;
    }

    /// <summary>Removes the range of <paramref name="cell"/>, if it is still here.</summary>
    internal void Remove(nuint* cell, nuint low)
    {
        int index = FirstFrom(low);
        if (index < _sorted.Count && _sorted[index].Cell == (nint)cell)
        {
            _sorted.RemoveAt(index);
        }
    }

    /// <summary>Says in the range's cell that no address is its any more, unless the end of its thread has said so.</summary>
    private static bool TryWithdraw(Range range) =>
        Interlocked.CompareExchange(ref *(nuint*)range.Cell, StackIdentity.Withdrawn, range.Low) == range.Low;

    /// <summary>The index of the first range that begins at <paramref name="address"/> or above.</summary>
    private int FirstFrom(nuint address)
    {
        int low = 0, high = _sorted.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            (low, high) = _sorted[middle].Low < address ? (middle + 1, high) : (low, middle);
        }

        return low;
    }

    private readonly record struct Range(nuint Low, nuint Size, nint Cell);
}

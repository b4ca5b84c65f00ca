namespace Tidepool.Advice;

/// <summary>Which generation an address is in, by the ranges that one collection has written; the last word on a range holds.</summary>
internal sealed class GenerationMap
{
    private readonly SortedList<ulong, (ulong Bytes, int Generation)> _ranges = [];

    /// <summary>Says in which generation a range is.</summary>
    public void Set(ulong start, ulong bytes, int generation) => _ranges[start] = (bytes, generation);

    /// <summary>The generation of an address; null when no range holds it.</summary>
    public int? Find(ulong address)
    {
        int low = 0;
        int high = _ranges.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            (low, high) = _ranges.Keys[middle] <= address ? (middle + 1, high) : (low, middle);
        }

        return low > 0 && address - _ranges.Keys[low - 1] < _ranges.Values[low - 1].Bytes ? _ranges.Values[low - 1].Generation : null;
    }
}

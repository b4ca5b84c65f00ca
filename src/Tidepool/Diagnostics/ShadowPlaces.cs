using System.Numerics;

namespace Tidepool;

/// <summary>Counts how many misses further places would have served: for each number of places at once. Not thread-safe.</summary>
/// <remarks>
/// With <c>n</c> places, a dropped item is kept while fewer than <c>n</c> are, and a miss is served while one is. What <c>n</c> and
/// <c>n + 1</c> places hold never differs by more than one, so one bit for each place, set where it does, is the state of all of them. A
/// drop sets the lowest clear bit: every larger number keeps the item. A miss clears the lowest set bit: it is served by its place's number
/// and all above.
/// </remarks>
internal sealed class ShadowPlaces
{
    /// <summary>The largest number of places that is looked at.</summary>
    internal const int Most = 4096;

    private const int Steps = 13; // 1, 2, 4 ... 4096
    private const int WordBits = 64;

    private readonly ulong[] _differs = new ulong[Most / WordBits];
    private readonly long[] _served = new long[Steps];

    /// <summary>An item was dropped.</summary>
    internal void CountDropped()
    {
        for (int word = 0; word < _differs.Length; word++)
        {
            if (_differs[word] != ulong.MaxValue)
            {
                _differs[word] |= _differs[word] + 1; // sets the lowest clear bit
                return;
            }
        }
    }

    /// <summary>No idle item was there.</summary>
    internal void CountMissed()
    {
        for (int word = 0; word < _differs.Length; word++)
        {
            if (_differs[word] != 0)
            {
                int place = word * WordBits + BitOperations.TrailingZeroCount(_differs[word]);
                _differs[word] &= _differs[word] - 1; // clears the lowest set bit
                _served[BitOperations.Log2((uint)Math.Max(2 * place, 1))]++;
                return;
            }
        }
    }

    /// <summary>The misses that 1, 2, 4 ... 4096 further places would have served.</summary>
    internal long[] Served()
    {
        var sums = new long[Steps];
        long sum = 0;
        for (int step = 0; step < Steps; step++)
        {
            sums[step] = sum += _served[step];
        }

        return sums;
    }
}

using System.Numerics;

namespace Tidepool.Advice;

/// <summary>
/// Makes the table of size classes that wastes least among those that the native library can be built with. Its <c>tidepool-tune</c>
/// makes the same of the same requests. Pure.
/// </summary>
/// <remarks>
/// A table is some of the sizes that a class may have, every power of two among them. Going up the sizes, the least waste of k classes of
/// which j is the largest is the least over all i below j of that of k - 1 classes of which i is the largest, plus what requests between
/// i and j lose in j. Among tables that waste equally little, the one is taken that would waste least, relative to the size, if each
/// doubling of the size were asked for equally often: so sizes that were not seen find a class that is near.
/// </remarks>
internal static class NativeClasses
{
    /// <summary>The largest class, in bytes: what is larger has no class.</summary>
    public const int Largest = 32_768;

    /// <summary>The most classes of a table.</summary>
    public const int Most = 64;

    private const int Smallest = 16;
    private const int SmallLimit = 1024;
    private const int WideStep = 128;
    private const long PriorUnit = 1L << 40;

    /// <summary>The classes that every table has.</summary>
    public static IReadOnlyList<int> Powers { get; } = [.. Candidates().Where(BitOperations.IsPow2)];

    /// <summary>The smallest size that a class for so many bytes may have.</summary>
    public static int Align(long bytes)
    {
        int step = bytes <= SmallLimit ? Smallest : WideStep;
        return (int)((Math.Max(bytes, 1) + step - 1) / step * step);
    }

    /// <summary>The best table.</summary>
    /// <param name="requests">Sizes, of at most <see cref="Largest"/>, and how many times each was asked for.</param>
    /// <param name="limit">The most classes, from 12 to <see cref="Most"/>.</param>
    public static IReadOnlyList<int> Best(IEnumerable<(int Size, long Times)> requests, int limit = Most)
    {
        int[] sizes = [.. Candidates()];
        Sums[] sums = SumsUpTo(sizes, requests);
        var best = new Choice?[limit, sizes.Length]; // of k + 1 classes, of which sizes[j] is the largest
        best[0, 0] = new Choice(CostOf(default, sums[0], sizes[0]), 0);
        for (int k = 1; k < limit; k++)
        {
            for (int j = k; j < sizes.Length; j++)
            {
                best[k, j] = BestBelow(best, k - 1, j, sums, sizes);
            }
        }

        int last = sizes.Length - 1;
        int classes = Enumerable.Range(0, limit).Where(k => best[k, last] is not null)
            .Aggregate((least, k) => best[k, last]!.Value.Cost.CompareTo(best[least, last]!.Value.Cost) < 0 ? k : least);
        var table = new int[classes + 1];
        for (int k = classes, j = last; k >= 0; j = best[k, j]!.Value.Below, k--)
        {
            table[k] = sizes[j];
        }

        return table;
    }

    private static Choice? BestBelow(Choice?[,] best, int k, int j, Sums[] sums, int[] sizes)
    {
        Choice? found = null;
        for (int i = j - 1; i >= 0; i--)
        {
            if (best[k, i] is { } below)
            {
                Cost cost = below.Cost + CostOf(sums[i], sums[j], sizes[j]);
                found = found is null || cost.CompareTo(found.Value.Cost) < 0 ? new Choice(cost, i) : found;
            }

            if (BitOperations.IsPow2(sizes[i]))
            {
                break; // a power of two may not be passed over
            }
        }

        return found;
    }

    private static IEnumerable<int> Candidates()
    {
        for (int size = Smallest; size <= Largest; size += size < SmallLimit ? Smallest : WideStep)
        {
            yield return size;
        }
    }

    /// <summary>Sums over all sizes up to a candidate, so that the cost of two neighbours is one subtraction.</summary>
    private static Sums[] SumsUpTo(int[] sizes, IEnumerable<(int Size, long Times)> requests)
    {
        var times = new long[Largest / Smallest];
        foreach (var (size, count) in requests)
        {
            times[(Math.Max(size, 1) + Smallest - 1) / Smallest - 1] += count;
        }

        var sums = new Sums[sizes.Length];
        var sum = default(Sums);
        int at = 0;
        for (int j = 0; j < sizes.Length; j++)
        {
            for (; at < sizes[j] / Smallest; at++)
            {
                long size = (at + 1) * Smallest;
                long weight = PriorUnit / (size * size);
                sum = new Sums(sum.Times + times[at], sum.Bytes + times[at] * size, sum.Weight + weight, sum.Weighted + weight * size);
            }

            sums[j] = sum;
        }

        return sums;
    }

    private static Cost CostOf(Sums below, Sums here, long size) => new(
        (here.Times - below.Times) * size - (here.Bytes - below.Bytes),
        (here.Weight - below.Weight) * size - (here.Weighted - below.Weighted));

    private readonly record struct Sums(long Times, long Bytes, long Weight, long Weighted);

    private readonly record struct Choice(Cost Cost, int Below);

    /// <summary>Compared by waste first: the prior decides between equals only.</summary>
    private readonly record struct Cost(long Waste, long Prior) : IComparable<Cost>
    {
        public static Cost operator +(Cost one, Cost other) => new(one.Waste + other.Waste, one.Prior + other.Prior);

        public int CompareTo(Cost other) =>
            Waste.CompareTo(other.Waste) is not 0 and var byWaste ? byWaste : Prior.CompareTo(other.Prior);
    }
}

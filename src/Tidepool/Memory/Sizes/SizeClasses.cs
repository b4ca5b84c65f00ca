using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tidepool;

/// <summary>
/// The lengths that a pool keeps: a request is served by the smallest class that holds it. All lengths are in elements.
/// Immutable and thread-safe; look-ups allocate nothing.
/// </summary>
/// <remarks>
/// The geometric scheme with a fixed number of classes per octave is the one of jemalloc and Lea's dlmalloc: the class index is made of
/// the position of the highest bit and the few bits below it, so a look-up is a leading-zero count and a shift.
/// </remarks>
public sealed class SizeClasses
{
    /// <summary>The length of the smallest class of <see cref="Default"/> and <see cref="PowersOfTwo"/>, in elements.</summary>
    public const int SmallestLength = 16;

    /// <summary>Lengths up to this one are in the range of <see cref="FineIndexOf"/>, in elements.</summary>
    internal const int FineLimit = 1 << 20;

    /// <summary>The number of classes of <see cref="Default"/> up to <see cref="FineLimit"/>.</summary>
    internal const int FineCount = 65;

    private readonly int[] _lengths;
    private readonly Scheme _scheme;

    private SizeClasses(Scheme scheme, int[] lengths)
    {
        _scheme = scheme;
        _lengths = lengths;
    }

    private enum Scheme
    {
        Geometric,
        PowersOfTwo,
        Table,
    }

    /// <summary>
    /// Four classes per octave up to 2^20 elements, eight above: from 13 elements on at most a fifth of a buffer is unused, 8 % on
    /// average.
    /// </summary>
    public static SizeClasses Default { get; } = new(Scheme.Geometric, GeometricLengths());

    /// <summary>
    /// 16, 32, 64 ... 2^30 elements, the lengths of <see cref="System.Buffers.ArrayPool{T}"/>. For callers that rely on them; up to half
    /// of a buffer is unused, 28 % on average.
    /// </summary>
    public static SizeClasses PowersOfTwo { get; } = new(Scheme.PowersOfTwo, PowerLengths());

    /// <summary>The number of classes.</summary>
    public int Count => _lengths.Length;

    /// <summary>The longest length that has a class, in elements. Longer requests are allocated and never kept.</summary>
    public int MaxLength => _lengths[^1];

    internal bool IsDefault => _scheme == Scheme.Geometric;

    /// <summary>Makes classes of exactly the given lengths.</summary>
    /// <param name="lengths">The lengths in elements, each above 0 and above the one before it.</param>
    /// <exception cref="ArgumentException"><paramref name="lengths"/> is empty, not ascending, or has an entry below 1 or above
    /// <see cref="Array.MaxLength"/>.</exception>
    public static SizeClasses FromLengths(params ReadOnlySpan<int> lengths)
    {
        if (lengths.IsEmpty)
        {
            throw new ArgumentException("A table of size classes needs at least one length.", nameof(lengths));
        }

        int previous = 0;
        foreach (int length in lengths)
        {
            if (length <= previous || length > Array.MaxLength)
            {
                throw new ArgumentException(
                    $"Lengths must ascend from 1 to {Array.MaxLength}; {length} follows {previous}.", nameof(lengths));
            }

            previous = length;
        }

        return new SizeClasses(Scheme.Table, lengths.ToArray());
    }

    /// <summary>
    /// Makes the table of at most <paramref name="count"/> classes that wastes least for a recorded histogram of request lengths.
    /// </summary>
    /// <param name="histogram">Pairs of a requested length (elements, 1 to <see cref="Array.MaxLength"/>) and how often it was asked for
    /// (above 0).</param>
    /// <param name="count">The largest number of classes, 1 to 256.</param>
    /// <returns>A table whose largest class is the longest recorded length.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="histogram"/> is null.</exception>
    /// <exception cref="ArgumentException"><paramref name="histogram"/> is empty or has a length or a number out of range.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="count"/> is not 1 to 256.</exception>
    /// <remarks>
    /// Exact, by dynamic programming over at most 1024 distinct lengths (longer histograms are first rounded up to 1024 steps).
    /// </remarks>
    public static SizeClasses FromHistogram(IEnumerable<KeyValuePair<int, long>> histogram, int count) =>
        FromLengths(SizeClassTable.Make(histogram, count));

    /// <summary>The index of the smallest class that holds <paramref name="length"/> elements.</summary>
    /// <param name="length">Elements, 0 or more.</param>
    /// <returns>0 to <see cref="Count"/> - 1, or -1 when no class is long enough.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="length"/> is negative.</exception>
    public int IndexOf(int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        if (length > MaxLength)
        {
            return -1;
        }

        return _scheme switch
        {
            Scheme.Geometric => GeometricIndexOf(length),
            Scheme.PowersOfTwo => PowerIndexOf(Math.Max(length, 1)),
            _ => TableIndexOf(length),
        };
    }

    /// <summary>The length of the class <paramref name="index"/>, in elements.</summary>
    /// <param name="index">0 to <see cref="Count"/> - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="index"/> is out of range.</exception>
    public int LengthOf(int index)
    {
        if ((uint)index >= (uint)_lengths.Length)
        {
            throw new ArgumentOutOfRangeException(nameof(index), index, $"There are {Count} size classes: 0 to {Count - 1}.");
        }

        return _lengths[index];
    }

    /// <summary>The share of a buffer that is unused on average when lengths are drawn log-uniformly.</summary>
    /// <param name="shortest">The shortest length drawn, in elements, at least 1.</param>
    /// <param name="longest">The longest length drawn, in elements, at most <see cref="MaxLength"/>.</param>
    /// <returns>0 to 1: the sum of unused elements over the sum of rented ones, each length weighted by its probability and scaled by its
    /// length.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The range is empty or out of bounds.</exception>
    /// <remarks>
    /// Exact for the continuous distribution: for a class that serves (a, b] the mean of 1 - x/b is integrated in closed form.
    /// </remarks>
    public double AverageWaste(int shortest, int longest)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(shortest, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(longest, MaxLength);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(longest, shortest);
        double waste = 0;
        double from = shortest;
        for (int index = IndexOf(shortest); from < longest; index++)
        {
            double capacity = _lengths[index];
            double to = Math.Min(capacity, longest);
            waste += Math.Log(to / from) - ((to - from) / capacity);
            from = to;
        }

        return waste / Math.Log((double)longest / shortest);
    }

    /// <summary>
    /// The class of <see cref="Default"/> for 0 to <see cref="FineLimit"/> elements; negative and longer lengths give an index of at least
    /// <see cref="FineCount"/>, so that one bounds check of the caller rejects them all.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int FineIndexOf(int length)
    {
        uint last = Math.Max((uint)length, SmallestLength) - 1;
        int exponent = 31 ^ BitOperations.LeadingZeroCount(last);
        return (exponent << 2) + (int)(last >> (exponent - 2)) - 19;
    }

    /// <summary>The class of <see cref="PowersOfTwo"/> for 1 to 2^30 elements; 0, negative and longer lengths give 27 or 28.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static int PowerIndexOf(int length) =>
        28 - BitOperations.LeadingZeroCount((uint)(length - 1) | (SmallestLength - 1));

    private static int GeometricIndexOf(int length)
    {
        if (length <= FineLimit)
        {
            return FineIndexOf(length);
        }

        uint last = (uint)(length - 1);
        int exponent = 31 ^ BitOperations.LeadingZeroCount(last);
        return FineCount + ((exponent - 20) << 3) + (int)((last >> (exponent - 3)) & 7);
    }

    private static int[] GeometricLengths()
    {
        var lengths = new List<int> { SmallestLength };
        for (long octave = SmallestLength; octave < FineLimit; octave <<= 1)
        {
            for (int step = 5; step <= 8; step++)
            {
                lengths.Add((int)(octave * step / 4));
            }
        }

        for (long octave = FineLimit; octave < int.MaxValue; octave <<= 1)
        {
            for (int step = 9; step <= 16; step++)
            {
                lengths.Add((int)Math.Min(octave * step / 8, Array.MaxLength));
            }
        }

        return lengths.ToArray();
    }

    private static int[] PowerLengths()
    {
        var lengths = new int[27];
        for (int index = 0; index < lengths.Length; index++)
        {
            lengths[index] = SmallestLength << index;
        }

        return lengths;
    }

    private int TableIndexOf(int length)
    {
        int found = Array.BinarySearch(_lengths, length);
        return found >= 0 ? found : ~found;
    }
}

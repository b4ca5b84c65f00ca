using System.Numerics;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>The best table among those that the native library takes, found exactly.</summary>
public sealed class NativeClassesTests
{
    private static readonly int[] Candidates =
        [.. Enumerable.Range(1, 64).Select(static i => 16 * i), .. Enumerable.Range(9, 248).Select(static i => 128 * i)];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void No_other_table_of_as_many_classes_wastes_less(int seed)
    {
        var random = new Random(seed);
        (int Size, long Times)[] requests =
            [.. Enumerable.Range(0, 12).Select(_ => (random.Next(1, NativeClasses.Largest + 1), (long)random.Next(1, 1000)))];
        int[] powers = [.. NativeClasses.Powers];
        int[] others = [.. Candidates.Except(powers)];
        long least = long.MaxValue;
        for (int i = 0; i < others.Length; i++)
        {
            for (int j = i + 1; j < others.Length; j++)
            {
                least = Math.Min(least, WasteOf([.. powers, others[i], others[j]], requests));
            }
        }

        IReadOnlyList<int> best = NativeClasses.Best(requests, powers.Length + 2);
        AssertIsTable(best, powers.Length + 2);
        Assert.Equal(least, WasteOf([.. best], requests));
    }

    [Fact]
    public void A_table_without_a_choice_has_the_powers_of_two() =>
        Assert.Equal(NativeClasses.Powers, NativeClasses.Best([(4100, 1)], NativeClasses.Powers.Count));

    [Fact]
    public void Sizes_that_were_not_seen_find_a_class_that_is_near()
    {
        IReadOnlyList<int> best = NativeClasses.Best([(4100, 1)]);
        AssertIsTable(best, NativeClasses.Most);
        Assert.Contains(4224, best);
        Assert.All(
            Candidates.Where(static size => size > 128),
            size => Assert.InRange(best.First(one => one >= size) / (double)size, 1, 1.2));
    }

    [Theory]
    [InlineData(0, 16)]
    [InlineData(17, 32)]
    [InlineData(1024, 1024)]
    [InlineData(1025, 1152)]
    [InlineData(32_768, 32_768)]
    public void Sizes_are_aligned_as_the_library_asks(long bytes, int size) => Assert.Equal(size, NativeClasses.Align(bytes));

    private static void AssertIsTable(IReadOnlyList<int> table, int limit)
    {
        Assert.InRange(table.Count, NativeClasses.Powers.Count, limit);
        Assert.Equal(table.Order().Distinct(), table);
        Assert.All(table, static size => Assert.Contains(size, Candidates));
        Assert.Equal(12, table.Count(BitOperations.IsPow2));
    }

    /// <summary>As the library counts: a request is one of the next multiple of 16 bytes.</summary>
    private static long WasteOf(int[] table, (int Size, long Times)[] requests)
    {
        Array.Sort(table);
        return requests.Sum(request => request.Times * (table.First(size => size >= request.Size) - (request.Size + 15) / 16 * 16));
    }
}

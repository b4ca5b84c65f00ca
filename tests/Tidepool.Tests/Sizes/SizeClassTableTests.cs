using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Sizes;

public sealed class SizeClassTableTests(ITestOutputHelper output)
{
    [Fact]
    public void A_table_with_a_class_for_every_recorded_length_wastes_nothing()
    {
        SizeClasses classes = SizeClasses.FromHistogram([new(100, 5), new(17, 1), new(3000, 9)], 3);
        Assert.Equal([17, 100, 3000], Lengths(classes));
    }

    [Fact]
    public void More_classes_than_recorded_lengths_are_not_made()
    {
        SizeClasses classes = SizeClasses.FromHistogram([new(100, 5), new(200, 1)], 50);
        Assert.Equal([100, 200], Lengths(classes));
    }

    [Fact]
    public void One_class_is_the_longest_recorded_length()
    {
        SizeClasses classes = SizeClasses.FromHistogram([new(100, 5), new(200, 1), new(150, 100)], 1);
        Assert.Equal([200], Lengths(classes));
    }

    [Fact]
    public void The_same_length_recorded_twice_counts_as_one()
    {
        SizeClasses classes = SizeClasses.FromHistogram([new(10, 1), new(10, 1000), new(90, 2), new(100, 1)], 2);
        Assert.Equal([10, 100], Lengths(classes));
    }

    [Fact]
    public void The_table_is_the_best_of_all_tables_of_that_size()
    {
        Random random = Seeds.New(output);
        for (int round = 0; round < 200; round++)
        {
            int[] lengths = Enumerable.Range(0, random.Next(1, 9)).Select(_ => random.Next(1, 500)).Distinct().Order().ToArray();
            KeyValuePair<int, long>[] histogram = [.. lengths.Select(length => KeyValuePair.Create(length, (long)random.Next(1, 100)))];
            int count = random.Next(1, lengths.Length + 1);
            long made = Rented(histogram, Lengths(SizeClasses.FromHistogram(histogram, count)));
            long best = Tables(lengths, count).Min(table => Rented(histogram, table));
            Assert.Equal(best, made);
        }
    }

    [Fact]
    public void Thousands_of_distinct_lengths_still_give_a_table_that_holds_them_all()
    {
        KeyValuePair<int, long>[] histogram = [.. Enumerable.Range(1, 5000).Select(i => KeyValuePair.Create(i * 3, 1L))];
        SizeClasses classes = SizeClasses.FromHistogram(histogram, 32);
        Assert.InRange(classes.Count, 1, 32);
        Assert.Equal(15_000, classes.MaxLength);
        // Even spacing of 32 classes wastes 1/64 of the longest; the table must be near that.
        double waste = (Rented(histogram, Lengths(classes)) / (double)histogram.Sum(e => e.Key * e.Value)) - 1;
        Assert.InRange(waste, 0, 0.05);
    }

    [Fact]
    public void A_pool_rents_the_lengths_of_its_table()
    {
        SizeClasses classes = SizeClasses.FromHistogram([new(100, 5), new(3000, 9)], 2);
        using BufferPool<byte> pool = BufferPool<byte>.Create(new() { Name = "histogram", Sizes = classes });
        using (BufferLease<byte> lease = pool.Rent(101))
        {
            Assert.Equal(101, lease.Length);
            Assert.Equal(3000, lease.Segment.Array!.Length);
        }

        using BufferLease<byte> longer = pool.Rent(3001);
        Assert.Equal(3001, longer.Span.Length);
    }

    [Fact]
    public void A_histogram_without_lengths_or_with_a_wrong_one_is_refused()
    {
        Assert.Throws<ArgumentNullException>("histogram", () => SizeClasses.FromHistogram(null!, 3));
        Assert.Throws<ArgumentException>("histogram", () => SizeClasses.FromHistogram([], 3));
        Assert.Throws<ArgumentException>("histogram", () => SizeClasses.FromHistogram([new(0, 1)], 3));
        Assert.Throws<ArgumentException>("histogram", () => SizeClasses.FromHistogram([new(-1, 1)], 3));
        Assert.Throws<ArgumentException>("histogram", () => SizeClasses.FromHistogram([new(int.MaxValue, 1)], 3));
        Assert.Throws<ArgumentException>("histogram", () => SizeClasses.FromHistogram([new(10, 0)], 3));
        Assert.Throws<ArgumentOutOfRangeException>("count", () => SizeClasses.FromHistogram([new(10, 1)], 0));
        Assert.Throws<ArgumentOutOfRangeException>("count", () => SizeClasses.FromHistogram([new(10, 1)], 257));
    }

    private static int[] Lengths(SizeClasses classes) => [.. Enumerable.Range(0, classes.Count).Select(classes.LengthOf)];

    private static long Rented(IEnumerable<KeyValuePair<int, long>> histogram, int[] table) =>
        histogram.Sum(e => e.Value * table.First(length => length >= e.Key));

    /// <summary>Every choice of at most <paramref name="count"/> of the lengths that has the longest one.</summary>
    private static IEnumerable<int[]> Tables(int[] lengths, int count)
    {
        for (int mask = 0; mask < 1 << (lengths.Length - 1); mask++)
        {
            int[] table = [.. lengths.Where((_, i) => i == lengths.Length - 1 || (mask & (1 << i)) != 0)];
            if (table.Length <= count)
            {
                yield return table;
            }
        }
    }
}

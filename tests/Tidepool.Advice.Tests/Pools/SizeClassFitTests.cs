namespace Tidepool.Advice.Tests.Pools;

/// <summary>Size classes are suggested where they pay on requests that they were not made from.</summary>
public sealed class SizeClassFitTests
{
    [Fact]
    public void Classes_that_fit_the_requests_are_suggested()
    {
        SizeClassFit fit = SizeClassFit.Of(Requests(4000, static i => 4100 + 40 * (i % 5)))!;
        Assert.True(fit.IsWorthIt);
        Assert.Equal(2000, fit.HeldOut);
        Assert.InRange(fit.Gain.Value, 0.47, 0.49); // 4260 instead of 8192
        Assert.Contains(4260, fit.Lengths);
        Assert.InRange(fit.WasteNow, 0.48, 0.5);
        Assert.InRange(fit.Waste, 0.01, 0.03);
    }

    [Fact]
    public void Classes_that_fit_already_are_left() =>
        Assert.False(SizeClassFit.Of(Requests(4000, static i => 4000 + 48 * (i % 3)))!.IsWorthIt);

    [Fact]
    public void Requests_that_change_are_judged_by_the_later_ones()
    {
        // The earlier half asks for 4100, the later for lengths that only a table of powers of two serves as well.
        SizeClassFit fit = SizeClassFit.Of(Requests(4000, static i => i < 2000 ? 4100 : 8192))!;
        Assert.False(fit.IsWorthIt);
        Assert.Equal(0, fit.Gain.Value, 6);
    }

    [Fact]
    public void Few_requests_decide_nothing() => Assert.Null(SizeClassFit.Of(Requests(1999, static _ => 4100)));

    [Fact]
    public void Lengths_that_were_not_seen_still_find_a_class()
    {
        SizeClassFit fit = SizeClassFit.Of(Requests(4000, static _ => 4100))!;
        SizeClasses table = SizeClasses.FromLengths([.. fit.Lengths]);
        foreach (int length in (int[])[1, 100, 5000, 100_000, 1 << 20])
        {
            Assert.InRange(table.LengthOf(table.IndexOf(length)), length, Math.Max(16, 2 * length));
        }
    }

    [Fact]
    public void The_header_keeps_the_rules_of_the_native_library()
    {
        Assert.Null(ClassText.Native([40_000], 1));
        Assert.Null(ClassText.Native([100], 0));
        string header = ClassText.Native([.. Enumerable.Range(1, 200).Select(static i => i * 100)], 2)!;
        int end = header.IndexOf('}', StringComparison.Ordinal);
        string list = header[(header.LastIndexOf('{', end) + 1)..end];
        int[] sizes = [.. list.Split(',').Select(static size => int.Parse(size, System.Globalization.CultureInfo.InvariantCulture))];
        Assert.Equal(64, sizes.Length);
        Assert.Equal(sizes.Order().Distinct(), sizes);
        Assert.All(sizes, static size => Assert.Equal(0, size % (size <= 1024 ? 16 : 128)));
        Assert.Equal(12, sizes.Count(int.IsPow2));
        Assert.Equal((16, 32_768), (sizes[0], sizes[^1]));
    }

    [Fact]
    public void The_option_compiles_as_a_list_of_lengths() =>
        Assert.Equal("Sizes = SizeClasses.FromLengths(\n    16, 4260),", ClassText.CSharp([16, 4260]));

    private static (int, int)[] Requests(int count, Func<int, int> asked)
    {
        SizeClasses powers = SizeClasses.PowersOfTwo;
        return [.. Enumerable.Range(0, count).Select(asked).Select(length => (length, powers.LengthOf(powers.IndexOf(length))))];
    }
}

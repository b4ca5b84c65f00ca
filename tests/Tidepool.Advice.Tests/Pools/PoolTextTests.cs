namespace Tidepool.Advice.Tests.Pools;

public sealed class PoolTextTests
{
    [Fact]
    public void Pools_without_rentals_share_a_paragraph_after_the_others()
    {
        string text = TextOf(80, [Unused("Idle"), Pool("Busy", 5000, PoolVerdict.Keep), Unused("Spare")]);
        Assert.EndsWith("\n\nno rental in the window: Idle (Buffers), Spare (Buffers)", text.TrimEnd(), StringComparison.Ordinal);
        Assert.Contains("KEEP  Busy", text, StringComparison.Ordinal);
        Assert.DoesNotContain("NOT ENOUGH EVIDENCE", text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(5, nameof(PoolVerdict.NotEnoughEvidence))]
    [InlineData(0, nameof(PoolVerdict.Suspect))] // what was rented before has leaked
    public void A_pool_that_was_used_or_is_wrong_has_lines_of_its_own(double rentals, string verdict)
    {
        string text = TextOf(80, [Pool("Orders", rentals, Enum.Parse<PoolVerdict>(verdict))]);
        Assert.Contains("  Orders (Buffers), capacity", text, StringComparison.Ordinal);
        Assert.DoesNotContain("no rental in the window", text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(80)]
    [InlineData(40)]
    public void Many_unused_pools_do_not_hide_the_others(int width)
    {
        PoolAdvice[] unused = [.. Enumerable.Range(1, 30).Select(static number => Unused($"Spare-{number}"))];
        string text = TextOf(width, [.. unused, Pool("Busy", 5000, PoolVerdict.Keep)]);
        Assert.Contains("KEEP  Busy", text, StringComparison.Ordinal);
        string words = string.Join(' ', text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));
        Assert.EndsWith("and 22 more", words, StringComparison.Ordinal);
        Assert.All(text.Split('\n'), line => Assert.InRange(line.TrimEnd().Length, 0, width));
    }

    private static string TextOf(int width, PoolAdvice[] pools) =>
        PrintedText.Of(width, console => PoolText.Print(console, new PoolReport { Pools = pools }));

    private static PoolAdvice Unused(string name) => Pool(name, 0, PoolVerdict.NotEnoughEvidence);

    private static PoolAdvice Pool(string name, double rentals, PoolVerdict verdict) => new()
    {
        Name = name,
        Kind = "Buffers",
        RentedPerSecond = rentals,
        Findings = [PoolFinding.Capacity(verdict, "because.")],
    };
}

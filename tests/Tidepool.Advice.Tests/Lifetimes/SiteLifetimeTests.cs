using Spectre.Console;

namespace Tidepool.Advice.Tests.Lifetimes;

public sealed class SiteLifetimeTests
{
    private const int Runs = 2000;

    [Fact]
    public void Shares_are_of_what_a_collection_has_looked_at()
    {
        AllocationSample[] samples =
            [.. Many(Fate.DiedYoung, 60), .. Many(Fate.DiedLater, 10), .. Many(Fate.Kept, 30), .. Many(Fate.Unseen, 900)];
        SiteLifetime lifetime = SiteLifetime.Of(samples)!;
        Assert.Equal((100, 0.6, 0.3), (lifetime.Followed, Math.Round(lifetime.DieYoung.Value, 9), Math.Round(lifetime.Kept.Value, 9)));
        Assert.InRange(lifetime.DieYoung.Low, 0.45, 0.55);
        Assert.InRange(lifetime.DieYoung.High, 0.65, 0.75);
        Assert.Null(SiteLifetime.Of([.. Many(Fate.Unseen, 5)]));
    }

    [Fact]
    public void What_was_not_seen_to_the_end_may_be_kept_or_not()
    {
        SiteLifetime lifetime = SiteLifetime.Of([.. Many(Fate.DiedYoung, 50), .. Many(Fate.Undecided, 50)])!;
        Assert.Equal(0, lifetime.Kept.Low);
        Assert.True(lifetime.Kept.High > 0.5);
    }

    [Fact]
    public void When_all_have_one_fate_the_interval_still_has_a_width()
    {
        SiteLifetime lifetime = SiteLifetime.Of([.. Many(Fate.DiedYoung, 100)])!;
        Assert.Equal((1, 0), (lifetime.DieYoung.Value, lifetime.Kept.Low));
        Assert.InRange(lifetime.Kept.High, 0.01, 0.05);
    }

    /// <summary>Objects of one collection share their fate in part; the intervals must hold the truth all the same.</summary>
    [Theory]
    [InlineData(0.5, 1)]
    [InlineData(0.1, 1)]
    [InlineData(0.3, 8)]
    public void Intervals_hold_the_truth_of_simulated_sites(double truth, int together)
    {
        var random = new Random(1);
        int held = 0;
        for (int run = 0; run < Runs; run++)
        {
            List<SiteLifetime.Sighting> sightings = [];
            for (int collection = 0; collection < 240 / together; collection++)
            {
                bool has = random.NextDouble() < truth;
                sightings.AddRange(Enumerable.Repeat(new SiteLifetime.Sighting(1 + collection % 2, collection, has), together));
            }

            Interval interval = SiteLifetime.ShareOf(sightings);
            held += interval.Low <= truth && truth <= interval.High ? 1 : 0;
        }

        Assert.InRange(held, (int)(0.93 * Runs), (int)(0.995 * Runs));
    }

    [Theory]
    [InlineData(80)]
    [InlineData(120)]
    public void The_lines_of_lifetimes_fit_the_terminal(int width)
    {
        var window = new LifetimeWindow
        {
            Seconds = 30,
            Collections = 412,
            StreamBytes = 12_300_000,
            ProcessorsBefore = 1.01,
            ProcessorsWithin = 1.03,
            PausedBefore = 0.012,
            PausedWithin = 0.014,
        };
        SamplingResult followed = new() { Slices = [], Lifetimes = window };
        SiteLifetime lifetime = new()
        {
            Followed = 8123,
            DieYoung = new(0.961, 0.973, 0.981),
            Kept = new(0.001, 0.012, 0.018),
        };
        string[] lines =
        [
            .. LifetimeText.Lines(followed), .. LifetimeText.Lines(new SamplingResult { Slices = [] }), "  " + LifetimeText.Line(lifetime),
        ];
        Assert.Equal(lines, PrintedText.Of(width, console => Array.ForEach(lines, console.WriteLine)).TrimEnd().Split('\n'));
    }

    private static IEnumerable<AllocationSample> Many(Fate fate, int count) => Enumerable.Range(0, count).Select(
        i => new AllocationSample { Type = "System.Byte[]", Size = 4024, Stack = [], Lifetime = new Lifetime(fate, i) });
}

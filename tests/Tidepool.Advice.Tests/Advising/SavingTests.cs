using System.Text.Json;
using Tidepool.Advice.Tests.Comparing;

namespace Tidepool.Advice.Tests.Advising;

public sealed class SavingTests
{
    private const double Seconds = 2;
    private const double OneByOne = (4000 * 4024 + 1000 * 8024) * 1e-10 / Seconds;

    private static readonly AllocationSite Site = new()
    {
        Method = "Orders.Handle",
        Type = "System.Byte[]",
        Share = 0.5,
        BytesPerSecond = new Interval(9e6, 1e7, 1.1e7),
        Sizes = [(4024, 4000), (8024, 1000)],
    };

    private static readonly CollectorLoad NoCollections = new();

    /// <summary>The site has half of the small bytes, so half of the young collections.</summary>
    private static readonly CollectorLoad Collections = new() { Young = 0.01, Full = 0.5, SmallBytes = 2e7, LargeBytes = 1e7 };

    [Fact]
    public void All_bytes_of_the_site_are_saved_and_between_none_and_all_of_its_part_of_the_pauses()
    {
        Saving saving = Saving.Of(Site, Seconds, Collections with { Young = 0.001 }, new FixedCosts(1e-10));
        Assert.Equal(Site.BytesPerSecond, saving.BytesPerSecond);
        Interval processors = saving.Processors!.Value;
        double both = OneByOne + 0.0005;
        Assert.Equal(Math.Sqrt(OneByOne * both), processors.Value, 9);
        Assert.InRange(processors.Low, processors.Value / Math.Sqrt(Saving.Widest), OneByOne);
        Assert.InRange(processors.High, both, processors.Value * Math.Sqrt(Saving.Widest));
    }

    [Theory]
    [InlineData(0, 0.1)]
    [InlineData(0.01, 0.1)]
    [InlineData(0.1, 0.1)]
    [InlineData(1, 0.1)] // the pauses are many times what allocating costs
    [InlineData(0.01, 0.22)]
    public void The_interval_of_processor_time_is_no_wider_than_a_factor_of_three(double young, double error)
    {
        AllocationSite site = Site with { BytesPerSecond = new Interval(1e7 / (1 + error), 1e7, 1e7 * (1 + error)) };
        Interval processors = Saving.Of(site, Seconds, Collections with { Young = young }, new FixedCosts(1e-10)).Processors!.Value;
        Assert.InRange(processors.High / processors.Low, Saving.ModelFactor * Saving.ModelFactor, Saving.Widest + 1e-9);
    }

    [Fact]
    public void Fewer_samples_make_it_wider()
    {
        Interval Of(double error) => Saving.Of(
            Site with { BytesPerSecond = new Interval(1e7 / error, 1e7, 1e7 * error) }, Seconds, NoCollections, new FixedCosts(1e-10))
            .Processors!.Value;
        Assert.True(Of(1.01).High / Of(1.01).Low < Of(1.2).High / Of(1.2).Low);
        Assert.Equal(16, Of(4).High / Of(4).Low, 9); // the samples alone leave more than a factor of three
    }

    [Fact]
    public void An_end_of_the_samples_that_is_far_away_moves_that_end_alone()
    {
        Interval processors = Saving.Of(
            Site with { BytesPerSecond = new Interval(0, 1e7, 1.1e7) }, Seconds, NoCollections, new FixedCosts(1e-10)).Processors!.Value;
        Assert.Equal(0, processors.Low);
        Assert.InRange(processors.High / processors.Value, Saving.ModelFactor, Math.Sqrt(Saving.Widest));
    }

    [Fact]
    public void Where_pauses_are_many_times_what_allocating_costs_the_range_is_cut_around_the_middle()
    {
        Interval processors = Saving.Of(
            Site, Seconds, Collections with { Young = 32 * OneByOne }, new FixedCosts(1e-10)).Processors!.Value;
        double middle = 17 / Math.Sqrt(3) * OneByOne; // half of the young collections: sixteen times as much
        Assert.Equal(middle, processors.Value, 9);
        Assert.Equal(middle / Math.Sqrt(3), processors.Low, 9);
        Assert.Equal(middle * Math.Sqrt(3), processors.High, 9);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-2e-11)]
    [InlineData(-1e-10)]
    public void Where_a_pool_costs_as_much_or_more_the_collections_less_that_are_what_is_saved(double perByte)
    {
        Interval processors = Saving.Of(
            Site, Seconds, Collections with { Young = 0.04 }, new FixedCosts(perByte, error: 2e-11)).Processors!.Value;
        double work = 0.02 + OneByOne / 1e-10 * perByte;
        Assert.Equal(work / Saving.Widest, processors.Low, 9);
        Assert.Equal(work / Math.Sqrt(Saving.Widest), processors.Value, 9);
        Assert.Equal(work, processors.High, 9);
    }

    [Fact]
    public void A_cost_about_as_large_as_its_error_makes_no_step()
    {
        Interval Of(double perByte) => Saving.Of(
            Site, Seconds, Collections with { Young = 0.04 }, new FixedCosts(perByte, error: 2e-11)).Processors!.Value;
        Assert.Equal(Of(1.99e-11).Value, Of(2.01e-11).Value, 4);
        Assert.True(Of(0).Value < Of(2e-11).Value && Of(2e-11).Value < Of(1e-10).Value);
    }

    [Theory]
    [InlineData(5e-11, 1e-10, 0.001)] // the collections cost less than the costs may be off
    [InlineData(-1e-10, 1e-10, 0.004)]
    [InlineData(0, 0, 0)]
    [InlineData(-1e-9, 2e-11, 0.02)] // renting costs more than the collections
    [InlineData(-1e-12, 0, 0)]
    public void A_saving_that_is_less_than_the_error_of_the_costs_cannot_be_told(double perByte, double error, double young)
    {
        Saving saving = Saving.Of(Site, Seconds, Collections with { Young = young }, new FixedCosts(perByte, error));
        Assert.Equal(default(Interval), saving.Processors);
        Assert.Equal(
            "10 MB/s (9 MB to 11 MB) and no processor time that can be told", Saving.Text(saving, processors: 1));
    }

    [Theory]
    [InlineData(0, 0.005)]
    [InlineData(1, 0.5)]
    public void Full_collections_go_with_the_bytes_of_large_objects(double largeShare, double expected) =>
        Assert.Equal(expected, Collections.PartOf(Site with { LargeShare = largeShare }), 9);

    [Fact]
    public void A_pause_that_waited_for_a_processor_counts_as_others_of_its_kind()
    {
        CollectionPause[] pauses = [new(0.001, false), new(0.001, false), new(0.5, false), new(0.02, true)];
        var large = new AllocationSample { Type = "System.Byte[]", Size = 200_000, IsLarge = true, Stack = [] };
        CollectorLoad load = CollectorLoad.Of(
            [new SampleSlice { Seconds = Seconds, Samples = [large] }], new CollectionHistory { Seconds = 10 * Seconds, Pauses = pauses });
        Assert.Equal(0.0003 / Seconds, load.Young, 9);
        Assert.Equal(0.002 / Seconds, load.Full, 9);
        Assert.Equal(0, load.SmallBytes);
        Assert.Equal(AllocationEstimate.WeightOf(large) / Seconds, load.LargeBytes, 6);
    }

    [Theory]
    [InlineData("MemoryStream", 0.4, 1e-10 * 8024 * 1e7 * 0.8)]
    [InlineData("MemoryStream", 1, OneByOne * 0.5)]
    [InlineData(null, 0, OneByOne)]
    [InlineData(null, 1, OneByOne * 0.5)]
    public void Streams_are_compared_as_a_whole_and_arrays_one_by_one_which_may_cost_half_where_they_are_large(
        string? builder, double largeShare, double least)
    {
        AllocationSite site = Site with { Builder = builder, LargeShare = largeShare };
        double most = least / (1 - largeShare / 2);
        Assert.Equal(
            Math.Sqrt(least * most), Saving.Of(site, Seconds, NoCollections, new FixedCosts(1e-10)).Processors!.Value.Value, 9);
    }

    [Theory]
    [InlineData("System.Byte[]", false)]
    [InlineData("System.Object[]", true)]
    public void Only_what_may_hold_references_is_cleared(string type, bool expected)
    {
        var costs = new FixedCosts(1e-10);
        Saving.Of(Site with { Type = type }, Seconds, NoCollections, costs);
        Assert.Equal(expected, costs.HadReferences);
    }

    [Fact]
    public void Errors_of_samples_add_up_as_squares_and_those_of_costs_as_they_are()
    {
        var one = new Saving { BytesPerSecond = new Interval(70, 100, 140), Processors = new Interval(0.1, 0.2, 0.3) };
        Saving sum = Saving.Sum([one, one])!;
        Assert.Equal(200 - 30 * Math.Sqrt(2), sum.BytesPerSecond.Low, 9);
        Assert.Equal(200 + 40 * Math.Sqrt(2), sum.BytesPerSecond.High, 9);
        Assert.Equal(new Interval(0.2, 0.4, 0.6), sum.Processors);
        Assert.Null(Saving.Sum([one, one with { Processors = null }])!.Processors);
        Assert.Null(Saving.Sum([]));
    }

    [Theory]
    [InlineData(0.5, "100 kB/s (70 kB to 140 kB) and 20% to 60% of its processor time")]
    [InlineData(0.2, "100 kB/s (70 kB to 140 kB) and 50% to 100% of its processor time")]
    [InlineData(0.05, "100 kB/s (70 kB to 140 kB) and 100% to 100% of its processor time")]
    [InlineData(null, "100 kB/s (70 kB to 140 kB) and 10% to 30% of a processor")]
    public void A_time_is_a_range(double? processors, string expected) => Assert.Equal(
        expected,
        Saving.Text(
            new() { BytesPerSecond = new Interval(70_000, 100_000, 140_000), Processors = new Interval(0.1, 0.2, 0.3) }, processors));

    [Theory]
    [InlineData(4024, 4096)]
    [InlineData(5900, 8192)]
    [InlineData(84_999, 65_536)]
    [InlineData(85_000, 131_072)]
    [InlineData(1, 64)]
    [InlineData(1L << 40, 1 << 20)]
    public void A_size_is_measured_by_one_on_its_side_of_large_objects(long size, long expected) =>
        Assert.Equal(expected, PoolCosts.RepresentativeOf(size));

    [Fact]
    [Trait("Category", "Environment")]
    public void What_a_pool_saves_is_told_in_seconds()
    {
        // Other tests run meanwhile and count too: the limits are so wide that only a wrong unit exceeds them.
        var costs = new PoolCosts();
        SavedTime[] saved =
        [
            costs.SavedBy(1_000_000, hasReferences: false), costs.SavedBy(1_000_000, hasReferences: true),
            costs.SavedPerByte("MemoryStream", 65_536) * 1e5, costs.SavedPerByte("StringBuilder", 16_024) * 1e5,
            costs.SavedPerByte("ArrayBufferWriter", 65_536) * 1e5,
        ];
        Assert.All(saved, static one => Assert.InRange(Math.Abs(one.Seconds), 0, 1));
        Assert.All(saved, static one => Assert.InRange(one.Error, 1e-9, 1));
    }

    [Fact]
    [Trait("Category", "Environment")]
    public void When_the_time_to_measure_is_over_sizes_cost_what_the_nearest_of_their_heap_does()
    {
        var costs = new PoolCosts(TimeSpan.Zero);
        SavedTime small = costs.SavedBy(4096, hasReferences: false);
        Assert.Equal(8 * small.Error, costs.SavedBy(32_768, hasReferences: false).Error, 15);
        SavedTime large = costs.SavedBy(131_072, hasReferences: false); // measured: nothing of the large object heap was
        Assert.NotEqual(32 * small.Error, large.Error, 15);
        Assert.Equal(8 * large.Error, costs.SavedBy(1_048_576, hasReferences: false).Error, 15);
    }

    [Fact]
    public void The_report_sums_up_what_is_to_be_pooled_and_fits_the_schema()
    {
        AdviceReport report = MadeUpAdvice.Sampled();
        SiteAdvice advice = report.Sites[0];
        var saving = new Saving { BytesPerSecond = new Interval(70_000, 100_000, 140_000), Processors = new Interval(0.1, 0.2, 0.3) };
        report = report with
        {
            Sites = [advice with { Verdict = Verdict.Pool, Saving = saving }, advice with { Verdict = Verdict.DoNotPool, Saving = null }],
        };
        using JsonDocument json = JsonDocument.Parse(AdviceJson.Write(report));
        ReportSchema.AssertFits(json.RootElement, "advise.schema.json");
        Assert.Equal(0.3, json.RootElement.GetProperty("saving").GetProperty("processors").GetProperty("high").GetDouble());
        Assert.False(json.RootElement.GetProperty("sites")[1].TryGetProperty("saving", out _));
        Assert.Contains(
            "saves 100 kB/s (70 kB to 140 kB) and 10% to 30% of its processor time", AdvicePage.Write(report), StringComparison.Ordinal);
    }

    private sealed class FixedCosts(double perByte, double error = 0) : IPoolCosts
    {
        public bool HadReferences { get; private set; }

        public SavedTime SavedBy(long size, bool hasReferences)
        {
            HadReferences |= hasReferences;
            return new SavedTime(size * perByte, size * error);
        }

        public SavedTime SavedPerByte(string builder, long largest) =>
            new(perByte * largest, error * largest);
    }
}

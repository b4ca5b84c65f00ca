namespace Tidepool.Advice.Tests.Advising;

public sealed class AdvisorTests
{
    private const int Slices = 5;

    private static readonly AllocationSite Good = new()
    {
        Method = "Orders.Handle",
        Type = "System.Byte[]",
        Samples = 400,
        Slices = Slices,
        Share = 0.2,
        BytesPerSecond = new Interval(9e6, 1e7, 1.1e7),
        Sizes = [(4024, 90), (9024, 10)],
        MostSurviving = 0.02,
    };

    [Fact]
    public void Plain_arrays_that_die_young_are_pooled_with_their_sizes_and_the_code()
    {
        SiteAdvice advice = Judge(Good);
        Assert.Equal((Verdict.Pool, "buffers"), (advice.Verdict, advice.Kind));
        Assert.Equal([4096L, 9216L], advice.Classes);
        Assert.Equal("byte[] buffer = new byte[n];", advice.Before);
        Assert.Contains("BufferPool<byte>.Shared.Rent(n)", advice.After!, StringComparison.Ordinal);
    }

    [Fact]
    public void Arrays_on_the_large_object_heap_say_so() =>
        Assert.Contains("large object heap", Judge(Good with { LargeShare = 1, Sizes = [(120_024, 9)] }).Reason, StringComparison.Ordinal);

    [Fact]
    public void Large_arrays_of_references_are_cleared() => Assert.Contains(
        "clear: true", Judge(Good with { Type = "System.Object[]", Sizes = [(8024, 9)] }).After!, StringComparison.Ordinal);

    [Theory]
    [InlineData("MemoryStream", "streams")]
    [InlineData("StringBuilder", "objects")]
    [InlineData("ArrayBufferWriter", "writers")]
    public void What_streams_and_builders_allocate_has_a_pool_of_its_own(string builder, string kind) =>
        Assert.Equal((Verdict.Pool, kind), (Judge(Good with { Builder = builder }).Verdict, Judge(Good with { Builder = builder }).Kind));

    [Fact]
    public void A_writer_of_short_arrays_of_references_is_cheaper_than_a_pool() => Assert.Equal(
        Verdict.DoNotPool,
        Judge(Good with { Builder = "ArrayBufferWriter", Type = "Orders.Line[]", Sizes = [(2024, 100)] }).Verdict);

    [Fact]
    public void Too_few_samples_decide_nothing() => AssertUndecided(Good with { Samples = 29 }, "29 samples");

    [Fact]
    public void A_small_part_is_not_worth_a_change() =>
        AssertUndecided(Good with { Share = 0.01, BytesPerSecond = new Interval(1e6, 2e6, 3e6) }, "1%");

    [Fact]
    public void A_burst_is_not_advised() => AssertUndecided(Good with { Slices = 2 }, "burst");

    [Fact]
    public void What_may_be_kept_is_not_advised() => AssertUndecided(Good with { MostSurviving = 0.6 }, "60%");

    [Fact]
    public void Without_a_collection_nothing_is_known_of_lifetimes() =>
        AssertUndecided(Good with { MostSurviving = null }, "no collection");

    [Theory]
    [InlineData(0.98, 0.01, nameof(Verdict.Pool), "98% (97% to 99%) of the bytes die young")]
    [InlineData(0.1, 0.01, nameof(Verdict.Pool), "most outlive a collection")]
    [InlineData(0.05, 0.9, nameof(Verdict.DoNotPool), "90% (89% to 91%) of these bytes reach generation 2")]
    [InlineData(0.4, 0.495, nameof(Verdict.NotEnoughEvidence), "49.5% (48.5% to 50.5%)")]
    public void Lifetimes_that_were_followed_decide_instead_of_the_bound(double young, double kept, string verdict, string reason)
    {
        SiteAdvice advice = Judge(Good with { MostSurviving = 1, Lifetime = Lived(400, young, kept) });
        Assert.Equal(verdict, advice.Verdict.ToString());
        Assert.Contains(reason, advice.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void A_few_that_were_followed_decide_nothing() =>
        AssertUndecided(Good with { MostSurviving = 0.6, Lifetime = Lived(29, 0.98, 0.01) }, "60%");

    [Theory]
    [InlineData("System.String", 4024)]
    [InlineData("Orders.Message", 56)]
    [InlineData("System.Byte[]", 124)]
    [InlineData("System.Object[]", 184)]
    [InlineData("System.Func`1[System.Int32]", 64)]
    [InlineData("Orders.Program+<>c__DisplayClass3_0", 24)]
    public void Traps_are_refused_whatever_their_rate(string type, long size) =>
        Assert.Equal(Verdict.DoNotPool, Judge(Good with { Type = type, Sizes = [(size, 100)] }).Verdict);

    [Fact]
    public void A_miss_of_a_pool_is_no_case_for_another_pool() =>
        Assert.Equal(Verdict.DoNotPool, Judge(Good with { IsPoolMiss = true }).Verdict);

    [Fact]
    public void A_list_that_grows_needs_a_capacity() => Assert.Contains(
        "capacity", Judge(Good with { Builder = "List" }).Reason, StringComparison.Ordinal);

    [Fact]
    public void Quantiles_are_of_objects_not_of_samples()
    {
        AllocationSite site = Good with { Sizes = [(100, 70), (200, 20), (300, 10)] };
        Assert.Equal((100, 200, 300), (site.Quantile(0.5), site.Quantile(0.9), site.Quantile(1)));
    }

    private static SiteAdvice Judge(AllocationSite site) => Advisor.Judge(site, Slices, new AdviceLimits());

    private static SiteLifetime Lived(int followed, double young, double kept) => new()
    {
        Followed = followed,
        DieYoung = new Interval(young - 0.01, young, young + 0.01),
        Kept = new Interval(kept - 0.01, kept, kept + 0.01),
    };

    private static void AssertUndecided(AllocationSite site, string reason)
    {
        SiteAdvice advice = Judge(site);
        Assert.Equal(Verdict.NotEnoughEvidence, advice.Verdict);
        Assert.Contains(reason, advice.Reason, StringComparison.Ordinal);
    }
}

namespace Tidepool.Advice.Tests.Natives;

public sealed class NativeAdvisorTests
{
    private const int Slices = 5;
    private const double Window = 10;
    private const double PairSeconds = 1e-6;

    private static readonly AllocationSite Good = new()
    {
        Method = "demo::parse",
        Type = NativeFrame.Block,
        Samples = 400,
        Slices = Slices,
        Share = 0.2,
        BytesPerSecond = new Interval(9e6, 1e7, 1.1e7),
        ObjectsPerSecond = new Interval(45_000, 50_000, 55_000),
        Sizes = [(200, 100)],
        Lifetime = Lived(400, 0.98, 0.01),
    };

    [Fact]
    public void Blocks_of_one_size_get_a_pool_of_objects()
    {
        SiteAdvice advice = Judge(Good);
        Assert.Equal((Verdict.Pool, "objects"), (advice.Verdict, advice.Kind));
        Assert.Contains("blocks of one size, 200 bytes; 98% (97% to 99%) of", advice.Reason, StringComparison.Ordinal);
        Assert.Contains("are freed within 1 s", advice.Reason, StringComparison.Ordinal);
        Assert.Contains("malloc and free take 5% of a processor (1000 ns a pair)", advice.Reason, StringComparison.Ordinal);
        Assert.Equal("T* one = new T(...);", advice.Before);
        Assert.Contains("tp::pool<T>", advice.After!, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(100, 200, "blocks of several sizes;")]
    [InlineData(33_000, 33_000, "blocks of one size, 33000 bytes;")] // larger than a pool of objects takes
    public void Other_blocks_get_buffers(long one, long other, string reason)
    {
        SiteAdvice advice = Judge(Good with { Sizes = one == other ? [(one, 100)] : [(one, 50), (other, 50)] });
        Assert.StartsWith(reason, advice.Reason, StringComparison.Ordinal);
        Assert.Equal((Verdict.Pool, "buffers"), (advice.Verdict, advice.Kind));
        Assert.Contains("tp::rent<char>(n)", advice.After!, StringComparison.Ordinal);
    }

    [Fact]
    public void A_size_that_is_nearly_the_only_one_counts_as_one() =>
        Assert.Equal("objects", Judge(Good with { Sizes = [(100, 4), (200, 96)] }).Kind);

    [Theory]
    [InlineData("std::map", "std::pmr::map<...> nodes(&pool)")]
    [InlineData("std::unordered_multiset", "std::pmr::unordered_multiset<...> nodes(&pool)")]
    [InlineData("std::deque", "std::pmr::deque<...> nodes(&pool)")]
    public void Nodes_get_the_pool_of_the_standard_library(string type, string after)
    {
        SiteAdvice advice = Judge(Good with { Type = type });
        Assert.Equal((Verdict.Pool, "resource"), (advice.Verdict, advice.Kind));
        Assert.Contains(after, advice.After!, StringComparison.Ordinal);
    }

    [Fact]
    public void Nodes_that_another_thread_frees_get_a_resource_that_threads_share()
    {
        SiteAdvice advice = Judge(Good with { Type = "std::list", FreedElsewhere = new Interval(0.4, 0.5, 0.6) });
        Assert.Equal("std::pmr::list<...> nodes(tp::shared_resource());  // <tidepool/memory_resource.hpp>", advice.After);
        Assert.Contains("50% (40% to 60%) are freed by another thread", advice.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Objects_behind_a_shared_pointer_keep_it()
    {
        SiteAdvice advice = Judge(Good with { Type = "std::shared_ptr", Sizes = [(100, 50), (200, 50)] });
        Assert.Equal((Verdict.Pool, "objects"), (advice.Verdict, advice.Kind));
        Assert.Contains("std::allocate_shared<T>(tp::allocator<T>()", advice.After!, StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_freed_late_but_not_kept_is_pooled_too() => Assert.Contains(
        "they are freed again, 1% (0% to 2%) of the bytes are kept", Judge(Good with { Lifetime = Lived(400, 0.1, 0.01) }).Reason,
        StringComparison.Ordinal);

    [Theory]
    [InlineData("std::vector", "reserve")]
    [InlineData("std::string", "reserve")]
    [InlineData("std::function", "capture less")]
    public void What_grows_and_what_holds_captures_is_changed_in_another_way(string type, string reason) =>
        AssertNot(Good with { Type = type }, reason);

    [Fact]
    public void What_is_kept_is_not_pooled() =>
        AssertNot(Good with { Lifetime = Lived(400, 0.1, 0.8) }, "80% (79% to 81%) of these bytes live for 5 s and more");

    [Fact]
    public void What_costs_little_is_not_pooled() => AssertNot(
        Good with { ObjectsPerSecond = new Interval(900, 1000, 1100) },
        "0.1% of a processor at 1k a second (1000 ns a pair, measured here): a pool cannot save more");

    [Fact]
    public void A_cost_about_the_limit_decides_nothing() =>
        AssertUndecided(Good with { ObjectsPerSecond = new Interval(9000, 10_000, 11_000) }, "a pool pays from 1%. Watch for longer.");

    [Fact]
    public void Shares_kept_about_half_decide_nothing() =>
        AssertUndecided(Good with { Lifetime = Lived(400, 0.4, 0.495) }, "49.5% (48.5% to 50.5%) of these bytes live for 5 s");

    [Fact]
    public void Few_that_were_followed_decide_nothing()
    {
        AssertUndecided(Good with { Lifetime = Lived(29, 0.98, 0.01) }, "29 of them were followed for 1 s");
        AssertUndecided(Good with { Lifetime = null }, "0 of them were followed");
    }

    [Fact]
    public void Too_little_evidence_is_said_before_everything_else()
    {
        AssertUndecided(Good with { Samples = 29, Type = "std::vector" }, "29 samples");
        AssertUndecided(Good with { Share = 0.01, BytesPerSecond = new Interval(1e6, 2e6, 3e6) }, "1% of the bytes");
        AssertUndecided(Good with { Slices = 2 }, "a burst");
    }

    [Fact]
    public void A_type_decides_before_the_cost_and_a_lifetime_before_both()
    {
        AllocationSite rare = Good with { Type = "std::vector", ObjectsPerSecond = new Interval(900, 1000, 1100) };
        AssertNot(rare, "reserve");
        AssertNot(rare with { Lifetime = Lived(400, 0.1, 0.8) }, "kept");
    }

    private static SiteAdvice Judge(AllocationSite site) =>
        new NativeAdvisor(Slices, Window, static _ => PairSeconds, new AdviceLimits()).Judge(site);

    private static void AssertNot(AllocationSite site, string reason)
    {
        SiteAdvice advice = Judge(site);
        Assert.Equal(Verdict.DoNotPool, advice.Verdict);
        Assert.Contains(reason, advice.Reason, StringComparison.Ordinal);
        Assert.Null(advice.After);
    }

    private static void AssertUndecided(AllocationSite site, string reason)
    {
        SiteAdvice advice = Judge(site);
        Assert.Equal(Verdict.NotEnoughEvidence, advice.Verdict);
        Assert.Contains(reason, advice.Reason, StringComparison.Ordinal);
    }

    private static SiteLifetime Lived(int followed, double young, double kept) => new()
    {
        Followed = followed,
        DieYoung = new Interval(young - 0.01, young, young + 0.01),
        Kept = new Interval(kept - 0.01, kept, kept + 0.01),
    };
}

namespace Tidepool.Advice.Tests.Natives;

public sealed class NativeClassJudgeTests
{
    private const int Enough = 4000;

    [Fact]
    public void Classes_that_fit_better_are_suggested_as_a_header()
    {
        PoolAdvice advice = Judge(Blocks(static _ => 8200))!;
        Assert.Equal(("malloc", "native", PoolVerdict.Change), (advice.Name, advice.Kind, advice.Verdict));
        Assert.InRange(advice.Classes!.Gain.Value, 0.187, 0.188); // 8320 instead of 10240
        Assert.Equal(Enough / 2, advice.Classes.HeldOut);
        Assert.InRange(advice.RentedPerSecond, 5190, 5210); // 4000 samples of 10 s, each with a probability of 0.0769
        PoolFinding finding = Assert.Single(advice.Findings);
        Assert.Equal("size classes", finding.Subject);
        Assert.Contains("on 2000 sampled requests that it was not made from", finding.Reason, StringComparison.Ordinal);
        Assert.Contains("unused 19.9% now, 1.4% then", finding.Reason, StringComparison.Ordinal);
        Assert.Contains(" 8320,", finding.Native, StringComparison.Ordinal);
        Assert.Null(finding.After);
    }

    [Fact]
    public void Each_sample_counts_as_many_requests_as_it_stands_for()
    {
        // As many samples of each, but one of 8 bytes stands for 12,800 requests, and one of 8,200 bytes for 13.
        PoolAdvice advice = Judge(Blocks(static i => i % 2 == 0 ? 8200 : 8))!;
        double small = 16 / 8.0 * 102_400;
        double large = 10_240 / AllocationEstimate.ProbabilityOf(8200);
        Assert.Equal(1 - (small + large * 8320 / 10_240) / (small + large), advice.Classes!.Gain.Value, 3);
    }

    [Fact]
    public void What_the_blocks_hold_at_a_time_is_said_beside_what_is_handed_out()
    {
        // Half of the bytes fit badly and are freed at once; the memory of the process is in those that fit.
        PoolAdvice advice = Judge(MadeUpNative.Blocks(
            1, Enough, static i => i % 5 != 0 ? 8200 : 16_384, static i => i % 5 != 0 ? 0.0001 : 1))!;
        Assert.Equal(PoolVerdict.Change, advice.Verdict);
        Assert.InRange(advice.Classes!.Gain.Value, 0.14, 0.17);
        Assert.Contains("at a time its blocks hold 0", Assert.Single(advice.Findings).Reason, StringComparison.Ordinal);
        Assert.Contains(
            "at a time its blocks hold 18.8% less", Judge(Blocks(static _ => 8200))!.Findings[0].Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Classes_that_fit_already_are_kept_and_no_header_is_written()
    {
        PoolAdvice advice = Judge(Blocks(static i => 1024 << i % 4))!;
        PoolFinding finding = Assert.Single(advice.Findings);
        Assert.Equal(PoolVerdict.Keep, finding.Verdict);
        Assert.Contains("another table pays from 10%", finding.Reason, StringComparison.Ordinal);
        Assert.Null(finding.Native);
    }

    [Fact]
    public void A_program_that_asks_for_other_sizes_later_gets_no_table_for_the_earlier() =>
        Assert.Equal(PoolVerdict.Keep, Judge(Blocks(static i => i < Enough / 2 ? 8200 : 16_384))!.Verdict);

    [Fact]
    public void Without_enough_requests_of_the_classes_nothing_is_said()
    {
        Assert.Null(Judge(MadeUpNative.Blocks(1, 1999, static _ => 8200, static _ => null)));
        Assert.Null(Judge(Blocks(static _ => 40_000))); // larger than any class
        Assert.Null(Judge(Blocks(static i => i < 2100 ? 8200 : 40_000_000))); // next to nothing of the bytes
    }

    [Fact]
    public void A_log_with_lost_records_or_without_classes_says_nothing()
    {
        NativeRecording good = MadeUpNative.Recording(Blocks(static _ => 8200));
        Assert.Null(NativeClassJudge.Judge(good with { Log = good.Log with { Lost = 1000 } }, new AdviceLimits()));
        Assert.Null(NativeClassJudge.Judge(good with { Log = good.Log with { Classes = [] } }, new AdviceLimits()));
        Assert.Null(NativeClassJudge.Judge(good with { End = good.Log.Start }, new AdviceLimits()));
    }

    private static IEnumerable<LoggedBlock> Blocks(Func<int, long> size) => MadeUpNative.Blocks(1, Enough, size, static _ => null);

    private static PoolAdvice? Judge(IEnumerable<LoggedBlock> blocks) =>
        NativeClassJudge.Judge(MadeUpNative.Recording(blocks), new AdviceLimits());
}

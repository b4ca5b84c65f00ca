namespace Tidepool.Labs.Tests.Verdicts;

public class VerdictRuleTests
{
    [Theory]
    [InlineData(0.3, 0.4, 0.5, "PASS")]
    [InlineData(0.3, 0.5, 0.5, "PASS")]
    [InlineData(0.4, 0.6, 0.5, "UNCLEAR")]
    [InlineData(0.5, 0.6, 0.5, "UNCLEAR")]
    [InlineData(0.51, 0.6, 0.5, "FAIL")]
    public void An_interval_within_passes_beyond_fails_and_else_is_unclear(double low, double high, double limit, string expected) =>
        Assert.Equal(expected, Text(VerdictRule.Compare(low, high, limit)));

    [Fact]
    public void Of_several_comparisons_all_must_hold()
    {
        Assert.Equal("PASS", Text(VerdictRule.Combine([VerdictState.Pass, VerdictState.Pass])));
        Assert.Equal("UNCLEAR", Text(VerdictRule.Combine([VerdictState.Pass, VerdictState.Unclear])));
        Assert.Equal("FAIL", Text(VerdictRule.Combine([VerdictState.Unclear, VerdictState.Fail, VerdictState.Pass])));
        Assert.Equal("NOT RUN", Text(VerdictRule.Combine([VerdictState.Fail, VerdictState.NotRun])));
        Assert.Equal("NOT RUN", Text(VerdictRule.Combine([])));
    }

    [Fact]
    public void A_ratio_within_its_limit_passes()
    {
        var verdict = Judge(new RatioRule(FakeLab.FastBar, (FakeLab.Ours, FakeLab.Rival)), ours: 4, rival: 10);

        Assert.Equal(VerdictState.Pass, verdict.State);
        Assert.Equal(0.4, verdict.Value!.Value, 2);
    }

    [Fact]
    public void A_ratio_beyond_its_limit_fails()
    {
        var verdict = Judge(new RatioRule(FakeLab.FastBar, (FakeLab.Ours, FakeLab.Rival)), ours: 6, rival: 10);

        Assert.Equal(VerdictState.Fail, verdict.State);
    }

    /// <summary>Three processes whose ratios are 0.40, and 0.40 more or less <paramref name="half"/>.</summary>
    [Theory]
    [InlineData(0.01, 0.05, 0.43, "PASS")]
    [InlineData(0.05, 0.05, 0.47, "UNCLEAR")]
    [InlineData(0.05, null, 0.47, "PASS")]
    [InlineData(0.05, 0.05, 0.52, "PASS")]
    public void An_interval_that_ends_near_the_limit_and_is_wider_than_its_bar_allows_is_unclear(
        double half, double? width, double limit, string expected)
    {
        var results = new LabResults(seed: 1);
        foreach (var (process, ratio) in new[] { 0.4 - half, 0.4, 0.4 + half }.Index())
        {
            results.Add(FakeLab.Ours, process, 0, FakeLab.Samples(ratio * 10, 0));
            results.Add(FakeLab.Rival, process, 0, FakeLab.Samples(10, 0));
        }

        var rule = new RatioRule(FakeLab.FastBar with { Limit = limit, Width = width }, (FakeLab.Ours, FakeLab.Rival));

        Assert.Equal(expected, rule.Judge(results).StateText);
        Assert.Equal(expected == "UNCLEAR" ? [FakeLab.Ours, FakeLab.Rival] : [], rule.Undecided(results));
    }

    [Fact]
    public void The_limit_inside_the_interval_is_unclear_and_asks_for_more_rounds_of_both()
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(4, 0));
        results.Add(FakeLab.Ours, 1, 0, FakeLab.Samples(6, 0));
        results.Add(FakeLab.Rival, 0, 0, FakeLab.Samples(10, 0));
        results.Add(FakeLab.Rival, 1, 0, FakeLab.Samples(10, 0));
        var rule = new RatioRule(FakeLab.FastBar, (FakeLab.Ours, FakeLab.Rival));

        Assert.Equal(VerdictState.Unclear, rule.Judge(results).State);
        Assert.Equal([FakeLab.Ours, FakeLab.Rival], rule.Undecided(results));
    }

    [Fact]
    public void A_decided_ratio_asks_for_no_more_rounds()
    {
        var rule = new RatioRule(FakeLab.FastBar, (FakeLab.Ours, FakeLab.Rival));
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(4, 0));
        results.Add(FakeLab.Rival, 0, 0, FakeLab.Samples(10, 0));

        Assert.Empty(rule.Undecided(results));
    }

    [Fact]
    public void A_missing_rival_is_not_run_and_never_passed()
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(4, 0));

        var verdict = new RatioRule(FakeLab.FastBar, (FakeLab.Ours, FakeLab.Absent)).Judge(results);

        Assert.Equal(VerdictState.NotRun, verdict.State);
        Assert.Null(verdict.Value);
        Assert.Contains("Absent<T>", verdict.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0, "PASS")]
    [InlineData(0.001, "FAIL")]
    public void A_count_is_exact(double bytes, string expected)
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(4, bytes));

        Assert.Equal(expected, new BytesRule(FakeLab.BytesBar, FakeLab.Ours).Judge(results).StateText);
    }

    [Theory]
    [InlineData(0.5, "PASS")]
    [InlineData(0.6, "FAIL")]
    public void The_least_time_of_all_rounds_is_compared(double least, string expected)
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(4, 0));
        results.Add(FakeLab.Ours, 1, 0, FakeLab.Samples(least, 0));

        Assert.Equal(expected, new LeastTimeRule(FakeLab.FastBar, FakeLab.Ours).Judge(results).StateText);
    }

    [Theory]
    [InlineData(10, "PASS")]
    [InlineData(10.1, "FAIL")]
    public void A_metric_is_exact(double percent, string expected)
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Held, new Dictionary<string, double> { ["held_percent"] = percent });

        Assert.Equal(expected, new MetricRule(FakeLab.HeldBar, "held_percent", FakeLab.Held).Judge(results).StateText);
    }

    [Fact]
    public void A_metric_that_was_not_measured_is_not_run() =>
        Assert.Equal("NOT RUN", new MetricRule(FakeLab.HeldBar, "held_percent", FakeLab.Held).Judge(new LabResults(1)).StateText);

    [Theory]
    [InlineData("Count", "Quick", false, 1)]
    [InlineData("Ratio", "Quick", false, 0)]
    [InlineData("Ratio", "Quick", true, 1)]
    [InlineData("Ratio", "Full", false, 1)]
    public void A_failed_count_always_fails_the_run_and_a_failed_ratio_only_when_asked(string kind, string mode, bool strict, int expected)
    {
        var bar = FakeLab.FastBar with { Kind = Enum.Parse<BarKind>(kind) };
        var verdict = new Verdict(bar, VerdictState.Fail, 1, "");

        Assert.Equal(expected, ExitRule.Of([verdict], Enum.Parse<LabMode>(mode), strict));
        Assert.Equal(
            0,
            ExitRule.Of(
                [verdict with { State = VerdictState.Unclear }, verdict with { State = VerdictState.NotRun }],
                LabMode.Full,
                strict: true));
    }

    /// <summary>The rival takes 10 ns on one thread and 5 on two. Ours takes 8 on one.</summary>
    [Theory]
    [InlineData(2, "PASS")]
    [InlineData(4, "UNCLEAR")]
    [InlineData(6, "FAIL")]
    public void Scaling_is_compared_with_that_of_another_subject(double onTwo, string expected)
    {
        WorkloadKey ours2 = new(Cell.Of(("threads", 2)), FakeLab.Ours.Subject);
        WorkloadKey rival2 = new(Cell.Of(("threads", 2)), FakeLab.Rival.Subject);
        var rule = new ScalingRule(FakeLab.FastBar with { Limit = 1 }, ((ours2, FakeLab.Ours), (rival2, FakeLab.Rival)));
        var results = new LabResults(seed: 1);
        Assert.Equal("NOT RUN", rule.Judge(results).StateText);
        for (int process = 0; process < 3; process++)
        {
            double more = process - 1; // one process slower and one faster than the third
            results.Add(FakeLab.Ours, process, 0, FakeLab.Samples(8, 0));
            results.Add(FakeLab.Rival, process, 0, FakeLab.Samples(10, 0));
            results.Add(ours2, process, 0, FakeLab.Samples(onTwo + (0.1 * more), 0));
            results.Add(rival2, process, 0, FakeLab.Samples(5, 0));
        }

        var verdict = rule.Judge(results);

        Assert.Equal(expected, verdict.StateText);
        Assert.Equal(onTwo / 8 * 10 / 5, verdict.Value!.Value, 1);
        Assert.Equal(expected == "UNCLEAR" ? 4 : 0, rule.Undecided(results).Count());
    }

    private static Verdict Judge(VerdictRule rule, double ours, double rival)
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(ours, 0));
        results.Add(FakeLab.Rival, 0, 0, FakeLab.Samples(rival, 0));
        return rule.Judge(results);
    }

    private static string Text(VerdictState state) => new Verdict(FakeLab.FastBar, state, null, "").StateText;
}

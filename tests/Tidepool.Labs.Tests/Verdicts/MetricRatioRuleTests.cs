namespace Tidepool.Labs.Tests.Verdicts;

public class MetricRatioRuleTests
{
    private const string Metric = "time_ns";

    private static readonly Bar Bar = new("fake.metric", "fake", "ours is at most half", BarKind.Ratio, 0.5);
    private static readonly WorkloadKey Ours = new(Cell.Of(("cell", "a")), "ours");
    private static readonly WorkloadKey Other = new(Cell.Of(("cell", "b")), "other");
    private static readonly WorkloadKey Slow = new(Cell.Of(("cell", "b")), "slow");

    [Theory]
    [InlineData(5, "PASS")]
    [InlineData(5.1, "FAIL")]
    public void The_ratio_of_a_metric_passes_within_the_limit(double ours, string expected)
    {
        var verdict = new MetricRatioRule(Bar, Metric, (Ours, Other)).Judge(Results((Ours, ours), (Other, 10)));

        Assert.Equal(expected, verdict.StateText);
        Assert.Equal(ours / 10, verdict.Value!.Value, 9);
    }

    [Fact]
    public void Of_several_pairs_all_must_hold_and_the_worst_is_shown()
    {
        var verdict = new MetricRatioRule(Bar, Metric, (Ours, Slow), (Ours, Other)).Judge(Results((Ours, 6), (Slow, 60), (Other, 10)));

        Assert.Equal(VerdictState.Fail, verdict.State);
        Assert.Equal(0.6, verdict.Value!.Value, 9);
        Assert.Contains("worst of 2: ours, a / other, b", verdict.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0, 0, 0, "PASS")]
    [InlineData(0, 10, 0, "PASS")]
    [InlineData(1, 0, double.PositiveInfinity, "FAIL")]
    public void Nothing_is_no_more_than_nothing_and_anything_is_more(double ours, double other, double value, string expected)
    {
        var verdict = new MetricRatioRule(Bar, Metric, (Ours, Other), (Ours, Slow))
            .Judge(Results((Ours, ours), (Other, other), (Slow, 100)));

        Assert.Equal(expected, verdict.StateText);
        Assert.Equal(value, verdict.Value!.Value);
    }

    [Fact]
    public void A_missing_row_is_not_run()
    {
        var verdict = new MetricRatioRule(Bar, Metric, (Ours, Other)).Judge(Results((Ours, 1)));

        Assert.Equal(VerdictState.NotRun, verdict.State);
        Assert.Contains("other", verdict.Detail, StringComparison.Ordinal);
    }

    private static LabResults Results(params (WorkloadKey Key, double Value)[] rows)
    {
        var results = new LabResults(seed: 1);
        foreach (var (key, value) in rows)
        {
            results.Add(key, new Dictionary<string, double> { [Metric] = value });
        }

        return results;
    }
}

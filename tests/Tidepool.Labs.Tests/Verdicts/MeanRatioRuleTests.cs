namespace Tidepool.Labs.Tests.Verdicts;

public class MeanRatioRuleTests
{
    private static readonly Bar Bar = new("fake.mean", "fake", "ours is at most half", BarKind.Ratio, 0.5);
    private static readonly Cell A = Cell.Of(("cell", "a"));
    private static readonly Cell B = Cell.Of(("cell", "b"));
    private static readonly Cell C = Cell.Of(("cell", "c"));

    [Fact]
    public void Each_group_has_the_same_weight_however_many_cells_it_has()
    {
        // Ratios 0.1 and 0.1 in one group, 0.4 in the other: 0.2 by groups, 0.16 by cells.
        var results = Results(("ours", A, 1), ("rival", A, 10), ("ours", B, 1), ("rival", B, 10), ("ours", C, 4), ("rival", C, 10));

        Assert.Equal(0.2, results.MeanRatio([new("ab", [A, B]), new("c", [C])], "ours", "rival")!.Value.Value, 3);
        Assert.Equal(0.1587, results.MeanRatio([new("abc", [A, B, C])], "ours", "rival")!.Value.Value, 3);
    }

    [Fact]
    public void The_interval_holds_the_value_and_is_the_same_for_the_same_seed()
    {
        var results = new LabResults(seed: 3);
        for (int process = 0; process < 3; process++)
        {
            results.Add(new(A, "ours"), process, 0, FakeLab.Samples(4 + process, 0));
            results.Add(new(A, "rival"), process, 0, FakeLab.Samples(10, 0));
        }

        var ratio = results.MeanRatio([new("a", [A])], "ours", "rival")!.Value;

        Assert.InRange(ratio.Value, ratio.Low, ratio.High);
        Assert.InRange(ratio.Low, 0.39, 0.45);
        Assert.InRange(ratio.High, 0.55, 0.61);
        Assert.Equal(
            ratio,
            PairedRatio.EstimateMean([[(results.Samples(new(A, "ours"))!.Nanoseconds, results.Samples(new(A, "rival"))!.Nanoseconds)]], 3));
    }

    [Fact]
    public void A_mean_of_one_cell_is_its_paired_ratio()
    {
        var results = Results(("ours", A, 4), ("rival", A, 10));

        Assert.Equal(
            results.Ratio(new(A, "ours"), new(A, "rival"))!.Value.Value,
            results.MeanRatio([new("a", [A])], "ours", "rival")!.Value.Value,
            12);
    }

    [Fact]
    public void All_rivals_must_hold_and_the_worst_is_shown()
    {
        var results = Results(("ours", A, 4), ("slow", A, 40), ("fast", A, 5));
        var verdict = new MeanRatioRule(Bar, [new("a", [A])], "ours", ["slow", "fast"]).Judge(results);

        Assert.Equal(VerdictState.Fail, verdict.State);
        Assert.Equal(0.8, verdict.Value!.Value, 2);
        Assert.Contains("worst of 2: ours / fast", verdict.Detail, StringComparison.Ordinal);
        Assert.Equal(VerdictState.Pass, new MeanRatioRule(Bar, [new("a", [A])], "ours", ["slow"]).Judge(results).State);
    }

    [Fact]
    public void A_missing_rival_or_cell_is_not_run()
    {
        var results = Results(("ours", A, 4), ("rival", A, 40), ("ours", B, 4));

        Assert.Equal(VerdictState.NotRun, new MeanRatioRule(Bar, [new("a", [A])], "ours", ["rival", "absent"]).Judge(results).State);
        var verdict = new MeanRatioRule(Bar, [new("ab", [A, B])], "ours", ["rival"]).Judge(results);
        Assert.Equal(VerdictState.NotRun, verdict.State);
        Assert.Contains("rival", verdict.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public void An_unclear_rival_asks_for_more_rounds_of_its_cells_only()
    {
        var results = Results(("ours", A, 5), ("clear", A, 40));
        results.Add(new(A, "unclear"), 0, 0, FakeLab.Samples(9, 0));
        results.Add(new(A, "ours"), 1, 0, FakeLab.Samples(5, 0));
        results.Add(new(A, "unclear"), 1, 0, FakeLab.Samples(12, 0));
        results.Add(new(A, "clear"), 1, 0, FakeLab.Samples(40, 0));
        var rule = new MeanRatioRule(Bar, [new("a", [A])], "ours", ["clear", "unclear"]);

        Assert.Equal(VerdictState.Unclear, rule.Judge(results).State);
        Assert.Equal([new(A, "ours"), new(A, "unclear")], rule.Undecided(results));
    }

    [Fact]
    public void A_bar_that_a_run_omits_says_why() =>
        Assert.Equal(
            new Verdict(Bar, VerdictState.NotRun, null, "runs too long: --full"),
            new OmittedRule(Bar, "runs too long: --full").Judge(new LabResults(1)));

    private static LabResults Results(params (string Subject, Cell Cell, double Nanoseconds)[] rows)
    {
        var results = new LabResults(seed: 1);
        foreach (var (subject, cell, nanoseconds) in rows)
        {
            results.Add(new(cell, subject), 0, 0, FakeLab.Samples(nanoseconds, 0).Select(_ => (Sample?)Sample.OfTime(nanoseconds)));
        }

        return results;
    }
}

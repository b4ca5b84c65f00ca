namespace Tidepool.Labs.Tests.Verdicts;

public class AboveWorstRuleTests
{
    private const string Metric = "resident_ratio";

    private static readonly Bar Bar = new("fake.metric", "fake", "ours is at most 0.5 above the worst", BarKind.Count, 0.5);

    [Theory]
    [InlineData(2.5, "PASS")]
    [InlineData(2.6, "FAIL")]
    public void Ours_may_be_above_the_highest_rival_by_the_limit(double ours, string expected)
    {
        var verdict = new AboveWorstRule(Bar, Metric, Cell("a")).Judge(Results(("a", "ours", ours), ("a", "low", 1), ("a", "high", 2)));

        Assert.Equal(expected, verdict.StateText);
        Assert.Equal(ours - 2, verdict.Value!.Value, 9);
    }

    [Fact]
    public void A_rival_that_is_high_in_one_cell_excuses_nothing_in_another()
    {
        var verdict = new AboveWorstRule(Bar, Metric, Cell("a"), Cell("b")).Judge(Results(
            ("a", "ours", 3), ("a", "low", 1), ("a", "high", 9), ("b", "ours", 3), ("b", "low", 1), ("b", "high", 2)));

        Assert.Equal(VerdictState.Fail, verdict.State);
        Assert.Equal(1, verdict.Value!.Value, 9);
        Assert.Contains("2.00 of high, b; worst of 2", verdict.Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("ours")]
    [InlineData("low")]
    public void A_missing_row_is_not_run(string missing)
    {
        (string Cell, string Subject, double Value)[] rows = [("a", "ours", 1), ("a", "low", 1), ("a", "high", 2)];

        var verdict = new AboveWorstRule(Bar, Metric, Cell("a")).Judge(Results([.. rows.Where(row => row.Subject != missing)]));

        Assert.Equal(VerdictState.NotRun, verdict.State);
        Assert.Contains(missing, verdict.Detail, StringComparison.Ordinal);
    }

    private static (WorkloadKey Ours, IReadOnlyList<WorkloadKey> Rivals) Cell(string name) =>
        (Key(name, "ours"), [Key(name, "low"), Key(name, "high")]);

    private static WorkloadKey Key(string cell, string subject) => new(Labs.Cell.Of(("cell", cell)), subject);

    private static LabResults Results(params (string Cell, string Subject, double Value)[] rows)
    {
        var results = new LabResults(seed: 1);
        foreach (var (cell, subject, value) in rows)
        {
            results.Add(Key(cell, subject), new Dictionary<string, double> { [Metric] = value });
        }

        return results;
    }
}

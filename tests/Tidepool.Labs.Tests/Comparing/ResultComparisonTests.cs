using System.Text.Json.Nodes;

namespace Tidepool.Labs.Tests.Comparing;

public class ResultComparisonTests
{
    [Theory]
    [InlineData(0.80, 0.80, "NoDifference")]
    [InlineData(0.80, 0.96, "Slower")]
    [InlineData(0.96, 0.80, "Faster")]
    [InlineData(1.00, 1.02, "NoDifference")] // the whole interval, 0.9998 to 1.0404, is within 5 % of 1
    [InlineData(1.00, 1.04, "Slower")] // 1.02 to 1.06 is not
    internal void A_row_says_how_it_changed_from_A_to_B(double a, double b, string word)
    {
        var row = Assert.Single(ResultComparison.Of(MadeUpResult.Of(a), MadeUpResult.Of(b)).Rows);

        Assert.Equal(word, row.Change.Word.ToString());
        Assert.Equal(b / a, row.Change.Value, 6);
    }

    [Fact]
    public void The_interval_is_the_widest_that_both_allow()
    {
        var change = new RatioEstimate(0.8, 0.7, 1.0).Over(new RatioEstimate(0.5, 0.4, 0.6));

        Assert.Equal((1.6, 0.7 / 0.6, 2.5), (change.Value, change.Low, change.High));
        Assert.Equal(RatioWord.Slower, change.Word);
        Assert.Equal(RatioWord.Undecided, new RatioEstimate(0.8, 0.59, 1.0).Over(new RatioEstimate(0.5, 0.4, 0.6)).Word);
    }

    [Fact]
    public void A_wide_interval_leaves_a_change_undecided()
    {
        var wide = MadeUpResult.Json();
        wide["labs"]![0]!["rows"]!.AsArray().Add(MadeUpResult.Row(1, MadeUpResult.Ours, 1.3, spread: 0.4));

        var row = Assert.Single(ResultComparison.Of(MadeUpResult.Of(1.0), ResultJson.Read(wide.ToJsonString())).Rows);

        Assert.Equal(RatioWord.Undecided, row.Change.Word);
    }

    [Fact]
    public void Rows_are_matched_by_lab_cell_and_subject_in_any_order()
    {
        var a = MadeUpResult.Json(0.5, 0.6, 0.7);
        var b = MadeUpResult.Json(0.5, 0.6, 0.7);
        var rows = b["labs"]![0]!["rows"]!.AsArray();
        var first = rows[1]!;
        rows.Remove(first);
        rows.Add(first);
        b["labs"]!.AsArray().Insert(0, MadeUpResult.Lab("other", 9, 9, 9));
        a["labs"]!.AsArray().Add(MadeUpResult.Lab("third", 9));

        var comparison = ResultComparison.Of(ResultJson.Read(a.ToJsonString()), ResultJson.Read(b.ToJsonString()));

        Assert.Equal([1.0, 1.0, 1.0], comparison.Rows.Select(row => row.Change.Value));
        Assert.Equal(["third"], comparison.LabsOnlyInA);
        Assert.Equal(["other"], comparison.LabsOnlyInB);
        Assert.Empty(comparison.LoneRows);
    }

    [Fact]
    public void A_row_that_one_side_lacks_is_named_with_the_side_and_the_reason()
    {
        var b = MadeUpResult.Json(0.5);
        var dropped = MadeUpResult.Row(2, MadeUpResult.Ours, null);
        dropped["medianNs"] = null;
        b["labs"]![0]!["rows"]!.AsArray().Add(dropped);
        b["labs"]![0]!["rows"]!.AsArray().Add(MadeUpResult.Row(7, MadeUpResult.Ours, 0.5));

        var comparison = ResultComparison.Of(MadeUpResult.Of(0.5, 0.5, 0.5), ResultJson.Read(b.ToJsonString()));

        Assert.Single(comparison.Rows);
        Assert.Equal(
            [
                ("length=2", ResultSide.B, "not measured"),
                ("length=3", ResultSide.B, "no such row"),
                ("length=7", ResultSide.A, "no such row"),
            ],
            comparison.LoneRows.Select(row => (row.Key.Cell.Key, row.Lacking, row.Reason)));
    }

    [Fact]
    public void Ratios_to_different_baselines_are_not_compared()
    {
        string b = MadeUpResult.Json(0.9).With("labs/0/rows/1/baseline", "Another<T>");

        var comparison = ResultComparison.Of(MadeUpResult.Of(0.9), ResultJson.Read(b));

        Assert.Empty(comparison.Rows);
        Assert.Contains("Another<T>", Assert.Single(comparison.LoneRows).Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void Rows_of_rivals_can_be_left_out()
    {
        var a = MadeUpResult.Json(0.5);
        a["labs"]![0]!["rows"]!.AsArray().Add(MadeUpResult.Row(1, "Rival<T>", 0.5));
        var b = MadeUpResult.Json(0.5);
        b["labs"]![0]!["rows"]!.AsArray().Add(MadeUpResult.Row(1, "Rival<T>", 5));
        var (first, second) = (ResultJson.Read(a.ToJsonString()), ResultJson.Read(b.ToJsonString()));

        Assert.Equal("Rival<T>", Assert.Single(ResultComparison.Of(first, second).Above(1.05)).A.Subject);
        Assert.Equal([MadeUpResult.Ours], ResultComparison.Of(first, second, onlyOurs: true).Rows.Select(row => row.A.Subject));
    }

    [Theory]
    [InlineData(1.00, 0)]
    [InlineData(1.05, 0)]
    [InlineData(1.20, 1)] // 1.20 * 0.99 / 1.01 = 1.176
    public void Above_a_limit_is_a_row_whose_whole_interval_is(double b, int above) =>
        Assert.Equal(above, ResultComparison.Of(MadeUpResult.Of(1.0), MadeUpResult.Of(b)).Above(1.05).Count());

    [Theory]
    [InlineData("machine/processor", "Slow One", "Other processor: Fast One in A, Slow One in B.")]
    [InlineData("machine/mode", "quick", "Other mode: full in A, quick in B.")]
    [InlineData("machine/runtime", ".NET 11", "Other runtime: .NET 10 in A, .NET 11 in B.")]
    [InlineData("machine/runtime", null, "Other runtime: .NET 10 in A, unknown in B.")]
    [InlineData("machine/stopped", "true", "B was stopped before its end.")]
    [InlineData("machine/rivals/Usual", "1.1", "Other version of Usual: 1.0 in A, 1.1 in B.")]
    [InlineData("machine/tidepool", "0.2.0", null)] // the version is what one compares
    public void Another_machine_or_mode_is_said(string path, string? value, string? expected)
    {
        string b = MadeUpResult.Json(0.9).With(path, value is null ? null : JsonValue.Create(value));

        var differences = ResultComparison.Of(MadeUpResult.Of(0.9), ResultJson.Read(b)).Differences();

        Assert.Equal(expected is null ? [] : [expected], differences);
    }

    [Fact]
    public void Committed_results_of_the_first_schema_can_be_compared_with_themselves()
    {
        foreach (var machine in ResultFolder.Read(Repository.Root))
        {
            Assert.All(machine.Labs.Values, lab =>
            {
                var comparison = ResultComparison.Of(lab.File, lab.File);
                Assert.NotEmpty(comparison.Rows);
                Assert.All(comparison.Rows, row => Assert.Equal(1, row.Change.Value));
                Assert.Empty(comparison.Above(1));
                Assert.Empty(comparison.LoneRows);
            });
        }
    }
}

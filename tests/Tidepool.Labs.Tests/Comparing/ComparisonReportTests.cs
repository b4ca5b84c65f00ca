using System.Text.Json.Nodes;
using Spectre.Console;

namespace Tidepool.Labs.Tests.Comparing;

public class ComparisonReportTests
{
    [Fact]
    public void Slower_and_faster_rows_are_listed_worst_first_and_counted()
    {
        string text = Print(MadeUpResult.Of(1.0, 1.0, 1.0, 0.5), MadeUpResult.Of(1.2, 1.5, 0.5, 0.5));

        Assert.Contains("Slower in B: 2 rows", text, StringComparison.Ordinal);
        Assert.Contains("Faster in B: 1 row", text, StringComparison.Ordinal);
        Assert.Contains(
            "4 rows in both: 2 slower in B, 1 faster, 1 without difference, 0 undecided.", Joined(text), StringComparison.Ordinal);
        int worst = text.IndexOf("fake: Ours<T>, 2", StringComparison.Ordinal);
        Assert.InRange(worst, 1, text.IndexOf("fake: Ours<T>, 1", StringComparison.Ordinal));
        Assert.Contains("1.00   1.50   1.50    1.47 .. 1.53", text, StringComparison.Ordinal);
        Assert.DoesNotContain("fake: Ours<T>, 4", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Each_result_is_counted_beside_its_baselines_and_rows_that_turned_are_named()
    {
        var wide = MadeUpResult.Json(0.5, 2.0, 1.0);
        wide["labs"]![0]!["rows"]!.AsArray().Add(MadeUpResult.Row(4, MadeUpResult.Ours, 1.1, spread: 0.4));

        string text = Joined(Print(ResultJson.Read(wide.ToJsonString()), MadeUpResult.Of(0.5, 0.4, 1.0, 1.5)));

        Assert.Contains(
            "A beside the baselines: 1 faster, 1 slower, 1 without difference, 1 undecided (25 %).", text, StringComparison.Ordinal);
        Assert.Contains(
            "B beside the baselines: 2 faster, 1 slower, 1 without difference, 0 undecided (0 %).", text, StringComparison.Ordinal);
        Assert.Contains(
            "Faster than the baseline in one and slower in the other, 1 row: fake: Ours<T>, 2", text, StringComparison.Ordinal);
        Assert.Contains(
            "No row is faster than its baseline in one and slower in the other.",
            Joined(Print(MadeUpResult.Of(0.5), MadeUpResult.Of(0.6))),
            StringComparison.Ordinal);
    }

    [Fact]
    public void All_shows_rows_without_difference_and_undecided_ones_too()
    {
        var wide = MadeUpResult.Json(1.0);
        wide["labs"]![0]!["rows"]!.AsArray().Add(MadeUpResult.Row(2, MadeUpResult.Ours, 1.1, spread: 0.4));

        string text = Print(MadeUpResult.Of(1.0, 1.0), ResultJson.Read(wide.ToJsonString()), all: true);

        Assert.Contains("No difference: 1 row", text, StringComparison.Ordinal);
        Assert.Contains("Undecided: 1 row", text, StringComparison.Ordinal);
        Assert.DoesNotContain("Slower in B: ", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Rows_above_the_limit_come_first_and_only_once()
    {
        string text = Print(MadeUpResult.Of(1.0, 1.0), MadeUpResult.Of(1.2, 1.06), failAbove: 1.05);

        Assert.Contains("Above 1.05 with the whole interval: 1 row", text, StringComparison.Ordinal);
        Assert.Contains("Slower in B: 1 row", text, StringComparison.Ordinal);
        Assert.Contains("1 row lies above 1.05 with the whole interval.", text, StringComparison.Ordinal);
        Assert.Equal(2, text.Split("fake: Ours<T>, 1").Length);
        Assert.Contains(
            "No row lies above 1.05 with the whole interval.",
            Print(MadeUpResult.Of(1.0), MadeUpResult.Of(1.0), failAbove: 1.05),
            StringComparison.Ordinal);
    }

    [Fact]
    public void Missing_rows_are_named_three_of_many_and_with_all_every_one()
    {
        var (a, b) = (MadeUpResult.Of(1, 1, 1, 1, 1, 1), MadeUpResult.Of(1));

        Assert.Contains(
            "Missing in B (no such row): fake: Ours<T>: 2; 3; 4; 2 more (--all names them)", Joined(Print(a, b)), StringComparison.Ordinal);
        Assert.Contains(
            "Missing in A (no such row): fake: Ours<T>: 2; 3; 4; 5; 6", Joined(Print(b, a, all: true)), StringComparison.Ordinal);
    }

    [Fact]
    public void A_lab_that_one_side_lacks_is_named_once()
    {
        var more = MadeUpResult.Json(1.0);
        more["labs"]!.AsArray().Add(MadeUpResult.Lab("extra", 1, 1, 1));

        string text = Print(MadeUpResult.Of(1.0), ResultJson.Read(more.ToJsonString()));

        Assert.Contains("Missing in A, the whole lab: extra", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Both_runs_are_described_and_an_old_file_by_its_day()
    {
        var old = MadeUpResult.Json(1.0);
        old.Remove("schema");
        old.Remove("time");
        old.Remove("commit");
        old["machine"]!["measured"] = "2026-11-01";
        old["machine"]!["mode"] = "quick";

        string text = Joined(Print(ResultJson.Read(old.ToJsonString()), MadeUpResult.Of(1.0)));

        Assert.Contains("A a.json: 2026-11-01, quick run, Tidepool 0.1.0 B", text, StringComparison.Ordinal);
        Assert.Contains("B b.json: 2026-11-24 11:20 UTC, full run, Tidepool 0.1.0, commit 0123456789ab", text, StringComparison.Ordinal);
        Assert.Contains("Other mode: quick in A, full in B.", text, StringComparison.Ordinal);
    }

    [Fact]
    public void No_line_is_longer_than_80_columns_and_a_long_name_pushes_no_number_away()
    {
        const string Long = "CommunityToolkit ArrayPoolBufferWriter<T>, reused, with a very long name [and brackets]";
        ResultFile WithLong(double ratio)
        {
            var json = MadeUpResult.Json(1.0);
            var row = MadeUpResult.Row(3, Long, ratio);
            row["cell"] =
                new JsonObject { ["type"] = "byte", ["length"] = 1_000_000, ["pattern"] = "producer and consumer", ["threads"] = 2 };
            json["labs"]![0]!["rows"]!.AsArray().Add(row);
            return ResultJson.Read(json.ToJsonString());
        }

        string text = Print(WithLong(150.1), WithLong(1500));

        Assert.All(text.Split('\n'), line => Assert.InRange(line.TrimEnd().Length, 0, 80));
        string numbers = Assert.Single(text.Split('\n'), line => line.Contains("1500", StringComparison.Ordinal));
        Assert.Contains("fake: CommunityToolkit", numbers, StringComparison.Ordinal);
        Assert.Contains("150   1500   9.99", numbers, StringComparison.Ordinal);
        Assert.Contains("[and brackets]", Joined(text), StringComparison.Ordinal);
    }

    private static string Print(ResultFile a, ResultFile b, bool all = false, double? failAbove = null)
    {
        using var output = new StringWriter();
        IAnsiConsole console = ConsoleReport.CreateConsole(output);
        console.Profile.Width = 80;
        ComparisonReport.Print(
            console,
            ResultComparison.Of(a, b),
            new() { NameA = "a.json", NameB = "b.json", ShowAll = all, FailAbove = failAbove });
        return output.ToString();
    }

    /// <summary>The text without its line breaks.</summary>
    private static string Joined(string text) =>
        string.Join(' ', text.Split((char[])[' ', '\n', '\r'], StringSplitOptions.RemoveEmptyEntries));
}

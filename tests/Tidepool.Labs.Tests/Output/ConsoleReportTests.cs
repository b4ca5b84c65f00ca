using Spectre.Console;

namespace Tidepool.Labs.Tests.Output;

public class ConsoleReportTests
{
    [Fact]
    public void Tables_show_rows_ratios_and_verdicts_as_plain_text()
    {
        string text = Print(FakeLab.Report());

        Assert.Contains("Ours<T>", text, StringComparison.Ordinal);
        Assert.Contains("4.01 ns", text, StringComparison.Ordinal);
        Assert.Contains("0.40", text, StringComparison.Ordinal);
        Assert.Contains("1 met, 1 not measured; exact counts: 2 PASS", text, StringComparison.Ordinal);
        Assert.DoesNotContain('\u001b', text);
    }

    [Fact]
    public void A_row_without_result_says_so_and_why()
    {
        string text = Print(FakeLab.Report());

        Assert.Contains("not measured", text, StringComparison.Ordinal);
        Assert.Contains("not in this version", text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_table_of_metrics_in_which_nothing_ran_says_so_and_why()
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Rival, 0, 0, FakeLab.Samples(10, 24));
        results.Drop(FakeLab.Held, "no room of its own");

        string table = Print(FakeLab.Report(results)).Split("Held.")[1].Split("Goals")[0];

        Assert.Contains("not measured", table, StringComparison.Ordinal);
        Assert.Contains("Ours<T>: no room of its own", table, StringComparison.Ordinal);
    }

    [Fact]
    public void A_lab_without_bars_has_no_table_of_goals()
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Rival, 0, 0, FakeLab.Samples(10, 24));

        LabReport report = FakeLab.Report(results, hasBars: false);

        Assert.DoesNotContain("Goals", Print(report), StringComparison.Ordinal);
        Assert.DoesNotContain(
            "class=\"verdicts\"",
            HtmlReport.Write(report, [.. report.Labs.Select(ReportBuilder.Build)], plots: null, hasGoals: true),
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0.0, "0.00")]
    [InlineData(0.0004, "<0.01")]
    [InlineData(0.005, "0.01")]
    [InlineData(2371.8, "2372")]
    public void A_factor_never_reads_as_nothing_when_it_is_something(double factor, string expected) =>
        Assert.Equal(expected, NumberText.Factor(factor));

    [Fact]
    public void A_lab_that_could_measure_nothing_says_why_unless_the_run_was_stopped_before_it()
    {
        var results = new LabResults(seed: 1);
        results.Drop(FakeLab.Ours, "run with --postgres");

        Assert.Contains("not measured: run with --postgres", Print(FakeLab.Report(results)), StringComparison.Ordinal);
        Assert.DoesNotContain("not measured", Print(FakeLab.Report(results, stopped: true)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0.97, 0.9, 1.05, "undecided, 0.90 .. 1.05", "undecided", "undecided, 0.90 .. 1.05")]
    [InlineData(1.6, 0.7, 3.1, "undecided, 0.70 .. 3.10", "undecided", "undecided, 0.70 .. 3.10")]
    [InlineData(1.0, 0.95, 1.05, "no difference", "no difference", "no difference")]
    [InlineData(0.97, 0.96, 0.98, "no difference", "no difference", "no difference")]
    [InlineData(0.95, 0.94, 0.96, "0.95", "0.95", "0.95 faster")]
    [InlineData(1.3, 1.02, 1.6, "1.30", "1.30", "1.30 slower")]
    public void A_ratio_is_said_by_its_interval(double value, double low, double high, string text, string beside, string alone)
    {
        var ratio = new RatioEstimate(value, low, high);
        Assert.Equal((text, beside, alone), (NumberText.Ratio(ratio), NumberText.ShortRatio(ratio), NumberText.SpokenRatio(ratio)));
    }

    [Theory]
    [InlineData(60, true)]
    [InlineData(80, true)]
    [InlineData(100, true)]
    [InlineData(150, false)]
    public void A_name_stands_on_the_line_with_its_numbers_and_is_whole(int width, bool leavesOut)
    {
        const string Long = "CommunityToolkit MemoryOwner<T>";
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Rival, 0, 0, FakeLab.Samples(10, 24));
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(4, 24));
        LabReport report = FakeLab.Report(results);
        ReportRow[] rows =
        [
            .. ReportBuilder.Build(report.Labs[0]).Rows.Where(row => row.Cell == FakeLab.Main)
                .Select(row => row.Subject == FakeLab.Ours.Subject ? row with { Subject = Long } : row),
        ];
        using var output = new StringWriter();
        IAnsiConsole console = ConsoleReport.CreateConsole(output);
        console.Profile.Width = width;
        ConsoleTables.PrintRows(console, new ReportSection(report.Labs[0].Plan.Workloads.First(w => w.Key == FakeLab.Ours).Section, rows));

        string[] lines = output.ToString().Split('\n');
        Assert.Contains(lines, line => line.Contains(Long, StringComparison.Ordinal) && line.Contains("4.01 ns", StringComparison.Ordinal));
        Assert.Equal(leavesOut, output.ToString().Contains("Left out for want of room", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(0.5, "0.5 ns")]
    [InlineData(4.014, "4.01 ns")]
    [InlineData(1500, "1.50 µs")]
    [InlineData(25e6, "25.0 ms")]
    public void Times_have_three_digits_and_a_unit(double nanoseconds, string expected) =>
        Assert.Equal(expected, NumberText.Time(nanoseconds));

    [Theory]
    [InlineData(0.0, "0 B")]
    [InlineData(24.0, "24.0 B")]
    [InlineData(4120.0, "4.02 KiB")]
    [InlineData(-2048.0, "-2.00 KiB")]
    public void Bytes_have_binary_units(double bytes, string expected) => Assert.Equal(expected, NumberText.Bytes(bytes));

    private static string Print(LabReport report)
    {
        using var output = new StringWriter();
        IAnsiConsole console = ConsoleReport.CreateConsole(output);
        ConsoleReport.Print(
            console, report, [.. report.Labs.Select(ReportBuilder.Build)], ReportTables.Results | ReportTables.Goals);
        return output.ToString();
    }
}

using Spectre.Console;

namespace Tidepool.Labs.Tests.Output;

public class AnswersTests
{
    [Fact]
    public void One_comparison_is_said_with_its_ratio_and_its_word() =>
        Assert.Equal("Ours<T> takes 0.40 of the time of Rival<T>: faster.", AnswerOf(FakeLab.Report()));

    [Theory]
    [InlineData(new[] { 0.5, 0.5, 1.5 }, "Ours<T> takes 0.50 to 1.50 of the time of Rival<T>: faster in 2 of 3 comparisons, slower in 1.")]
    [InlineData(new[] { 1.0, 1.0 }, "Ours<T> takes 1.00 of the time of Rival<T>: no difference in 2 of 2 comparisons.")]
    [InlineData(
        new[] { 2.0, -1.0, 0.25 },
        "Ours<T> takes 0.25 to 2.00 of the time of Rival<T>: faster in 1 of 3 comparisons, slower in 1, undecided in 1.")]
    public void Many_comparisons_are_counted_by_their_intervals(double[] ratios, string expected)
    {
        LabReport report = FakeLab.Report();
        ReportLab lab = ReportBuilder.Build(report.Labs[0]);
        ReportRow ours = lab.Rows.Single(row => row.Key == FakeLab.Ours);
        ReportRow[] rows =
        [
            .. ratios.Select((ratio, place) => ours with
            {
                Cell = Cell.Of(("type", "byte"), ("length", place)),
                Ratio = ratio < 0 ? new RatioEstimate(1, 0.5, 1.5) : new RatioEstimate(ratio, ratio - 0.01, ratio + 0.01),
            }),
        ];

        Assert.Equal(expected, Answers.Of(report.Labs[0], lab with { Rows = rows }));
    }

    [Fact]
    public void A_lab_that_could_measure_nothing_says_why()
    {
        var results = new LabResults(seed: 1);
        results.Drop(FakeLab.Rival, "run with --postgres");
        Assert.Equal("not measured: run with --postgres.", AnswerOf(FakeLab.Report(results)));
    }

    [Fact]
    public void A_lab_without_a_ratio_answers_with_its_exact_counts()
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Held, new Dictionary<string, double> { ["held_percent"] = 2.5 });
        Assert.Equal("exact counts that are as they must be: 1 of 1.", AnswerOf(FakeLab.Report(results)));
    }

    [Fact]
    public void A_default_run_says_nothing_of_goals_but_a_wrong_count_always()
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Rival, 0, 0, FakeLab.Samples(10, 24));
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(9, 24)); // beyond half the time, and it allocates
        string text = Print(FakeLab.Report(results), ReportTables.None);

        Assert.Contains("Wrong count: ours allocates nothing; it is 24.0 (fake.bytes).", text, StringComparison.Ordinal);
        Assert.DoesNotContain("fake.fast", text, StringComparison.Ordinal);
        Assert.All(["PASS", "FAIL", "UNCLEAR", "NOT RUN"], word => Assert.DoesNotContain(word, text, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public void Only_the_tables_that_are_wanted_are_printed(bool hasResults, bool hasGoals)
    {
        string text = Print(
            FakeLab.Report(),
            (hasResults ? ReportTables.Results : ReportTables.None) | (hasGoals ? ReportTables.Goals : ReportTables.None));

        Assert.Equal(hasResults, text.Contains("About & more.", StringComparison.Ordinal));
        Assert.Equal(hasGoals, text.Contains("Verdicts of fake", StringComparison.Ordinal));
        Assert.Contains("takes 0.40 of the time of Rival<T>", text, StringComparison.Ordinal);
    }

    [Fact]
    public void The_last_screen_of_the_tour_has_room_in_a_terminal()
    {
        LabReport report = FakeLab.Report();
        LabReport tour = report with { Labs = [.. LabCatalog.Select([]).Select(_ => report.Labs[0])] };
        ReportLab one = ReportBuilder.Build(report.Labs[0]);
        ReportRow ours = one.Rows.Single(row => row.Key == FakeLab.Ours);
        ReportLab wide = one with
        {
            Name = "connections",
            Rows =
            [
                .. Enumerable.Range(0, 120).Select(place => ours with
                {
                    Cell = Cell.Of(("type", "byte"), ("length", place)),
                    Baseline = "Microsoft.Extensions.ObjectPool",
                    Ratio = (place % 4) switch
                    {
                        0 => new RatioEstimate(0.5, 0.4, 0.6),
                        1 => new RatioEstimate(1.5, 1.4, 1.6),
                        2 => new RatioEstimate(1, 0.99, 1.01),
                        _ => new RatioEstimate(1, 0.5, 1.5),
                    },
                }),
            ],
        };

        string[] lines = PrintScreen(tour, [.. tour.Labs.Select(_ => wide)], width: 80).TrimEnd('\n').Split('\n');

        Assert.All(lines, line => Assert.InRange(line.Length, 0, 80));
        Assert.InRange(lines.Length, tour.Labs.Count, 40);
        Assert.Contains(lines, line => line.StartsWith("connections", StringComparison.Ordinal));
    }

    private static string AnswerOf(LabReport report) => Answers.Of(report.Labs[0], ReportBuilder.Build(report.Labs[0]));

    private static string Print(LabReport report, ReportTables shows)
    {
        using var output = new StringWriter { NewLine = "\n" };
        IAnsiConsole console = ConsoleReport.CreateConsole(output);
        ReportLab[] labs = [.. report.Labs.Select(ReportBuilder.Build)];
        ConsoleReport.Print(console, report, labs, shows);
        ConsoleAnswers.Print(console, report, labs);
        return output.ToString();
    }

    private static string PrintScreen(LabReport report, ReportLab[] labs, int width)
    {
        using var output = new StringWriter { NewLine = "\n" };
        IAnsiConsole console = ConsoleReport.CreateConsole(output);
        console.Profile.Width = width;
        ConsoleAnswers.Print(console, report, labs);
        ConsoleAnswers.PrintWays(console, hasTables: false, "arrays");
        return output.ToString();
    }
}

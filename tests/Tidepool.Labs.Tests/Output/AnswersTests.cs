using Spectre.Console;

namespace Tidepool.Labs.Tests.Output;

public class AnswersTests
{
    [Fact]
    public void One_comparison_is_said_with_its_ratio_and_its_word() =>
        Assert.Equal("Pays. Ours<T> takes 0.40 of the time of Rival<T> (faster).", AnswerOf(FakeLab.Report()));

    [Theory]
    [InlineData(new[] { 0.5, 0.4 }, "Pays. Ours<T> takes 0.40 to 0.50 of the time of Rival<T> (faster in both comparisons).")]
    [InlineData(
        new[] { 0.5, 0.4, 0.3 }, "Pays. Ours<T> takes 0.30 to 0.50 of the time of Rival<T> (faster in all 3 comparisons).")]
    [InlineData(
        new[] { 0.5, 0.5, 1.5 },
        "Pays mostly. Ours<T> takes 0.50 to 1.50 of the time of Rival<T> (faster in 2 of 3 comparisons, slower in 1).")]
    [InlineData(new[] { 1.0, 1.0 }, "No difference. Ours<T> takes 1.00 of the time of Rival<T> (no difference in both comparisons).")]
    [InlineData(new[] { -1.0, -1.0 }, "Undecided. Ours<T> takes 1.00 of the time of Rival<T> (undecided in both comparisons).")]
    [InlineData(
        new[] { 2.0, -1.0, 0.25 },
        "Depends. Ours<T> takes 0.25 to 2.00 of the time of Rival<T> (faster in 1 of 3 comparisons, slower in 1, undecided in 1).")]
    [InlineData(
        new[] { 2.0, 1.5, 0.25 },
        "Does not pay. Ours<T> takes 0.25 to 2.00 of the time of Rival<T> (faster in 1 of 3 comparisons, slower in 2).")]
    public void Many_comparisons_are_counted_by_their_intervals(double[] ratios, string expected)
    {
        var (outcome, lab) = Wide(
            ratios.Select(ratio => ratio < 0 ? new RatioEstimate(1, 0.5, 1.5) : new RatioEstimate(ratio, ratio - 0.01, ratio + 0.01)));

        Assert.Equal(expected, TextOf(outcome, lab));
    }

    [Fact]
    public void A_lab_that_could_measure_nothing_says_why()
    {
        var results = new LabResults(seed: 1);
        results.Drop(FakeLab.Rival, "run with --postgres");
        Assert.Equal("Not measured. Run with --postgres.", AnswerOf(FakeLab.Report(results)));
    }

    [Fact]
    public void An_answer_is_printed_early_in_the_words_of_the_last_screen()
    {
        LabReport report = FakeLab.Report();
        string early = PrintOn(150, console => ConsoleAnswers.PrintEarly(console, report.Labs[0]));

        Assert.Contains(AnswerOf(report), early, StringComparison.Ordinal);
        Assert.Contains(early, Print(report, ReportTables.None), StringComparison.Ordinal);
    }

    [Fact]
    public void Nothing_is_printed_early_where_no_times_were_compared()
    {
        var results = new LabResults(seed: 1);
        results.Drop(FakeLab.Rival, "run with --postgres");
        Assert.Empty(PrintOn(150, console => ConsoleAnswers.PrintEarly(console, FakeLab.Report(results).Labs[0])));
    }

    [Fact]
    public void A_lab_without_a_ratio_answers_with_its_exact_counts()
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Held, new Dictionary<string, double> { ["held_percent"] = 2.5 });
        Assert.Equal("Counted. Exact counts that are as they must be: 1 of 1.", AnswerOf(FakeLab.Report(results)));
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
        Assert.All(
            ["PASS", "FAIL", "missed", "met", "UNCLEAR", "NOT RUN"], word => Assert.DoesNotContain(word, text, StringComparison.Ordinal));
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
        Assert.Equal(hasGoals, text.Contains("Goals of fake", StringComparison.Ordinal));
        Assert.Contains("takes 0.40 of the time of Rival<T>", text, StringComparison.Ordinal);
    }

    [Fact]
    public void The_last_screen_of_the_tour_has_room_in_a_terminal()
    {
        RatioEstimate[] words = [new(0.5, 0.4, 0.6), new(1.5, 1.4, 1.6), new(1, 0.99, 1.01), new(1, 0.5, 1.5)];
        var (outcome, wide) = Wide(Enumerable.Range(0, 120).Select(place => words[place % 4]), "Microsoft.Extensions.ObjectPool");
        LabReport report = FakeLab.Report();
        LabReport tour = report with { Labs = [.. LabCatalog.Select([]).Select(_ => outcome)] };

        CheckScreen(PrintScreen(tour, [.. tour.Labs.Select(_ => wide with { Name = "connections" })], width: 80), tour.Labs.Count);
    }

    [Fact]
    public void So_has_that_of_a_tour_with_the_committed_numbers()
    {
        var (report, labs) = Pages.CommittedRun.Read();
        var tour = report.Labs.Zip(labs).Where(pair => pair.First.Lab.InTour && pair.First.Lab.Name != "ef").ToArray();
        ReportLab[] results =
        [
            .. tour.Select(pair => pair.Second with
            {
                // Without --postgres a tour has the rows of SQLite only.
                Rows = [.. pair.Second.Rows.Where(row => row.Baseline?.Contains("its pool", StringComparison.Ordinal) != true
                    || row.Baseline.Contains("Sqlite", StringComparison.Ordinal))],
            }),
        ];

        CheckScreen(PrintScreen(report with { Labs = [.. tour.Select(pair => pair.First)] }, results, width: 80), tour.Length);
    }

    private static void CheckScreen(string screen, int labs)
    {
        string[] lines = screen.TrimEnd('\n').Split('\n');
        Assert.All(lines, line => Assert.InRange(line.Length, 0, 80));
        Assert.InRange(lines.Length, labs, 40);
        Assert.Contains(lines, line => line.StartsWith("connections", StringComparison.Ordinal));
    }

    [Fact]
    public void What_pools_nothing_decides_where_the_usual_choice_is_a_pool()
    {
        ILab lab = LabCatalog.Find("objects")!;
        var plan = LabPlan.Of(lab, LabMode.Quick);
        var results = new LabResults(seed: 1);
        foreach (var workload in plan.Workloads)
        {
            double time = workload.Key.Subject == InstanceSubject.New ? 100
                : workload.Key.Subject == InstanceSubject.Microsoft ? 10
                : 20;
            results.Add(workload.Key, 0, 0, FakeLab.Samples(time, 0));
        }

        LabAnswer answer = Answers.Of(lab, plan, ReportBuilder.Build(new LabOutcome(lab, plan, results, 1, [])));

        Assert.Equal(AnswerWord.Pays, answer.Word);
        Assert.Equal([InstanceSubject.New, InstanceSubject.Microsoft], answer.Groups.Select(group => group.Key));
        Assert.StartsWith("Pays. ObjectLease<T> takes 0.20 of the time of new (faster in ", answer.Text, StringComparison.Ordinal);
        Assert.Contains(") and 2.00 of Microsoft.Extensions.ObjectPool (slower in ", answer.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Threads_are_compared_with_a_thread_for_each_item_by_their_times()
    {
        ILab lab = LabCatalog.Find("threads")!;
        var plan = LabPlan.Of(lab, LabMode.Quick);
        var results = new LabResults(seed: 1);
        foreach (var workload in plan.Workloads)
        {
            results.Add(workload.Key, 0, 0, FakeLab.Samples(workload.Key.Subject == ItemRunner.ThreadEach ? 100 : 25, 0));
        }

        Assert.Equal(
            "Pays. Task.Run takes 0.25 of the time of new Thread each (faster in both comparisons).",
            Answers.Of(lab, plan, ReportBuilder.Build(new LabOutcome(lab, plan, results, 1, []))).Text);
    }

    /// <summary>The lab with cells of its own: in each of them ours has one of the ratios to the usual choice.</summary>
    private static (LabOutcome Outcome, ReportLab Lab) Wide(IEnumerable<RatioEstimate> ratios, string usual = "Rival<T>")
    {
        LabOutcome outcome = FakeLab.Report().Labs[0];
        ReportLab lab = ReportBuilder.Build(outcome);
        ReportRow ours = lab.Rows.Single(row => row.Key == FakeLab.Ours);
        var section = new Section { Title = "Wide", About = "Many.", Baseline = usual, Varies = ["length"] };
        var rows = new List<ReportRow>();
        foreach (var (place, ratio) in ratios.Index())
        {
            ReportRow row = ours with { Cell = Cell.Of(("length", place)), Baseline = usual, Ratio = ratio };
            rows.AddRange([row with { Subject = usual, Ours = false, Ratio = null }, row]);
        }

        foreach (ReportRow row in rows)
        {
            outcome.Plan.Add(new Workload { Key = row.Key, Section = section, Ours = row.Ours, Create = () => null });
        }

        return (outcome, lab with { Rows = rows });
    }

    private static string AnswerOf(LabReport report) => TextOf(report.Labs[0], ReportBuilder.Build(report.Labs[0]));

    private static string TextOf(LabOutcome outcome, ReportLab lab) => Answers.Of(outcome.Lab, outcome.Plan, lab).Text;

    private static string Print(LabReport report, ReportTables shows)
    {
        using var output = new StringWriter { NewLine = "\n" };
        IAnsiConsole console = ConsoleReport.CreateConsole(output);
        ReportLab[] labs = [.. report.Labs.Select(ReportBuilder.Build)];
        ConsoleReport.Print(console, report, labs, shows);
        ConsoleAnswers.Print(console, report, labs);
        return output.ToString();
    }

    private static string PrintScreen(LabReport report, ReportLab[] labs, int width) => PrintOn(width, console =>
    {
        ConsoleAnswers.Print(console, report, labs);
        ConsoleAnswers.PrintWays(console, hasTables: false, "arrays");
    });

    private static string PrintOn(int width, Action<IAnsiConsole> print)
    {
        using var output = new StringWriter { NewLine = "\n" };
        IAnsiConsole console = ConsoleReport.CreateConsole(output);
        console.Profile.Width = width;
        print(console);
        return output.ToString();
    }
}

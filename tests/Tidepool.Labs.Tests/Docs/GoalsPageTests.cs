namespace Tidepool.Labs.Tests.Docs;

public class GoalsPageTests
{
    private const string Reason = "Both rows wait for the same cache line, which goes from one processor to the other and back.";

    private static string Path { get; } = System.IO.Path.Combine(Repository.Root, "docs", "labs", "goals.md");

    [Fact]
    public void Every_missed_goal_of_the_committed_results_has_its_reason_on_the_page_and_no_other_goal_has_one()
    {
        Verdict[] verdicts = [.. ResultFolder.Read(Repository.Root).SelectMany(MissedGoals.VerdictsOf).Select(one => one.Verdict)];
        Assert.NotEmpty(verdicts);

        string[] problems = [.. GoalsPage.Problems(File.ReadAllText(Path), verdicts)];

        Assert.True(problems.Length == 0, $"docs/labs/goals.md:\n{string.Join('\n', problems)}");
    }

    [Fact]
    public void A_heading_names_several_goals_and_the_reason_ends_at_the_next_heading() =>
        Assert.Equal(
            [("a.b", Reason), ("a.c", Reason), ("d", "Another one.\n\nWith a second paragraph.")],
            GoalsPage.ReasonsOf(
                $"## Part\n\n`no.goal`\n\n### One: `a.b`, `a.c`\n\n{Reason}\n\n"
                    + "### `d`\n\nAnother one.\n\nWith a second paragraph.\n\n## End\n"));

    [Theory]
    [InlineData(nameof(VerdictState.Fail), "")]
    [InlineData(nameof(VerdictState.Unclear), "")]
    [InlineData(nameof(VerdictState.Pass), "`a.b` is not missed")]
    [InlineData(nameof(VerdictState.NotRun), "`a.b` is not missed")]
    public void A_reason_is_for_a_goal_that_is_not_met(string state, string problem) =>
        AssertProblem(problem, $"### `a.b`\n\n{Reason}\n", VerdictOf("a.b", Enum.Parse<VerdictState>(state)));

    [Theory]
    [InlineData(nameof(VerdictState.Fail), "`a.b` is missed: name it in a heading")]
    [InlineData(nameof(VerdictState.Unclear), "")]
    [InlineData(nameof(VerdictState.Pass), "")]
    public void A_missed_goal_needs_a_reason(string state, string problem) =>
        AssertProblem(problem, $"# Page\n\nOf `a.b` only in a paragraph.\n", VerdictOf("a.b", Enum.Parse<VerdictState>(state)));

    [Fact]
    public void A_goal_that_no_lab_has_needs_no_reason() => AssertProblem("`gone` is not missed", $"### `gone`\n\n{Reason}\n");

    [Theory]
    [InlineData("### `a.b`\n\nSlow.\n", "`a.b` has no reason below its heading")]
    [InlineData("### `a.b`\n\n" + Reason + "\n\n### `a.b`\n\n" + Reason + "\n", "`a.b` stands in 2 headings")]
    public void A_missed_goal_has_one_reason_that_says_something(string page, string problem) =>
        AssertProblem(problem, page, VerdictOf("a.b", VerdictState.Fail));

    [Fact]
    public void The_table_has_each_missed_goal_with_both_times_the_ratio_and_its_interval()
    {
        string table = MissedGoals.Table([FakeRun.MachineOf(FakeRun.OfArrays(leaseAtCallSites: 12))]);

        Assert.Contains(
            "| missed | [`arrays.lease.callsite`](arrays.md#goals) | leases at depth 1, at call sites: at most 0.88 of ArrayPool.Shared | "
                + "byte, 4096, call site, depth 1, 1 thread | `ArrayPool<T>.Shared`: 10.0 ns | `BufferLease<T>`: 12.0 ns | 1.20 | "
                + "1.20 .. 1.20 | 0.88 |\n",
            table,
            StringComparison.Ordinal);
        Assert.DoesNotContain("`arrays.lease.inlined`", table, StringComparison.Ordinal);
    }

    [Fact]
    public void The_table_begins_with_how_many_goals_are_met()
    {
        var machine = FakeRun.MachineOf(FakeRun.OfArrays(leaseAtCallSites: 12));
        Verdict[] goals = [.. machine.Labs["arrays"].Lab.Verdicts.Where(verdict => verdict.Bar.Kind == BarKind.Ratio)];
        int met = goals.Count(goal => goal.State == VerdictState.Pass);

        string table = MissedGoals.Table([machine]);

        Assert.True(met > 0);
        Assert.Contains($"\n**{met} of {goals.Length} goals are met** ({met} met, ", table, StringComparison.Ordinal);
    }

    [Fact]
    public void A_mean_over_cells_shows_the_mean_of_their_times()
    {
        Cell[] cells = [Cell.Of(("size", 1)), Cell.Of(("size", 2)), Cell.Of(("size", 3))];
        CellGroup[] groups = [new("small", cells[..2]), new("large", cells[2..])];
        var comparison = Comparison.OfMeans(groups, "ours", "rival");
        var rows = cells.Zip([2.0, 8.0, 16.0]).Select(pair => RowOf(new(pair.First, "ours"), pair.Second)).ToDictionary(row => row.Key);

        Assert.Equal("ours / rival, 2 groups", comparison.Text);
        Assert.Equal(8.0, comparison.Ours.TimeIn(rows)!.Value, precision: 9);
        Assert.Null(comparison.Other.TimeIn(rows));
    }

    [Fact]
    public void The_detail_of_a_ratio_ends_with_what_is_compared()
    {
        var run = FakeRun.OfArrays().Labs.Single();
        var judged = run.Plan.Rules.OfType<RatioRule>().Select(rule => (rule.Comparisons, Verdict: rule.Judge(run.Results)))
            .Where(pair => pair.Verdict.State != VerdictState.NotRun).ToArray();

        Assert.True(judged.Length > 1);
        Assert.All(judged, pair => Assert.Contains(
            pair.Comparisons, compared => pair.Verdict.Detail.EndsWith($": {compared.Text}", StringComparison.Ordinal)));
    }

    [Fact]
    public void Two_cells_are_both_named()
    {
        var two = Comparison.Of(new(Cell.Of(("threads", 1)), "ours"), new(Cell.Of(("threads", 2)), "ours"));

        Assert.Equal("ours, 1 thread / ours, 2 threads", two.Text);
        Assert.Equal("1 thread / 2 threads", two.Where);
    }

    private static void AssertProblem(string expected, string page, params Verdict[] verdicts)
    {
        string[] problems = [.. GoalsPage.Problems(page, verdicts)];
        if (expected.Length == 0)
        {
            Assert.Empty(problems);
        }
        else
        {
            Assert.StartsWith(expected, Assert.Single(problems), StringComparison.Ordinal);
        }
    }

    private static Verdict VerdictOf(string id, VerdictState state) => new(new Bar(id, "", id, BarKind.Ratio, 1), state, 2, "");

    private static ReportRow RowOf(WorkloadKey key, double time) =>
        new() { Cell = key.Cell, Subject = key.Subject, Ours = true, MedianNs = time, TimeNs = time };
}

namespace Tidepool.Labs.Tests.Planning;

public class LabPlanTests
{
    public static IEnumerable<object[]> Plans =>
        from lab in LabCatalog.All
        from mode in Enum.GetNames<LabMode>()
        select new object[] { lab.Name, mode };

    [Theory]
    [MemberData(nameof(Plans))]
    public void Every_section_that_has_a_baseline_measures_it_in_every_cell(string lab, string mode)
    {
        var plan = Plan(lab, mode);

        Assert.All(plan.Workloads, workload => Assert.True(
            workload.Section.Baseline is null
            || plan.Workloads.Any(other => other.Key == workload.Key with { Subject = workload.Section.Baseline }),
            workload.Key.ToString()));
    }

    [Theory]
    [MemberData(nameof(Plans))]
    public void Every_plan_measures_ours_beside_rivals_and_names_the_rivals_versions(string lab, string mode)
    {
        var plan = Plan(lab, mode);

        bool[] ours = [.. plan.Workloads.Select(workload => workload.Ours), .. plan.Probes.Select(probe => probe.Ours)];
        Assert.Contains(true, ours);
        Assert.Contains(false, ours);
        Assert.NotEmpty(plan.Rivals);
        Assert.DoesNotContain("unknown", plan.Rivals.Values);
    }

    [Theory]
    [MemberData(nameof(Plans))]
    public void The_subject_of_short_tables_is_measured(string lab, string mode) =>
        Assert.Contains(Plan(lab, mode).Workloads, workload => workload.Key.Subject == LabCatalog.Find(lab)!.Headline);

    [Theory]
    [MemberData(nameof(Plans))]
    public void A_section_tells_its_cells_apart(string lab, string mode)
    {
        foreach (var section in Plan(lab, mode).Workloads.GroupBy(workload => workload.Section))
        {
            var cells = section.Select(workload => workload.Key.Cell).Distinct().ToArray();
            Assert.Equal(cells.Length, cells.Select(cell => cell.Describe(section.Key.Varies)).Distinct().Count());
        }
    }

    [Fact]
    public void The_grid_of_arrays_has_every_type_and_length_in_both_modes()
    {
        foreach (var mode in Enum.GetValues<LabMode>())
        {
            var cells = LabPlan.Of(LabCatalog.Find("arrays")!, mode).Workloads.Select(workload => workload.Key.Cell).ToHashSet();
            Assert.All(
                from type in (string[])["byte", "char", "int", "object"]
                from length in (string[])["0", "1", "100", "1000", "10000", "1000000"]
                select (type, length),
                point => Assert.Contains(cells, cell => cell["type"] == point.type && cell["length"] == point.length));
        }
    }

    [Fact]
    public void A_rule_that_needs_what_is_not_measured_is_refused()
    {
        var plan = new LabPlan(LabMode.Quick);

        Assert.Throws<InvalidOperationException>(() => plan.Add(new BytesRule(FakeLab.BytesBar, FakeLab.Ours)));
    }

    [Fact]
    public void A_rule_that_judges_nothing_is_refused_unless_it_is_omitted_with_a_reason()
    {
        var plan = new LabPlan(LabMode.Quick);

        var refused = Assert.Throws<InvalidOperationException>(() => plan.Add(new BytesRule(FakeLab.BytesBar)));
        Assert.Contains(FakeLab.BytesBar.Id, refused.Message, StringComparison.Ordinal);

        plan.Add(new OmittedRule(FakeLab.BytesBar, "--full"));
        Assert.Equal(VerdictState.NotRun, Assert.Single(plan.Rules).Judge(new LabResults(seed: 1)).State);
    }

    [Theory]
    [MemberData(nameof(Plans))]
    public void Every_rule_has_a_verdict_where_nothing_could_be_measured(string lab, string mode) => Assert.All(
        Plan(lab, mode).Rules, rule => Assert.Equal(VerdictState.NotRun, rule.Judge(new LabResults(seed: 1)).State));

    [Fact]
    public void Cells_are_equal_by_their_coordinates()
    {
        Assert.Equal(Cell.Of(("a", "x"), ("n", 5)), Cell.Of(("a", "x"), ("n", 5L)));
        Assert.NotEqual(Cell.Of(("a", "x"), ("n", 5)), Cell.Of(("a", "x"), ("n", 6)));
        Assert.Equal("a=x n=5", Cell.Of(("a", "x"), ("n", 5)).Key);
    }

    private static LabPlan Plan(string lab, string mode) => LabPlan.Of(LabCatalog.Find(lab)!, Enum.Parse<LabMode>(mode));
}

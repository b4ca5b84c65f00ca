namespace Tidepool.Labs.Tests.Planning;

/// <summary>Rows that come from measured ones: phases of a workload, and means over groups.</summary>
public class DerivedRowTests
{
    private static readonly Cell Small = Cell.Of(("size", 32));
    private static readonly Cell Large = Cell.Of(("size", 4096));
    private static readonly Cell Renting = Cell.Of(("phase", "allocate"), ("size", 32));
    private static readonly Cell Mean = Cell.Of(("group", "both"));

    [Fact]
    public void A_phase_has_its_share_of_the_time_and_a_ratio_of_its_own()
    {
        var run = Measured();
        var row = RowOf(run, new(Renting, "ours"));

        Assert.Equal(3, row.MedianNs!.Value, 9);
        Assert.Equal(0.5, row.Ratio!.Value.Value, 6);
        Assert.Null(row.BytesPerOp);
    }

    [Fact]
    public void A_mean_is_geometric_over_its_cells()
    {
        var run = Measured();
        var row = RowOf(run, new(Mean, "ours"));

        Assert.Equal(Math.Sqrt(4 * 9), row.MedianNs!.Value, 6);
        Assert.Equal(Math.Sqrt(0.4 * 0.9), row.Ratio!.Value.Value, 6);
        Assert.Null(RowOf(run, new(Mean, "rival")).Ratio);
    }

    [Fact]
    public void A_mean_without_one_of_its_cells_is_empty_and_says_why()
    {
        var run = Measured();
        run.Results.Drop(new(Small, "absent"), "not installed");
        var row = RowOf(run, new(Mean, "absent"));

        Assert.True(row.IsEmpty);
        Assert.Equal("not installed", row.Dropped);
    }

    [Fact]
    public void Sections_are_shown_in_their_order()
    {
        var run = Measured();
        var titles = ReportBuilder.Group(run.Plan, ReportBuilder.Build(OutcomeOf(run)).Rows).Select(section => section.Section.Title);

        Assert.Equal(["means", "cells", "phases"], titles);
    }

    [Fact]
    public void What_a_loop_does_not_know_is_null_in_the_result_file()
    {
        var run = Measured();
        var row = RowOf(run, new(Small, "ours"));

        Assert.Equal(4, row.MedianNs!.Value, 9);
        Assert.Null(row.BytesPerOp);
        Assert.Null(row.Gen0);
    }

    [Fact]
    public void A_step_shows_what_its_probes_saw_side_by_side_and_they_do_not_repeat_it()
    {
        var (run, first, second) = Stepped();
        run.Results.Add(
            first,
            new Dictionary<string, double>
            {
                [StepRow.NameOf("one", "_count")] = 3,
                [StepRow.NameOf("two", "_count")] = 5,
                ["all_count"] = 8,
            });
        run.Results.Add(second, new Dictionary<string, double> { [StepRow.NameOf("one", "_count")] = 7 });
        ReportRow[] rows = [.. ReportBuilder.Build(OutcomeOf(run)).Rows];

        Assert.Equal(
            new Dictionary<string, double> { ["left_count"] = 3, ["right_count"] = 7 },
            rows.Single(row => row.Subject == "one").Metrics);
        Assert.Equal(new Dictionary<string, double> { ["left_count"] = 5 }, rows.Single(row => row.Subject == "two").Metrics);
        Assert.Equal(new Dictionary<string, double> { ["all_count"] = 8 }, rows.Single(row => row.Key == first).Metrics);
        Assert.DoesNotContain(rows, row => row.Key == second);
    }

    [Fact]
    public void A_step_of_probes_without_result_has_no_row_and_the_probes_say_why()
    {
        var (run, first, second) = Stepped();
        run.Results.Drop(first, "not here");
        run.Results.Drop(second, "not there");
        ReportRow[] rows = [.. ReportBuilder.Build(OutcomeOf(run)).Rows];

        Assert.DoesNotContain(rows, row => row.Subject is "one" or "two");
        Assert.Equal("not here", rows.Single(row => row.Key == first).Dropped);
        Assert.Equal("not there", rows.Single(row => row.Key == second).Dropped);
    }

    private static (LabRun Run, WorkloadKey First, WorkloadKey Second) Stepped()
    {
        var plan = new LabPlan(LabMode.Quick);
        var section = new Section { Title = "steps", About = "", Varies = [], Layout = SectionLayout.Metrics };
        WorkloadKey first = new(Small, "first"), second = new(Small, "second");
        plan.Add(new Probe { Key = first, Section = section, Ours = false, Run = _ => null });
        plan.Add(new Probe { Key = second, Section = section, Ours = true, Run = _ => null, OnlySteps = true });
        foreach (string step in (string[])["one", "two"])
        {
            plan.Add(
                new StepRow
                {
                    Key = new(Large, step),
                    Section = section,
                    Ours = false,
                    Step = step,
                    Of = [("left", first), ("right", second)],
                });
        }

        return (new LabRun(new FakeLab(), plan, new LabResults(seed: 1)), first, second);
    }

    private static LabRun Measured()
    {
        var plan = new LabPlan(LabMode.Quick);
        var cells = new Section { Title = "cells", About = "", Baseline = "rival", Varies = ["size"], Layout = SectionLayout.Matrix };
        var phases = new Section { Title = "phases", About = "", Baseline = "rival", Varies = ["size"], Layout = SectionLayout.Matrix };
        var means =
            new Section { Title = "means", About = "", Baseline = "rival", Varies = ["group"], Layout = SectionLayout.Matrix, Order = -1 };
        foreach (string subject in (string[])["rival", "ours", "absent"])
        {
            foreach (var cell in (Cell[])[Small, Large])
            {
                plan.Add(new Workload { Key = new(cell, subject), Section = cells, Ours = subject == "ours", Create = () => null });
            }

            plan.Add(
                new PhaseRow
                {
                    Key = new(Renting, subject),
                    Section = phases,
                    Ours = subject == "ours",
                    Of = new(Small, subject),
                    Phase = LoopPhase.Renting,
                });
            plan.Add(
                new MeanRow { Key = new(Mean, subject), Section = means, Ours = subject == "ours", Group = new("both", [Small, Large]) });
        }

        var run = new LabRun(new FakeLab(), plan, new LabResults(seed: 1));
        Add(run, Small, "rival", 10, renting: 6);
        Add(run, Large, "rival", 10, renting: null);
        Add(run, Small, "ours", 4, renting: 3);
        Add(run, Large, "ours", 9, renting: null);
        return run;
    }

    private static void Add(LabRun run, Cell cell, string subject, double nanoseconds, double? renting)
    {
        Sample? sample = Sample.OfTime(nanoseconds) with { Renting = renting };
        run.AddRounds(run.IndexOf(new(cell, subject)), 0, 0, [sample, sample, sample]);
    }

    private static ReportRow RowOf(LabRun run, WorkloadKey key) => ReportBuilder.Build(OutcomeOf(run)).Rows.Single(row => row.Key == key);

    private static LabOutcome OutcomeOf(LabRun run) => new(run.Lab, run.Plan, run.Results, 1, []);
}

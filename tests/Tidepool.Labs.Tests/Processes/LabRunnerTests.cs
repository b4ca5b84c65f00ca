namespace Tidepool.Labs.Tests.Processes;

[Trait("Category", "Environment")]
public class LabRunnerTests
{
    private static readonly ChildCommand Child = new("dotnet", [Path.Combine(AppContext.BaseDirectory, "Tidepool.Tool.dll")]);

    [Fact]
    public async Task A_small_run_goes_through_child_processes_to_verdicts()
    {
        var steps = new List<LabProgress>();
        var options = Tiny(key => key.Cell["length"] == "4096" && key.Cell["pattern"] == RentalPattern.Inlined && key.Cell["depth"] == "1"
            && key.Cell["threads"] == "1" && key.Subject is RentalCatalog.Shared or RentalCatalog.Lease or RentalCatalog.SharedMemory
            || key.Cell["lengths"] is not null);

        var report = await new LabRunner(options, steps.Add).RunAsync([LabCatalog.Find("arrays")!], CancellationToken.None);

        var outcome = Assert.Single(report.Labs);
        Assert.False(report.Stopped);
        Assert.Equal(2, outcome.Processes);
        var rows = ReportBuilder.Build(outcome).Rows.Where(row => row.MedianNs is not null).ToDictionary(row => row.Subject);
        Assert.Equal([RentalCatalog.Shared, RentalCatalog.SharedMemory, RentalCatalog.Lease], rows.Keys);
        Assert.Equal(24, rows[RentalCatalog.SharedMemory].BytesPerOp!.Value, tolerance: 1);
        Assert.NotNull(rows[RentalCatalog.Lease].Ratio);
        var states = outcome.Verdicts.ToDictionary(verdict => verdict.Bar.Id, verdict => verdict.State);
        Assert.NotEqual(VerdictState.NotRun, states[Bars.LeaseInlined.Id]);
        Assert.Equal(VerdictState.Pass, states[Bars.Waste.Id]);
        Assert.Equal(VerdictState.NotRun, states[Bars.RingShared.Id]);
        LabOutcome early = Assert.Single(steps, step => step.Measured is not null).Measured!;
        Assert.Contains(ReportBuilder.Build(early).Rows, row => row.Key.Subject == RentalCatalog.Lease && row.Ratio is not null);
        Assert.Contains(steps, step => step.Fraction == 1);
    }

    [Fact]
    public async Task A_stopped_run_keeps_what_is_done_and_leaves_no_process()
    {
        using var stop = new CancellationTokenSource();
        var options = Tiny(key => key.Cell["pattern"] == RentalPattern.Hop) with { Rounds = 100_000 };

        var report = await new LabRunner(options, progress =>
        {
            if (progress.Step.StartsWith("process", StringComparison.Ordinal))
            {
                stop.Cancel();
            }
        }).RunAsync([LabCatalog.Find("arrays")!], stop.Token);

        Assert.True(report.Stopped);
        Assert.All(report.Labs.Single().Verdicts, verdict => Assert.Equal(VerdictState.NotRun, verdict.State));
    }

    [Fact]
    public async Task A_child_that_does_not_come_up_leaves_rows_without_result_and_with_the_reason()
    {
        var options = Tiny(key => key.Cell["pattern"] == RentalPattern.Hop) with
        {
            Child = new("dotnet", [Path.Combine(AppContext.BaseDirectory, "absent.dll")]),
        };

        var report = await new LabRunner(options, _ => { }).RunAsync([LabCatalog.Find("arrays")!], CancellationToken.None);

        Assert.Contains("ended early", report.Labs.Single().Results.Dropped.Values.First(), StringComparison.Ordinal);
    }

    private static LabRunOptions Tiny(Func<WorkloadKey, bool> select) =>
        new() { Child = Child, Processes = 2, Rounds = 4, Select = select };
}

namespace Tidepool.Labs.Tests.Kestrel;

/// <summary>Lab <c>kestrel</c> as it is planned, run and judged.</summary>
public sealed class KestrelLabTests
{
    private static readonly ILab Lab = LabCatalog.Find("kestrel")!;

    [Fact]
    public void It_is_run_by_its_name_only()
    {
        Assert.DoesNotContain(Lab, LabCatalog.Select([]));
        Assert.Equal(LabCatalog.All.Where(static lab => lab.InTour), LabCatalog.Select([]));
        Assert.Equal([Lab], LabCatalog.Select(["kestrel"]));
    }

    [Theory]
    [InlineData("Quick")]
    [InlineData("Full")]
    public void Each_protocol_is_measured_with_both_memories_and_the_same_requests(string mode)
    {
        var plan = LabPlan.Of(Lab, Enum.Parse<LabMode>(mode));

        Assert.Equal(
            from protocol in Enum.GetValues<KestrelProtocol>()
            from memory in Enum.GetValues<KestrelMemory>()
            select $"{protocol.Name()}: {memory.Name()}",
            plan.Workloads.Select(workload => $"{workload.Key.Cell["protocol"]}: {workload.Key.Subject}"));
        Assert.Single(plan.Workloads.Select(workload => workload.FixedOperations).Distinct());
    }

    [Fact]
    public void A_quick_run_waits_for_nothing_and_says_how_the_idle_memory_is_judged()
    {
        var plan = LabPlan.Of(Lab, LabMode.Quick);

        Assert.DoesNotContain(plan.Probes, probe => probe.Waits);
        Assert.Contains("--full", JudgeOf(plan, Bars.KestrelIdle).Judge(new LabResults(1)).Detail, StringComparison.Ordinal);
        Assert.All(LabPlan.Of(Lab, LabMode.Full).Probes, probe => Assert.True(probe.Waits));
    }

    [Theory]
    [InlineData(40.0, 40.0, 0.0, "PASS")]
    [InlineData(40.25, 40.0, 0.25, "PASS")]
    [InlineData(40.75, 40.0, 0.75, "FAIL")]
    [InlineData(12.0, 40.0, 0.0, "PASS")]
    public void A_request_allocates_no_more_than_with_the_pool_of_Kestrel(double ours, double own, double above, string expected)
    {
        var plan = LabPlan.Of(Lab, LabMode.Full);
        var results = new LabResults(seed: 1);
        foreach (Workload workload in plan.Workloads)
        {
            // One protocol decides: the other two are the same.
            double bytes = workload.Key.Cell["protocol"] != KestrelProtocol.Http2.Name() ? 7 : workload.Ours ? ours : own;
            results.Add(workload.Key, 0, 0, FakeLab.Samples(1000, bytes));
            results.Add(workload.Key, 1, 0, FakeLab.Samples(1000, workload.Ours ? bytes + 900 : bytes)); // disturbed
        }

        Verdict verdict = JudgeOf(plan, Bars.KestrelBytes).Judge(results);

        Assert.Equal(expected, verdict.StateText);
        Assert.Equal(above, verdict.Value!.Value, 9);
    }

    [Fact]
    public void Bytes_that_were_not_measured_are_not_judged() =>
        Assert.Equal("NOT RUN", JudgeOf(LabPlan.Of(Lab, LabMode.Full), Bars.KestrelBytes).Judge(new LabResults(1)).StateText);

    [LoadFact]
    public async Task A_run_measures_each_row_and_counts_the_burst()
    {
        var options = new LabRunOptions
        {
            Child = LoadServers.Program,
            Processes = 1,
            Rounds = 1,
            Select = key => key.Cell["protocol"] is null || key.Cell["protocol"] == KestrelProtocol.Http1.Name(),
        };

        LabOutcome outcome = (await new LabRunner(options, _ => { }).RunAsync([Lab], CancellationToken.None)).Labs.Single();

        Assert.Empty(outcome.Results.Dropped);
        Assert.All(
            outcome.Plan.Workloads.Where(workload => options.Select(workload.Key)),
            workload => Assert.True(outcome.Results.Has(workload.Key), workload.Key.ToString()));
        var states = outcome.Verdicts.ToDictionary(verdict => verdict.Bar.Id, verdict => verdict.State);
        Assert.Equal(VerdictState.Pass, states[Bars.KestrelFailed.Id]);
        Assert.Equal(VerdictState.Pass, states[Bars.KestrelLeased.Id]);
        Assert.Equal(VerdictState.NotRun, states[Bars.KestrelIdle.Id]);
    }

    private static VerdictRule JudgeOf(LabPlan plan, Bar bar) => plan.Rules.Single(rule => rule.Bar == bar);
}

using Tidepool.Labs.Tests.Kestrel;

namespace Tidepool.Labs.Tests.Advising;

/// <summary>Lab <c>advise</c> as it is planned, run and judged.</summary>
public sealed class AdviseLabTests
{
    private static readonly ILab Lab = LabCatalog.Find("advise")!;

    [Theory]
    [InlineData("Quick")]
    [InlineData("Full")]
    public void Each_window_with_a_tool_has_others_without_in_changing_order(string mode)
    {
        var plan = LabPlan.Of(Lab, Enum.Parse<LabMode>(mode));

        Assert.False(Lab.InTour);
        Assert.All(
            plan.Workloads.GroupBy(static workload => workload.Key.Cell.Key),
            static cell => Assert.Equal(1, cell.Count(static workload => workload.Ours)));

        // A round begins with the next subject of a cell: of every second round all would begin with the same.
        Assert.All(plan.Workloads, static workload => Assert.Equal(1, workload.EveryRounds % 2));
        Assert.Equal(0, plan.Rounds % 2);
    }

    [Fact]
    public void A_full_run_has_nine_rounds_of_a_native_program_and_fewer_of_what_takes_longer()
    {
        var plan = LabPlan.Of(Lab, LabMode.Full);
        ILookup<string, int> rounds = plan.Workloads.ToLookup(
            static workload => $"{(workload.Key.Cell["library"] is null ? "managed" : "native")} {workload.Key.Cell["pace"]}",
            workload => Enumerable.Range(0, plan.Rounds).Count(round => round % workload.EveryRounds == 0));

        Assert.All(rounds["native 1 GB/s"], static count => Assert.InRange(count, 9, 20));
        Assert.All(rounds["native saturated"], static count => Assert.Equal(6, count));
        Assert.All(rounds["managed 1 GB/s"], static count => Assert.Equal(16, count));
        Assert.All(rounds["managed saturated"], static count => Assert.Equal(2, count));
        Assert.All(rounds, static kind => Assert.Equal(4, kind.Count()));
    }

    [Theory]
    [InlineData(1.00, 500)]
    [InlineData(0.96, 500)]
    [InlineData(1.20, 400)]
    public void Of_a_paced_program_the_processor_time_counts(double rate, double expected)
    {
        (AllocatingState before, AllocatingState after) = StatesOf(rate, processorSeconds: expected * rate * 5 / 1000);

        Assert.Equal(expected * 1000, ObservedLoop.TimeOfMegabyte(AllocatingPace.Paced, before, after), 3);
    }

    [Theory]
    [InlineData("Saturated", 2, 500)]
    [InlineData("Working", 0.91, 1098.901)]
    [InlineData("Working", 1.09, 917.431)]
    public void Of_one_that_is_busy_all_the_time_its_rate_does(string pace, double rate, double expected)
    {
        (AllocatingState before, AllocatingState after) = StatesOf(rate, processorSeconds: 3);

        Assert.Equal(expected * 1000, ObservedLoop.TimeOfMegabyte(Enum.Parse<AllocatingPace>(pace), before, after), 0.5);
    }

    [Theory]
    [InlineData("Paced", 0.90)]
    [InlineData("Working", 0.88)]
    [InlineData("Working", 1.12)]
    public void A_window_that_did_not_keep_its_pace_is_none(string pace, double rate)
    {
        (AllocatingState before, AllocatingState after) = StatesOf(rate, processorSeconds: 3);

        var failure = Assert.Throws<LabProcessException>(
            () => ObservedLoop.TimeOfMegabyte(Enum.Parse<AllocatingPace>(pace), before, after));

        Assert.Contains($"{rate:0.00} GB/s and was to allocate 1.00", failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0.99, 1.02, "PASS")]
    [InlineData(1.02, 1.04, "UNCLEAR")]
    [InlineData(1.05, 1.06, "FAIL")]
    [InlineData(0.97, 1.02, "UNCLEAR")] // within the limit, but too wide to say so
    public void The_whole_interval_must_be_within_three_percent_and_narrow(double low, double high, string expected)
    {
        var plan = LabPlan.Of(Lab, LabMode.Full);
        var results = new LabResults(seed: 1);
        foreach (Workload workload in plan.Workloads)
        {
            results.Add(workload.Key, 0, 0, FakeLab.Samples(1000 * (workload.Ours ? low : 1), 0));
            results.Add(workload.Key, 1, 0, FakeLab.Samples(1000 * (workload.Ours ? high : 1), 0));
        }

        Assert.Equal(expected, plan.Rules.Single(static rule => rule.Bar == Bars.AdviseOverhead).Judge(results).StateText);
    }

    [CoresFact]
    public async Task A_run_measures_its_windows_and_the_tool()
    {
        var options = new LabRunOptions
        {
            Child = LoadServers.Program,
            Processes = 1,
            Rounds = 1,
            Select = static key => key.Cell["pace"] == "saturated" && key.Cell["tool"] == "watch"
                || key.Cell["run"] == "watch",
        };

        LabOutcome outcome = (await new LabRunner(options, static _ => { }).RunAsync([Lab], CancellationToken.None)).Labs.Single();

        // On a machine with other work the program may not keep its pace: then the tool's row says so, and is not measured.
        Assert.All(outcome.Results.Dropped, static one => Assert.Contains("was to allocate", one.Value, StringComparison.Ordinal));
        SampleSet[] measured = [.. outcome.Plan.Workloads.Select(workload => outcome.Results.Samples(workload.Key)).OfType<SampleSet>()];
        Assert.Equal(2, measured.Length);
        Assert.All(measured, static samples => Assert.InRange(samples.MinimumNanoseconds, 10_000, 1e9));
        Probe probe = outcome.Plan.Probes.Single(probe => options.Select(probe.Key));
        if (outcome.Results.Dropped.ContainsKey(probe.Key))
        {
            return;
        }

        IReadOnlyDictionary<string, double> tool = outcome.Results.Metrics(probe.Key)!;
        Assert.InRange(tool["peak memory in MB"], 20, 1000);
        Assert.InRange(tool["seconds after the window"], 0.1, 60);
    }

    /// <summary>Five seconds of a program.</summary>
    /// <param name="rate">GB/s that it allocates.</param>
    /// <param name="processorSeconds">What it uses of its processor.</param>
    private static (AllocatingState Before, AllocatingState After) StatesOf(double rate, double processorSeconds)
    {
        var before = new AllocatingState { Allocated = 7_000_000, ProcessorNanoseconds = 2e9, Nanoseconds = 3e9, Compiled = 1 };
        return (before, before with
        {
            Allocated = before.Allocated + (long)(rate * 5e9),
            ProcessorNanoseconds = before.ProcessorNanoseconds + processorSeconds * 1e9,
            Nanoseconds = before.Nanoseconds + 5e9,
        });
    }
}

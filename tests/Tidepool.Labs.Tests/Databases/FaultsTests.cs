namespace Tidepool.Labs.Tests.Databases;

/// <summary>What the lab says of callers that write during a fault.</summary>
public class FaultsTests
{
    /// <summary>
    /// Longer than the lab watches: a slow machine takes seconds to start a server again, and the pool waits between tries.
    /// </summary>
    private static readonly TimeSpan Recovered = TimeSpan.FromSeconds(10);

    [Fact]
    public void Counts_are_of_all_callers_and_the_gap_is_the_longest()
    {
        Dictionary<string, double> metrics = Faults.Summarize([Seen(100, 3, 0.2), Seen(50, 4, 0.5), Seen(80, 0, 0.01)]);

        Assert.Equal(230, metrics["requests_count"]);
        Assert.Equal(7, metrics[Faults.Failed]);
        Assert.Equal(0, metrics[Faults.NotServed]);
        Assert.Equal(0.5e9, metrics[Faults.LongestGap], 3);
    }

    [Fact]
    public void No_gap_is_told_where_a_caller_is_still_without_an_answer()
    {
        Dictionary<string, double> metrics =
            Faults.Summarize([Seen(100, 3, 0.2), new(90, 70, TimeSpan.FromSeconds(0.1), IsServed: false)]);

        Assert.Equal(1, metrics[Faults.NotServed]);
        Assert.False(metrics.ContainsKey(Faults.LongestGap));
    }

    [Theory]
    [InlineData("Quick")]
    [InlineData("Full")]
    public void Each_fault_is_measured_with_both_pools_and_judged(string mode)
    {
        LabPlan plan = LabPlan.Of(LabCatalog.Find("connections")!, Enum.Parse<LabMode>(mode));
        Probe[] probes = [.. plan.Probes.Where(static probe => probe.Section.Title == ConnectionsLab.Writing)];

        Assert.Equal(2 * Faults.Of(plan.Mode).Count, probes.Select(static probe => probe.Key).Distinct().Count());
        Assert.Equal(Faults.Of(plan.Mode).Count, probes.Count(static probe => probe.Ours));
        Assert.All(
            plan.Rules.Where(static rule => rule.Bar.Id.StartsWith("connections.faults.", StringComparison.Ordinal)),
            rule => Assert.Subset(probes.Select(static probe => probe.Key).ToHashSet(), rule.Needs.ToHashSet()));
    }

    [Servers.PostgresTheory]
    [Trait("Category", "Environment")]
    [InlineData("SessionsEnded", 0)]
    [InlineData("ProcessKilled", 0)]
    [InlineData("Restart", 0)]
    [InlineData("Switchover", 1)] // only a refused write shows it
    public async Task Few_requests_of_our_pool_fail_and_all_callers_are_served_again(string fault, int least)
    {
        IReadOnlyList<FaultCaller> callers =
            await Faults.MeasureAsync(Enum.Parse<ServerFault>(fault), PoolKind.Tidepool, Recovered);

        Assert.Equal(Faults.Callers, callers.Count);
        Assert.All(callers, static caller => Assert.True(caller.IsServed, $"{caller}"));
        Assert.InRange(callers.Sum(static caller => caller.Failed), least, callers.Sum(static caller => caller.Requests) / 2);
    }

    [Servers.PostgresFact]
    [Trait("Category", "Environment")]
    public async Task Callers_of_a_pool_that_keeps_its_sessions_stay_on_the_server_that_refuses_writes()
    {
        IReadOnlyList<FaultCaller> callers =
            await Faults.MeasureAsync(ServerFault.Switchover, PoolKind.Provider, TimeSpan.FromSeconds(1));

        Assert.All(callers, static caller => Assert.False(caller.IsServed, $"{caller}"));
    }

    private static FaultCaller Seen(int requests, int failed, double gap) =>
        new(requests, failed, TimeSpan.FromSeconds(gap), IsServed: true);
}

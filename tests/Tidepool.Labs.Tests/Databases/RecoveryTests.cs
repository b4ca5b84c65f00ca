using Npgsql;

namespace Tidepool.Labs.Tests.Databases;

/// <summary>What the lab says of outages.</summary>
public class RecoveryTests
{
    [Theory]
    [InlineData(1.0, 0.1, 7.5)]
    [InlineData(1.0, 0.2, 15)] // a short outage: 15 % are 0.2 s
    [InlineData(2.0, 0.3, 15)]
    [InlineData(60.0, 0.6, 1)]
    public void Lateness_is_a_share_of_the_outage(double away, double late, double share)
    {
        Dictionary<string, double> metrics = Recovery.Summarize([Seen(away, [late, late, 5], failed: 0, attempts: 0)]);

        Assert.Equal(share, metrics[Recovery.Share], 6);
        Assert.Equal(late * 1e9, metrics["half after_ns"], 3);
        Assert.Equal(5e9, metrics["all after_ns"], 3);
    }

    [Fact]
    public void Counts_are_of_one_outage_and_times_of_all_callers()
    {
        Dictionary<string, double> metrics = Recovery.Summarize(
        [
            Seen(1, [0.1, 0.2, 0.3], failed: 10, attempts: 40),
            Seen(3, [0.4, 0.5], failed: 20, attempts: 60),
        ]);

        Assert.Equal(0.3e9, metrics["half after_ns"], 3);
        Assert.Equal(0.5e9, metrics["all after_ns"], 3);
        Assert.Equal(15, metrics[Recovery.Share], 6);
        Assert.Equal(15, metrics[Recovery.Failed]);
        Assert.Equal(25, metrics[Recovery.AttemptsPerSecond]);
    }

    [Theory]
    [InlineData("Quick")]
    [InlineData("Full")]
    public void Each_outage_is_measured_with_both_pools_and_the_quick_run_has_short_ones_only(string mode)
    {
        LabPlan plan = LabPlan.Of(LabCatalog.Find("connections")!, Enum.Parse<LabMode>(mode));
        Probe[] probes = [.. plan.Probes.Where(static probe => probe.Section.Title == ConnectionsLab.Recoveries)];

        Assert.Equal(2 * Outage.Of(plan.Mode).Count, probes.Select(static probe => probe.Key).Distinct().Count());
        Assert.Equal(Outage.Of(plan.Mode).Count, probes.Count(static probe => probe.Ours));
        Assert.True(plan.Mode == LabMode.Full || Outage.Of(plan.Mode).Sum(static outage => outage.Seconds * outage.Times) <= 2);
    }

    [Servers.PostgresTheory]
    [Trait("Category", "Environment")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Every_caller_is_served_after_the_outage_and_what_happened_in_it_is_counted(bool isKilled)
    {
        await using PostgresCluster cluster = await PostgresCluster.StartAsync();
        await using var proxy = new FaultProxy(cluster.Port);
        var address = new NpgsqlConnectionStringBuilder(cluster.ConnectionString) { Port = proxy.Port };
        var length = TimeSpan.FromSeconds(0.4);
        foreach (PoolKind pool in (PoolKind[])[PoolKind.Provider, PoolKind.Tidepool])
        {
            OutageSeen seen = await Recovery.MeasureAsync(pool, address.ConnectionString, proxy, length, isKilled ? cluster : null);

            Assert.Equal(Recovery.Callers, seen.Late.Count);
            Assert.All(seen.Late, static late => Assert.True(late > TimeSpan.Zero));
            Assert.True(seen.Away >= length, $"{seen.Away}");
            Assert.InRange(seen.Failed, 1, int.MaxValue);
            Assert.InRange(seen.TimedOut, 0, seen.Failed);
            Assert.InRange(seen.Attempts, 1, proxy.Accepted);
        }
    }

    private static OutageSeen Seen(double away, double[] late, int failed, int attempts) =>
        new(TimeSpan.FromSeconds(away), [.. late.Select(TimeSpan.FromSeconds)], failed, TimedOut: 0, attempts);
}

using System.Data.Common;
using Npgsql;

namespace Tidepool.Labs.Tests.Servers;

/// <summary>Lab <c>fleet</c>: what a process of it does, and how what all saw is put together.</summary>
public sealed class FleetTests
{
    [PostgresTheory]
    [InlineData("Provider")]
    [InlineData("Tidepool")]
    public async Task A_process_of_a_fleet_says_that_it_is_ready_and_after_a_word_what_it_saw(string pool)
    {
        await using PostgresCluster cluster = await PostgresCluster.StartAsync();
        var task = new FleetTask(
            cluster.ConnectionString, Enum.Parse<PoolKind>(pool), MaxSize: 2, IsTransactionMode: false, Callers: 4, Seconds: 0.3);
        using var output = new StringWriter();

        Assert.Equal(0, await FleetMember.RunAsync(new StringReader($"{MessageLine.Write(task)}\ngo\n"), output));

        string[] lines = output.ToString().Split(Environment.NewLine, StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(FleetMember.Ready, lines[0]);
        FleetSeen seen = MessageLine.Read<FleetSeen>(lines[1]);
        Assert.NotEmpty(seen.Times);
        Assert.Empty(seen.Failures);
        NpgsqlConnection.ClearAllPools();
    }

    [PostgresFact]
    public async Task Refusals_are_counted_by_their_code()
    {
        await using PostgresCluster cluster = await PostgresCluster.StartAsync();
        await cluster.ExecuteAsync("CREATE ROLE narrow LOGIN PASSWORD 'narrow' CONNECTION LIMIT 1");
        var task = new FleetTask(
            $"{cluster.ConnectionString};Username=narrow;Password=narrow", PoolKind.Tidepool, 8, IsTransactionMode: false, 8, Seconds: 1);
        await using var source = FleetMember.Open(task);

        FleetSeen seen = await FleetMember.AskAllAsync(source, task.Callers, TimeSpan.FromSeconds(task.Seconds));

        Assert.Equal("53300", Assert.Single(seen.Failures).Key);
        Assert.NotEmpty(seen.Times);
    }

    [Fact]
    public async Task A_wait_that_the_provider_reports_by_another_type_is_a_failure_too()
    {
        await using var source = new SlowSource();

        FleetSeen seen = await FleetMember.AskAllAsync(source, callers: 1, TimeSpan.FromSeconds(1));

        Assert.Equal(nameof(TimeoutException), Assert.Single(seen.Failures).Key);
        Assert.Empty(seen.Times);
    }

    [Fact]
    public void What_all_processes_saw_is_one_row()
    {
        FleetSeen one = new([300, 100], new Dictionary<string, int> { ["53300"] = 2 });
        FleetSeen other = new([200], new Dictionary<string, int> { ["53300"] = 1, ["08P01"] = 4 });

        Dictionary<string, double> metrics = FleetRun.Summarize([one, other], seconds: 2, mostSessions: 17);

        Assert.Equal(1.5, metrics["answers per second_count"]);
        Assert.Equal((7, 17), (metrics[FleetRun.Failed], metrics["server sessions_count"]));
        Assert.Equal((200_000, 300_000), (metrics["half within_ns"], metrics["longest_ns"]));
        Assert.Equal((3, 4), (metrics["53300_count"], metrics["08P01_count"]));
    }

    private sealed class SlowSource : DbDataSource
    {
        public override string ConnectionString => "";

        protected override DbConnection CreateDbConnection() => throw new TimeoutException();
    }
}

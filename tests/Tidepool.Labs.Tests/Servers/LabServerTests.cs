using Npgsql;

namespace Tidepool.Labs.Tests.Servers;

[Trait("Category", "Environment")]
public class LabServerTests
{
    [Theory]
    [InlineData(LabMode.Quick)]
    [InlineData(LabMode.Full)]
    internal void Without_the_option_the_rows_that_need_a_server_are_not_run_and_name_it(LabMode mode)
    {
        Workload[] rows =
            [.. LabPlan.Of(LabCatalog.Find("resources")!, mode).Workloads.Where(workload => workload.Key.Subject == "NpgsqlDataSource")];

        Assert.Equal(["callers=1 call=synchronous", "callers=1 call=asynchronous", "load=64 on 8"], rows.Select(row => row.Key.Cell.Key));
        Assert.All(rows, row =>
        {
            Assert.Null(row.Create());
            Assert.EndsWith("run with --postgres", row.Missing, StringComparison.Ordinal);
            Assert.Equal(PostgresCluster.Missing is not null, row.Missing.Contains("apt-get install", StringComparison.Ordinal));
        });
    }

    [PostgresFact]
    public async Task The_rival_opens_and_closes_connections_of_one_pool_that_has_as_many_as_it_may()
    {
        await using PostgresCluster cluster = await PostgresCluster.StartAsync();
        NpgsqlSubject subject = NpgsqlSubject.Open(cluster.ConnectionString, 2);
        int[] processes = [.. (await cluster.ListSessionsAsync()).Select(session => session.Process).Order()];
        Assert.Equal(2, processes.Length);
        NpgsqlConnection first = subject.Rent();
        NpgsqlConnection second = await subject.RentAsync();
        Task<NpgsqlConnection> third = subject.RentAsync().AsTask();
        subject.Use(first);
        Assert.Equal(processes, new[] { first.ProcessID, second.ProcessID }.Order());
        Assert.False(third.IsCompleted);
        subject.Return(first);
        subject.Return(await third.WaitAsync(TimeSpan.FromMinutes(1)));
        subject.Return(second);
        Assert.Equal(processes, (await cluster.ListSessionsAsync()).Select(session => session.Process).Order());
    }
}

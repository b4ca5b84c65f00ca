using Tidepool.Data.Tests.MySql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;
using Xunit.Abstractions;

namespace Tidepool.Data.Tests;

/// <summary>Twenty thousand rentals that leave what they can: none finds anything of another.</summary>
[Collection(MySqlServer.Collection)]
[Trait("Category", "Slow")]
public sealed class ChaosTests(MySqlServer server, ITestOutputHelper output)
{
    private const int Operations = 20_000;

    [MySqlFact]
    public async Task No_renter_of_MySQL_finds_what_another_has_left()
    {
        await server.Server.ExecuteAsync("CREATE TABLE IF NOT EXISTS kept (a int)");
        await using PooledDbDataSource pool = server.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 4 } }, ";Allow User Variables=true");
        await new Chaos(MySqlSessionTests.State, MySqlSessionTests.Leftovers, KillAsync).RunAsync(pool, Operations, output);

        async Task KillAsync(int which)
        {
            IReadOnlyList<long> sessions = await server.Server.ListSessionsAsync();
            await server.Server.KillAsync([.. sessions.Take(sessions.Count == 0 ? 0 : 1 + (which % sessions.Count))]);
        }
    }

    [PostgresTheory]
    [InlineData(false, Operations)]
    [InlineData(true, Operations / 4)]
    public async Task No_renter_of_PostgreSQL_finds_what_another_has_left(bool isLater, int operations)
    {
        await using PostgresCluster cluster = await PostgresCluster.StartAsync();
        await using var pool = new PooledDbDataSource(
            Npgsql.NpgsqlFactory.Instance,
            cluster.ConnectionString,
            new PooledDbOptions { Pool = new() { MaxSize = 4 }, ResetWithNextStatement = isLater });
        await cluster.ExecuteAsync("CREATE ROLE actor; CREATE TABLE kept (a int)");
        await new Chaos(Faults.SessionFaults.State, PostgresLeftovers, KillAsync).RunAsync(pool, operations, output);
        Assert.Equal(0L, await cluster.ReadAsync<long>("SELECT count(*) FROM kept"));

        async Task KillAsync(int which)
        {
            IReadOnlyList<PostgresSession> sessions = await cluster.ListSessionsAsync();
            if (sessions.Count > 0)
            {
                await cluster.TerminateAsync(sessions[which % sessions.Count].Process);
            }
        }
    }

    private static readonly string[] PostgresLeftovers =
    [
        "SET ROLE actor", "CREATE TEMP TABLE scratch (value int)", "SELECT pg_advisory_lock_shared(7)", "LISTEN news",
        "DECLARE walk CURSOR WITH HOLD FOR SELECT generate_series(1, 1000)", "SET work_mem = '7MB'", "PREPARE plan AS SELECT 1", "BEGIN",
        "BEGIN; INSERT INTO kept VALUES (1)", "SELECT 1 / 0",
    ];
}

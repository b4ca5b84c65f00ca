using System.Data.Common;
using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests;

/// <summary>A pool of sessions between the program and the server: a real PgBouncer in each of its modes.</summary>
[Collection(PostgresServer.Collection)]
public sealed class PoolerTests(PostgresServer server)
{
    private const int Callers = 8;
    private const int Openings = 40;
    private const string Setting = "SHOW work_mem";
    private const string Table = "SELECT to_regclass('pg_temp.scratch')::text";
    private const string Warning = "PoolerFound";

    [PgBouncerTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task In_session_mode_no_caller_of_320_sees_what_another_left_and_one_warning_asks_for_the_mode(bool isLater)
    {
        using var told = new Told();
        await using PgBouncer bouncer = await PgBouncer.StartAsync(server.Cluster.ConnectionString, "session");
        await using PooledDbDataSource pool = NewPool(
            bouncer.ConnectionString, new PooledDbOptions { Pool = new() { MaxSize = 4 }, ResetWithNextStatement = isLater });

        Assert.Equal(0, await CountDirtyAsync(pool));

        string warning = Assert.Single(told.Of(Warning, pool.Name));
        Assert.Contains("In session mode all is well", warning, StringComparison.Ordinal);
        Assert.Contains("docs/connections.md", warning, StringComparison.Ordinal);
    }

    [PgBouncerFact]
    public async Task In_transaction_mode_a_pool_that_does_not_know_it_warns_once_and_goes_on()
    {
        using var told = new Told();
        await using PgBouncer bouncer = await PgBouncer.StartAsync(server.Cluster.ConnectionString, "transaction");
        await using PooledDbDataSource pool = NewPool(bouncer.ConnectionString);

        await CountDirtyAsync(pool);

        Assert.Contains(nameof(SessionPooler.Transaction), Assert.Single(told.Of(Warning, pool.Name)), StringComparison.Ordinal);
    }

    [PgBouncerFact]
    public async Task In_transaction_mode_a_pool_that_knows_it_prepares_nothing_and_resets_nothing_and_has_no_errors()
    {
        using var told = new Told();
        await using PgBouncer bouncer = await PgBouncer.StartAsync(server.Cluster.ConnectionString, "transaction");
        await using PooledDbDataSource pool = NewPool(bouncer.ConnectionString, new PooledDbOptions
        {
            Pool = new() { MaxSize = 4 },
            SessionPooler = SessionPooler.Transaction,
        });

        await Task.WhenAll(Enumerable.Range(0, Callers).Select(_ => Task.Run(() => WorkAsync(pool))));

        Assert.Empty(told.Of(Warning, pool.Name));
        Assert.Equal(0, pool.GetStatistics().GetDestroyed(DestroyReason.ResetFailed));
        await using PooledDbConnection last = await pool.OpenConnectionAsync();
        Assert.Equal(0, last.Read<int>("SELECT count(*) FROM pg_prepared_statements"));
        Assert.Equal("4MB", last.Read<string>(Setting));
    }

    [PgBouncerFact]
    public async Task A_pool_that_knows_of_its_pooler_does_not_warn()
    {
        using var told = new Told();
        await using PgBouncer bouncer = await PgBouncer.StartAsync(server.Cluster.ConnectionString, "session");
        foreach (SessionPooler known in new[] { SessionPooler.None, SessionPooler.Session, SessionPooler.Transaction })
        {
            await using PooledDbDataSource pool = NewPool(bouncer.ConnectionString, new PooledDbOptions { SessionPooler = known });
            await (await pool.OpenConnectionAsync()).DisposeAsync();
            Assert.Empty(told.Of(Warning, pool.Name));
        }
    }

    [PgBouncerFact]
    public async Task A_caller_that_blocks_learns_of_a_pooler_too()
    {
        using var told = new Told();
        await using PgBouncer bouncer = await PgBouncer.StartAsync(server.Cluster.ConnectionString, "session");
        await using PooledDbDataSource pool = NewPool(bouncer.ConnectionString);
        pool.OpenConnection().Dispose();
        Assert.Single(told.Of(Warning, pool.Name));
    }

    [PgBouncerFact]
    public async Task Settings_in_the_connection_string_are_refused_by_the_pooler()
    {
        await using PgBouncer bouncer = await PgBouncer.StartAsync(server.Cluster.ConnectionString, "session");
        await using PooledDbDataSource refused = NewPool(bouncer.ConnectionString + ";Options=-c work_mem=64MB");
        PooledDbException error = await Assert.ThrowsAsync<PooledDbException>(async () => await refused.OpenConnectionAsync());
        Assert.Equal("08P01", error.SqlState);
    }

    [PostgresFact]
    public async Task Without_a_pooler_there_is_no_warning()
    {
        using var told = new Told();
        await using PooledDbDataSource pool = server.NewPool();
        await (await pool.OpenConnectionAsync()).DisposeAsync();
        Assert.Empty(told.Of(Warning, pool.Name));
    }

    /// <summary>How many openings of all saw a setting or a temporary table of another one. Every fourth leaves both.</summary>
    private static async Task<int> CountDirtyAsync(PooledDbDataSource pool)
    {
        int dirty = 0;
        await Task.WhenAll(Enumerable.Range(0, Callers).Select(_ => Task.Run(async () =>
        {
            for (int i = 0; i < Openings; i++)
            {
                await using PooledDbConnection connection = await pool.OpenConnectionAsync();
                if (connection.Read<string>(Setting) != "4MB" || Scalar(connection, Table) is string)
                {
                    Interlocked.Increment(ref dirty);
                }

                if (i % 4 == 0)
                {
                    connection.Run("SET work_mem = '5MB'");
                    connection.Run("CREATE TEMPORARY TABLE IF NOT EXISTS scratch (a int)");
                }
            }
        })));
        return dirty;
    }

    /// <summary>What transaction mode allows: settings for one transaction, and a preparation that does nothing.</summary>
    private static async Task WorkAsync(PooledDbDataSource pool)
    {
        for (int i = 0; i < Openings; i++)
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT $1 + 1";
            command.Parameters.Add(new NpgsqlParameter { Value = i });
            await command.PrepareAsync();
            Assert.Equal(i + 1, await command.ExecuteScalarAsync());
            await using DbBatch batch = connection.CreateBatch();
            batch.BatchCommands.Add(new NpgsqlBatchCommand("SELECT 7"));
            batch.Prepare();
            Assert.Equal(7, await batch.ExecuteScalarAsync());
            await using DbTransaction transaction = await connection.BeginTransactionAsync();
            connection.Run("SET LOCAL work_mem = '5MB'");
            Assert.Equal("5MB", connection.Read<string>(Setting));
            await transaction.CommitAsync();
        }
    }

    private static object? Scalar(DbConnection connection, string sql)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        return command.ExecuteScalar();
    }

    private static PooledDbDataSource NewPool(string connectionString, PooledDbOptions? options = null) =>
        new(NpgsqlFactory.Instance, connectionString, options ?? new PooledDbOptions { Pool = new() { MaxSize = 4 } });
}

using System.Data.Common;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests.Faults;

/// <summary>What a renter leaves behind, and what the server does to sessions that lie idle.</summary>
public sealed class SessionFaults(FaultServer server) : FaultTest(server)
{
    public static TheoryData<string> Poisons =>
    [
        "open transaction", "failed transaction", "SET ROLE", "temporary table", "advisory lock", "LISTEN", "cursor",
        "setting", "PREPARE", "reader", "import", "export",
    ];

    [PostgresTheory]
    [MemberData(nameof(Poisons))]
    public async Task What_one_renter_leaves_behind_no_other_finds(string poison)
    {
        await Cluster.ExecuteAsync(
            "DROP ROLE IF EXISTS actor; CREATE ROLE actor; CREATE TABLE IF NOT EXISTS mark (value int); TRUNCATE mark");
        foreach ((ResetMode mode, bool resetsLater) in new[]
        {
            (ResetMode.Background, false), (ResetMode.OnReturn, false), (ResetMode.OnRent, false), (ResetMode.Background, true),
            (ResetMode.OnRent, true),
        })
        {
            PooledDbDataSource pool = NewPool(
                new() { MaxSize = 1, ResetMode = mode, RentTimeout = Never, PolicyTimeout = Never, CreateTimeout = Never },
                resetsLater: resetsLater);
            PooledDbConnection connection = await pool.OpenConnectionAsync();
            IAsyncDisposable? left = await PoisonAsync(connection, poison);
            await connection.DisposeAsync();
            if (left is DbDataReader)
            {
                await left.DisposeAsync(); // knows that its session is gone; the provider's own copies do not, and are just dropped
            }

            await using PooledDbConnection next = await pool.OpenConnectionAsync();
            Assert.Equal(Clean, await ReadAsync<string>(next, State));
            // No transaction is open.
            Assert.NotEqual(await ReadAsync<long>(next, "SELECT txid_current()"), await ReadAsync<long>(next, "SELECT txid_current()"));
            Assert.Equal(0L, await Cluster.ReadAsync<long>("SELECT count(*) FROM mark"));
        }
    }

    [PostgresFact]
    public async Task What_the_server_ends_for_idleness_is_hidden_by_the_validation()
    {
        PooledDbDataSource pool = NewPool(
            new() { MaxSize = 3, ValidateAfterIdle = TimeSpan.Zero, RentTimeout = Never, CreateTimeout = Never, PolicyTimeout = Never },
            more: "Options=-c idle_session_timeout=1500");
        int[] before = await FillEndedAsync(pool);

        for (int i = 0; i < 3; i++)
        {
            Assert.DoesNotContain(await UseAsync(pool), before);
        }
    }

    [PostgresFact]
    public async Task What_the_server_ends_for_idleness_is_hidden_by_the_keep_alive()
    {
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 3,
                ValidateAfterIdle = Never,
                KeepAliveInterval = TimeSpan.FromSeconds(3),
                RentTimeout = Never,
                CreateTimeout = Never,
                PolicyTimeout = Never,
            },
            more: "Options=-c idle_session_timeout=1500");
        int[] before = await FillEndedAsync(pool);

        // On a slow machine the server ends one before it is returned; then its reset has found it.
        await UntilAsync(() => pool.GetStatistics().Destroyed >= 3, "the keep-alive finds them");

        Assert.DoesNotContain(await UseAsync(pool), before);
    }

    /// <summary>Opens three sessions and waits until the server has ended them.</summary>
    private async Task<int[]> FillEndedAsync(PooledDbDataSource pool)
    {
        PooledDbConnection[] connections =
            [await pool.OpenConnectionAsync(), await pool.OpenConnectionAsync(), await pool.OpenConnectionAsync()];
        int[] processes = [.. connections.Select(static connection => ProcessOf(connection))];
        foreach (PooledDbConnection connection in connections)
        {
            await connection.DisposeAsync();
        }

        await UntilAsync(
            async () => !(await Cluster.ListSessionsAsync()).Any(session => processes.Contains(session.Process)),
            "the server ends them");
        return processes;
    }

    private const string Clean = "postgres postgres 0 0 0 0 0 4MB";

    internal const string State =
        """
        SELECT concat_ws(' ', current_user, session_user,
            (SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()),
            (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
            (SELECT count(*) FROM pg_listening_channels()),
            (SELECT count(*) FROM pg_cursors WHERE name = 'walk'),
            (SELECT count(*) FROM pg_prepared_statements WHERE from_sql),
            current_setting('work_mem'))
        """;

    /// <summary>Does something to a session.</summary>
    /// <returns>What is still open on it, or null.</returns>
    private static async Task<IAsyncDisposable?> PoisonAsync(PooledDbConnection connection, string poison)
    {
        switch (poison)
        {
            case "open transaction":
                await RunAsync(connection, "BEGIN");
                await RunAsync(connection, "INSERT INTO mark VALUES (1)");
                return null;
            case "failed transaction":
                await connection.BeginTransactionAsync();
                await Assert.ThrowsAsync<PostgresException>(() => RunAsync(connection, "SELECT 1 / 0"));
                return null;
            case "SET ROLE":
                await RunAsync(connection, "SET ROLE actor");
                return null;
            case "temporary table":
                await RunAsync(connection, "CREATE TEMP TABLE scratch (value int)");
                return null;
            case "advisory lock":
                await RunAsync(connection, "SELECT pg_advisory_lock(7)");
                return null;
            case "LISTEN":
                await RunAsync(connection, "LISTEN news");
                return null;
            case "cursor":
                await RunAsync(connection, "DECLARE walk CURSOR WITH HOLD FOR SELECT generate_series(1, 1000)");
                return null;
            case "setting":
                await RunAsync(connection, "SET work_mem = '7MB'");
                return null;
            case "PREPARE":
                await RunAsync(connection, "PREPARE plan AS SELECT 1");
                return null;
            case "reader":
                DbCommand command = connection.CreateCommand();
                command.CommandText = "SELECT generate_series(1, 100000)";
                DbDataReader reader = await command.ExecuteReaderAsync();
                Assert.True(await reader.ReadAsync());
                return reader;
            case "import":
                NpgsqlBinaryImporter importer =
                    await connection.Unwrap<NpgsqlConnection>().BeginBinaryImportAsync("COPY mark FROM STDIN (FORMAT binary)");
                await importer.StartRowAsync();
                await importer.WriteAsync(1);
                return importer; // neither completed nor cancelled
            default:
                NpgsqlBinaryExporter exporter = await connection.Unwrap<NpgsqlConnection>().BeginBinaryExportAsync(
                    "COPY (SELECT generate_series(1, 1000000)) TO STDOUT (FORMAT binary)");
                await exporter.StartRowAsync();
                return exporter;
        }
    }
}

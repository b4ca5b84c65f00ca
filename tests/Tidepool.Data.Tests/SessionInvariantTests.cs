using System.Data;
using System.Data.Common;
using Npgsql;
using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using static Tidepool.Data.Tests.Support.SessionUse;

namespace Tidepool.Data.Tests;

/// <summary>What a renter leaves on a session is gone when the next one gets it, whatever way it is reset.</summary>
[Collection(PostgresServer.Collection)]
public sealed class SessionInvariantTests(PostgresServer server)
{
    /// <summary>All of <see cref="SessionUse.Ways"/>, and whether the reset may travel with the next statement.</summary>
    public static TheoryData<ResetMode, string, bool, bool> Ways
    {
        get
        {
            var ways = new TheoryData<ResetMode, string, bool, bool>();
            foreach ((ResetMode mode, string use, bool isSync) in SessionUse.Ways)
            {
                ways.Add(mode, use, isSync, false);
                ways.Add(mode, use, isSync, true);
            }

            return ways;
        }
    }

    /// <summary>The provider rewrites a text before it sends it, by the settings that it knows of.</summary>
    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_text_of_the_next_holder_is_not_read_by_the_settings_of_the_one_before(bool isLater)
    {
        await using PooledDbDataSource pool = server.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 1 }, ResetWithNextStatement = isLater });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("SET standard_conforming_strings = off");
        }

        pool.Settle();
        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        await using DbCommand command = next.CreateCommand();
        command.CommandText = @"SELECT 'C:\' || @text || 'x'";
        DbParameter parameter = command.CreateParameter();
        (parameter.ParameterName, parameter.Value) = ("text", "y");
        command.Parameters.Add(parameter);

        Assert.Equal(@"C:\yx", await command.ExecuteScalarAsync());
    }

    [PostgresTheory]
    [MemberData(nameof(Ways))]
    public async Task After_return_a_new_holder_sees_nothing_of_the_one_before(ResetMode mode, string use, bool isSync, bool isLater)
    {
        await server.Cluster.ExecuteAsync("DROP ROLE IF EXISTS guest; CREATE ROLE guest; CREATE SEQUENCE IF NOT EXISTS numbers");
        await using PooledDbDataSource pool = server.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 1, ResetMode = mode }, ResetWithNextStatement = isLater });
        PooledDbConnection connection = await OpenAsync(pool, isSync);
        Use(connection, use);
        int process = connection.Read<int>("SELECT pg_backend_pid()");
        connection.Run("CREATE TEMP TABLE scratch (a int)");
        connection.Run("SET work_mem = '7MB'");
        connection.Run("SET search_path = information_schema");
        connection.Run("LISTEN news");
        connection.Run("SELECT pg_catalog.pg_advisory_lock(42)");
        connection.Run("DECLARE walk CURSOR WITH HOLD FOR SELECT 1");
        connection.Run("PREPARE \"my \"\"plan\" AS SELECT 1");
        connection.Run("SELECT nextval('public.numbers')");
        connection.Run("SET ROLE guest");
        if (!isLater)
        {
            connection.Run("BEGIN"); // by hand: only the server knows
            connection.Run("SET LOCAL TIME ZONE 'Asia/Tokyo'");
        }

        await CloseAsync(connection, isSync);
        connection = await OpenAsync(pool, isSync);
        Assert.Equal(process, connection.Read<int>("SELECT pg_backend_pid()"));
        Assert.Equal("", connection.Read<string>("SELECT coalesce(to_regclass('scratch')::text, '')"));
        Assert.Equal("4MB", connection.Read<string>("SHOW work_mem"));
        Assert.Equal("\"$user\", public", connection.Read<string>("SHOW search_path"));
        Assert.NotEqual("Asia/Tokyo", connection.Read<string>("SHOW TIME ZONE"));
        Assert.Equal(0L, connection.Read<long>("SELECT count(*) FROM pg_listening_channels()"));
        Assert.Equal(0L, connection.Read<long>("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"));
        Assert.Equal(0L, connection.Read<long>("SELECT count(*) FROM pg_cursors WHERE name <> ''"));
        Assert.Equal(0L, connection.Read<long>("SELECT count(*) FROM pg_prepared_statements WHERE from_sql"));
        Assert.Equal(
            "postgres postgres none",
            connection.Read<string>("SELECT current_user || ' ' || session_user || ' ' || current_setting('role')"));
        Assert.Equal("55000", Assert.ThrowsAny<DbException>(() => connection.Read<long>("SELECT currval('numbers')")).SqlState);
        await using (await connection.BeginTransactionAsync())
        {
            // It would be refused while another one is open.
        }

        await CloseAsync(connection, isSync);
    }

    /// <summary>What may be the first thing on a session whose reset waits for it.</summary>
    private static readonly Dictionary<string, Action<PooledDbConnection>> FirstUses = new()
    {
        ["nothing"] = static _ => { },
        ["commit"] = static connection => connection.BeginTransaction().Commit(),
        ["transaction left"] = static connection => connection.BeginTransaction(),
        ["savepoint left"] = static connection => connection.BeginTransaction().Save("here"),
        ["begin by hand"] = static connection => connection.Run("BEGIN"),
        ["error"] = static connection => Assert.ThrowsAny<DbException>(() => connection.Run("SELECT 1 / 0")),
        ["prepare"] = static connection => Use(connection, "prepared"),
        ["batch"] = static connection => Batch(connection, "SELECT 1", "SELECT 2").ExecuteNonQuery(),
        ["batch with an error"] = static connection =>
            Assert.ThrowsAny<DbException>(() => Batch(connection, "SELECT 1", "SELECT 1 / 0").ExecuteNonQuery()),
        ["prepare a batch"] = static connection => Batch(connection, "SELECT 1", "SELECT 2").Prepare(),
        ["reader left"] = static connection => Command(connection, "SELECT generate_series(1, 100000)").ExecuteReader().Read(),
        ["schema only"] = static connection => Command(connection, "SELECT 1").ExecuteReader(CommandBehavior.SchemaOnly).Dispose(),
        ["schema"] = static connection => connection.GetSchema("Tables").Dispose(),
        ["listen"] = static connection => connection.Run("LISTEN news"),
        ["copy in left"] = static connection => connection.Unwrap<NpgsqlConnection>().BeginBinaryImport(CopyIn),
        ["copy in"] = static connection => connection.Unwrap<NpgsqlConnection>().BeginTextImport("COPY copied FROM STDIN").Dispose(),
        ["copy out"] = static connection => connection.Unwrap<NpgsqlConnection>().BeginTextExport(CopyOut).Dispose(),
        ["copy out left"] = static connection => connection.Unwrap<NpgsqlConnection>().BeginTextExport(CopyOut).Read(),
        ["cancelled before"] = static connection => Assert.ThrowsAny<OperationCanceledException>(
            () => Command(connection, "SELECT 1").ExecuteNonQueryAsync(new CancellationToken(canceled: true)).GetAwaiter().GetResult()),
        ["a parameter of no type"] = static connection =>
            Assert.ThrowsAny<Exception>(() => Command(connection, "SELECT @p", new object()).ExecuteNonQuery()),
        ["a parameter that breaks while it is sent"] = static connection => Assert.ThrowsAny<Exception>(
            () => Command(connection, "SELECT @p::bytea", new BrokenStream()).ExecuteNonQuery()),
        ["enlist"] = static connection =>
        {
            using var transaction = new System.Transactions.CommittableTransaction();
            connection.EnlistTransaction(transaction);
            connection.Run("SELECT 1");
            transaction.Rollback();
        },
    };

    private const string CopyIn = "COPY copied FROM STDIN (FORMAT BINARY)";
    private const string CopyOut = "COPY (SELECT generate_series(1, 100000)) TO STDOUT";

    public static TheoryData<string> Firsts => [.. FirstUses.Keys];

    /// <summary>A session costs what it costs where the reset does not wait.</summary>
    [PostgresTheory]
    [MemberData(nameof(Firsts))]
    public async Task A_reset_with_the_next_statement_comes_before_whatever_the_next_holder_does_first(string first)
    {
        Assert.True(NpgsqlPrefix.IsKnown);
        await server.Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS copied (a int)");
        Assert.Equal(await CountSessionsAsync(first, isLater: false), await CountSessionsAsync(first, isLater: true));
    }

    /// <returns>How many sessions two holders and the use between them took.</returns>
    private async Task<long> CountSessionsAsync(string first, bool isLater)
    {
        await using PooledDbDataSource pool = server.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 1, TimeProvider = new StoppedTime() }, ResetWithNextStatement = isLater });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("SET work_mem = '7MB'");
            connection.Run("SELECT pg_catalog.pg_advisory_lock(42)");
        }

        pool.Settle();
        Assert.NotEqual(isLater, await server.Cluster.ReadAsync<bool>("SELECT pg_catalog.pg_try_advisory_lock(42)")); // it waits
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            FirstUses[first](connection);
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal("4MB", next.Read<string>("SHOW work_mem"));
        Assert.Equal(0L, next.Read<long>("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"));
        Assert.Equal(0L, next.Read<long>("SELECT count(*) FROM pg_listening_channels()"));
        return pool.GetStatistics().Created;
    }

    /// <summary>Nothing was sent, so that the reset still waits, also where the holder goes on.</summary>
    [PostgresTheory]
    [InlineData("nothing")]
    [InlineData("cancelled before")]
    [InlineData("error")]
    public async Task A_holder_that_goes_on_after_what_was_first_finds_nothing_of_the_one_before(string first)
    {
        await using PooledDbDataSource pool = server.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 1, TimeProvider = new StoppedTime() }, ResetWithNextStatement = true });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("SET work_mem = '7MB'");
        }

        pool.Settle();
        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        FirstUses[first](next);
        Assert.Equal("4MB", next.Read<string>("SHOW work_mem"));
    }

    private static DbCommand Command(PooledDbConnection connection, string sql, object? value = null)
    {
        DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        if (value is not null)
        {
            DbParameter parameter = command.CreateParameter();
            (parameter.ParameterName, parameter.Value) = ("p", value);
            command.Parameters.Add(parameter);
        }

        return command;
    }

    private static DbBatch Batch(PooledDbConnection connection, params string[] texts)
    {
        DbBatch batch = connection.CreateBatch();
        foreach (string text in texts)
        {
            DbBatchCommand command = batch.CreateBatchCommand();
            command.CommandText = text;
            batch.BatchCommands.Add(command);
        }

        return batch;
    }

    /// <summary>Says that it is long, and gives nothing.</summary>
    private sealed class BrokenStream : MemoryStream
    {
        public override bool CanSeek => true;

        public override long Length => 100_000;

        public override int Read(Span<byte> buffer) => throw new IOException("broken");

        public override int Read(byte[] buffer, int offset, int count) => throw new IOException("broken");

        public override void CopyTo(Stream destination, int bufferSize) => throw new IOException("broken");
    }

    [PostgresFact]
    public async Task Until_a_reset_with_the_next_statement_others_find_what_the_idle_session_keeps()
    {
        await using PooledDbDataSource pool = server.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 1, TimeProvider = new StoppedTime() }, ResetWithNextStatement = true });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("SELECT pg_catalog.pg_advisory_lock(43)");
        }

        pool.Settle();
        Assert.False(await server.Cluster.ReadAsync<bool>("SELECT pg_catalog.pg_try_advisory_lock(43)"));
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("SELECT 1");
        }

        Assert.True(await server.Cluster.ReadAsync<bool>("SELECT pg_catalog.pg_try_advisory_lock(43)"));
    }

    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    [Trait("Category", "Environment")]
    public async Task A_reset_for_which_no_next_statement_comes_is_done_after_a_while(bool isLent)
    {
        await using PooledDbDataSource pool = server.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 1, ValidateAfterIdle = FaultTest.Never }, ResetWithNextStatement = true });
        if (isLent)
        {
            await using DbConnectionLease lease = await pool.RentNativeAsync();
            lease.Connection.Read<object>("SELECT pg_catalog.pg_advisory_lock(44)");
        }
        else
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            connection.Run("SELECT pg_catalog.pg_advisory_lock(44)");
        }

        await FaultTest.UntilAsync(
            () => server.Cluster.ReadAsync<bool>("SELECT pg_catalog.pg_try_advisory_lock(44)"), "the idle session gives its lock back");

        Assert.Equal((1, 1), (pool.GetStatistics().Created, pool.GetStatistics().Total));
    }

    [PostgresTheory]
    [InlineData("plain")]
    [InlineData("prepared")]
    public async Task The_session_user_is_the_first_one_again(string use)
    {
        await server.Cluster.ExecuteAsync("DROP ROLE IF EXISTS visitor; CREATE ROLE visitor SUPERUSER");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            Use(connection, use);
            connection.Run("SET SESSION AUTHORIZATION visitor");
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal("postgres postgres", next.Read<string>("SELECT current_user || ' ' || session_user"));
    }

    [PostgresFact]
    public async Task Statements_that_the_provider_has_prepared_go_on_working_after_the_reset()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        for (int i = 0; i < 3; i++)
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT 40 + 2";
            await command.PrepareAsync();
            Assert.Equal(42, await command.ExecuteScalarAsync());
            Assert.Equal(1L, connection.Read<long>("SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql"));
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [PostgresFact]
    public async Task Automatic_preparation_survives_the_reset()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
        }, ";Max Auto Prepare=5;Auto Prepare Min Usages=2");
        for (int i = 0; i < 10; i++)
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            Assert.Equal(42, connection.Read<int>("SELECT 40 + 2"));
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [PostgresFact]
    public async Task An_aborted_transaction_and_an_aborted_copy_do_not_reach_the_next_holder()
    {
        await server.Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS copied (a int)");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("BEGIN");
            Assert.ThrowsAny<DbException>(() => connection.Run("SELECT 1 / 0"));
        }

        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            Assert.Equal(1, connection.Read<int>("SELECT 1"));
            NpgsqlBinaryImporter import =
                await connection.Unwrap<NpgsqlConnection>().BeginBinaryImportAsync("COPY copied FROM STDIN (FORMAT BINARY)");
            await import.StartRowAsync();
            await import.WriteAsync(1); // and nothing ends it
        }

        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            Assert.Equal(0L, connection.Read<long>("SELECT count(*) FROM copied"));
        }
    }

    [PostgresFact]
    public async Task Without_a_reset_only_the_transaction_is_ended()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ResetMode = ResetMode.None },
        });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("SET work_mem = '7MB'");
            connection.BeginTransaction();
            connection.Run("CREATE TABLE never (a int)");
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal("7MB", next.Read<string>("SHOW work_mem"));
        Assert.Equal("", next.Read<string>("SELECT coalesce(to_regclass('never')::text, '')"));
    }
}

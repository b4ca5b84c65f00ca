using System.Data;
using System.Data.Common;
using MySqlConnector;
using Tidepool.Data.Tests.Support;
using static Tidepool.Data.Tests.Support.SessionUse;

namespace Tidepool.Data.Tests.MySql;

/// <summary>What a renter leaves on a session of MySQL is gone when the next one gets it, whatever way it is reset.</summary>
[Collection(MySqlServer.Collection)]
public sealed class MySqlSessionTests(MySqlServer server)
{
    /// <summary>Leaves a distributed transaction prepared.</summary>
    private const string Xa = "XA START 'held'; INSERT INTO kept VALUES (1); XA END 'held'; XA PREPARE 'held'";

    /// <summary>All of <see cref="SessionUse.Ways"/>.</summary>
    public static TheoryData<ResetMode, string, bool> Ways
    {
        get
        {
            var ways = new TheoryData<ResetMode, string, bool>();
            foreach ((ResetMode mode, string use, bool isSync) in SessionUse.Ways)
            {
                ways.Add(mode, use, isSync);
            }

            return ways;
        }
    }

    [MySqlTheory]
    [MemberData(nameof(Ways))]
    public async Task After_return_a_new_holder_sees_nothing_of_the_one_before(ResetMode mode, string use, bool isSync)
    {
        await server.Server.ExecuteAsync("CREATE TABLE IF NOT EXISTS kept (a int)");
        await using PooledDbDataSource pool = server.NewPool(
            new PooledDbOptions { Pool = new() { MaxSize = 1, ResetMode = mode } }, ";Allow User Variables=true");
        PooledDbConnection connection = await OpenAsync(pool, isSync);
        long session = connection.Read<long>("SELECT CONNECTION_ID()");
        string before = StateOf(connection);
        Use(connection, use);
        foreach (string statement in Leftovers)
        {
            connection.Run(statement);
        }

        Assert.NotEqual(before, StateOf(connection));
        await CloseAsync(connection, isSync);
        connection = await OpenAsync(pool, isSync);

        Assert.Equal(session, connection.Read<long>("SELECT CONNECTION_ID()"));
        Assert.Equal(before, StateOf(connection));
        Assert.Throws<MySqlException>(() => connection.Run("SELECT a FROM scratch"));
        Assert.Throws<MySqlException>(() => connection.Run("EXECUTE plan"));
        Assert.Equal(0, connection.Read<int>("SELECT COUNT(*) FROM kept"));
        await using (await connection.BeginTransactionAsync())
        {
            // It would be refused while another one is open.
        }

        await CloseAsync(connection, isSync);
    }

    [MySqlTheory]
    [InlineData("SET CHARACTER SET latin1", "SELECT @@character_set_client")]
    [InlineData("SET NAMES latin1 COLLATE latin1_general_cs", "SELECT @@collation_connection")]
    [InlineData("SET character_set_results = NULL", "SELECT COALESCE(@@character_set_results, 'none')")]
    [InlineData("SET time_zone = '+05:00'", "SELECT @@time_zone")]
    [InlineData("SET sql_mode = 'ANSI_QUOTES'", "SELECT @@sql_mode")]
    [InlineData("SET autocommit = 0", "SELECT @@autocommit")]
    [InlineData("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SELECT @@tx_isolation")]
    [InlineData("SET SESSION TRANSACTION READ ONLY", "SELECT @@tx_read_only")]
    [InlineData("SET @mine = 7", "SELECT CONVERT(COALESCE(@mine, 'none') USING utf8mb4)")]
    [InlineData("SET timestamp = 1000", "SELECT @@timestamp < 2000")]
    [InlineData("SET last_insert_id = 9", "SELECT LAST_INSERT_ID()")]
    [InlineData("SET insert_id = 9", "SELECT @@insert_id")]
    [InlineData("SET foreign_key_checks = 0", "SELECT @@foreign_key_checks")]
    [InlineData("SET sql_select_limit = 1", "SELECT @@sql_select_limit")]
    [InlineData("SET session_track_schema = 0; USE other", "SELECT DATABASE()")]
    [InlineData("SELECT GET_LOCK('mine', 0)", "SELECT COALESCE(IS_USED_LOCK('mine') = CONNECTION_ID(), 0)")]
    public async Task Each_of_these_is_gone(string left, string question)
    {
        await using PooledDbDataSource pool =
            server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } }, ";Allow User Variables=true");
        string before;
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            before = connection.Read<string>(question);
            connection.Run(left);
            Assert.NotEqual(before, connection.Read<string>(question));
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(before, next.Read<string>(question));
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [MySqlTheory]
    [InlineData("SET ROLE painter", "SELECT COALESCE(CURRENT_ROLE(), 'none')", "none", "")]
    [InlineData("USE other", "SELECT COALESCE(DATABASE(), 'none')", "none", ";Database=")]
    public async Task What_no_reset_takes_back_costs_the_session(string left, string question, string expected, string more)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } }, more);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run(left);
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(expected, next.Read<string>(question));
        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.ResetFailed));
    }

    /// <summary>
    /// MariaDB breaks a session that it resets while a distributed transaction is prepared on it: it refuses each table from then on.
    /// </summary>
    [MySqlTheory]
    [InlineData("plain", Xa)]
    [InlineData("plain", "/*!50000xa start 'held'*/; INSERT INTO kept VALUES (1); XA/**/END 'held'; xa\tprepare 'held'")]
    [InlineData("batch", Xa)]
    [InlineData("lent", Xa)]
    public async Task A_prepared_distributed_transaction_costs_the_session_and_no_other_renter_meets_it(string use, string left)
    {
        await server.Server.ExecuteAsync("CREATE TABLE IF NOT EXISTS kept (a int) ENGINE = InnoDB");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            if (use == "batch")
            {
                await using DbBatch batch = connection.CreateBatch();
                batch.BatchCommands.Add(new MySqlBatchCommand(left));
                await batch.ExecuteNonQueryAsync();
            }
            else
            {
                (use == "lent" ? connection.Unwrap<DbConnection>() : connection).Run(left);
            }
        }

        await using (PooledDbConnection next = await pool.OpenConnectionAsync())
        {
            Assert.Equal(0, next.Read<int>("SELECT COUNT(*) FROM kept"));
        }

        Assert.Equal(1, pool.GetStatistics().GetDestroyed(DestroyReason.ResetFailed));
        await server.Server.ExecuteAsync("XA ROLLBACK 'held'"); // it waits for its coordinator, as it must
    }

    [MySqlFact]
    public async Task A_session_that_the_server_has_broken_costs_one_renter_an_error_and_no_more()
    {
        await server.Server.ExecuteAsync("CREATE TABLE IF NOT EXISTS kept (a int) ENGINE = InnoDB");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("XA START 'held'; INSERT INTO kept VALUES (1); XA END 'held'");
            connection.Run("EXECUTE IMMEDIATE CONCAT('XA PRE', 'PARE ''held''')"); // not seen in the text
        }

        await using (PooledDbConnection next = await pool.OpenConnectionAsync())
        {
            Assert.Equal(1031, Assert.Throws<MySqlException>(() => next.Run("SELECT a FROM kept")).Number);
        }

        await using (PooledDbConnection next = await pool.OpenConnectionAsync())
        {
            Assert.Equal(0, next.Read<int>("SELECT COUNT(*) FROM kept"));
        }

        await server.Server.ExecuteAsync("XA ROLLBACK 'held'");
    }

    [Theory]
    [InlineData("", false)]
    [InlineData("XA START 'x'", false)]
    [InlineData("SELECT taxable, prepared_at FROM exams", false)]
    [InlineData("PREPARE plan FROM 'SELECT xa FROM t'", true)] // at worst it costs a session
    [InlineData("xA\nPrepare 'x'", true)]
    [InlineData("PREPARE plan FROM 'XA", true)]
    public void Texts_that_may_prepare_a_distributed_transaction_are_seen(string text, bool isSeen)
    {
        SessionResidue expected = isSeen ? SessionResidue.Anything : SessionResidue.Objects;
        Assert.Equal(expected, DbAdapter.MySql.FindResidue(text));
    }

    [MySqlTheory]
    [InlineData(false, false, "transaction")]
    [InlineData(true, false, "transaction")]
    [InlineData(false, false, "reader")]
    [InlineData(true, true, "transaction")]
    public async Task What_the_program_leaves_open_on_a_new_session_is_reported_as_its_mistake(bool isSync, bool isKept, string left)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ResetMode = isKept ? ResetMode.None : ResetMode.Background },
            InitializeSession = session =>
            {
                if (left == "transaction")
                {
                    session.BeginTransaction();
                }
                else
                {
                    DbCommand command = session.CreateCommand();
                    command.CommandText = "SELECT 1";
                    command.ExecuteReader();
                }
            },
        });
        PooledDbException failure = await Assert.ThrowsAsync<PooledDbException>(async () => await OpenAsync(pool, isSync));
        Assert.Contains("InitializeSession has left a transaction or a reader open", failure.Message, StringComparison.Ordinal);
    }

    [MySqlTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_the_program_has_made_of_a_new_session_and_a_reset_leaves_stays(bool isSync)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            InitializeSession = static session =>
            {
                session.Run("SET ROLE painter");
                session.Run("SET sql_mode = ''");
                session.Run("USE other");
            },
        });
        string? mode = null;
        for (int i = 0; i < 3; i++)
        {
            PooledDbConnection connection = await OpenAsync(pool, isSync);
            Assert.Equal("painter other", connection.Read<string>("SELECT CONCAT(CURRENT_ROLE(), ' ', DATABASE())"));
            mode ??= connection.Read<string>("SELECT @@sql_mode");
            Assert.NotEqual("", mode); // a setting is undone, for the first renter too
            Assert.Equal(mode, connection.Read<string>("SELECT @@sql_mode"));
            await CloseAsync(connection, isSync);
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [MySqlFact]
    public async Task A_statement_is_prepared_again_after_the_reset_and_the_session_stays()
    {
        Assert.True(MySqlAdapter.UnpreparesSessions);
        Assert.True(MySqlAdapter.SeesEnds);
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        for (int i = 0; i < 3; i++)
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT 40 + 2";
            await command.PrepareAsync();
            Assert.Equal(42L, Convert.ToInt64(await command.ExecuteScalarAsync(), null));
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [MySqlFact]
    public async Task A_transaction_that_a_renter_of_the_providers_connection_left_is_rolled_back_and_its_session_ends()
    {
        await server.Server.ExecuteAsync("CREATE TABLE IF NOT EXISTS kept (a int)");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using (DbConnectionLease lease = await pool.RentNativeAsync())
        {
            DbTransaction left = await lease.Connection.BeginTransactionAsync();
            await using DbCommand command = lease.Connection.CreateCommand();
            (command.CommandText, command.Transaction) = ("INSERT INTO kept VALUES (1)", left);
            await command.ExecuteNonQueryAsync();
        }

        await using (DbConnectionLease lease = await pool.RentNativeAsync())
        {
            lease.Connection.Run("BEGIN");
            lease.Connection.Run("INSERT INTO kept VALUES (2)");
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(0, next.Read<int>("SELECT COUNT(*) FROM kept"));
        Assert.Equal((2L, 1L), (pool.GetStatistics().Created, pool.GetStatistics().Destroyed)); // the second left one that the provider saw
    }

    [MySqlFact]
    public async Task A_lent_connection_that_its_renter_has_closed_and_opened_again_is_not_rented_again()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        for (int i = 0; i < 2; i++)
        {
            await using DbConnectionLease lease = await pool.RentNativeAsync();
            await lease.Connection.CloseAsync();
            await lease.Connection.OpenAsync();
            await using DbCommand command = lease.Connection.CreateCommand();
            command.CommandText = "SELECT 40 + 2";
            await command.PrepareAsync(); // in the second session: it must not be taken for prepared in a third
            Assert.Equal(42L, Convert.ToInt64(await command.ExecuteScalarAsync(), null));
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(42, next.Read<int>("SELECT 40 + 2"));
        Assert.Equal((3L, 2L), (pool.GetStatistics().Created, pool.GetStatistics().GetDestroyed(DestroyReason.Broken)));
    }

    [MySqlFact]
    public async Task Its_own_pool_is_off_also_where_no_connection_string_says_so()
    {
        string text = new MySqlConnectionStringBuilder(server.ConnectionString) { Pooling = true }.ConnectionString;
        await using var pool = new PooledDbDataSource(MySqlConnectorFactory.Instance, MySqlServer.GuestOf(server.Server.ConnectionString));
        Assert.Same(DbAdapter.MySql, pool.Adapter);
        Assert.Contains("Pooling=False", pool.ConnectionString, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("guest;Password", pool.ConnectionString, StringComparison.OrdinalIgnoreCase);
        Assert.StartsWith("127.0.0.1:", pool.Name, StringComparison.Ordinal);
        await using var native = new MySqlDataSource(MySqlServer.GuestOf(server.Server.ConnectionString));
        ArgumentException refusal = Assert.Throws<ArgumentException>(() => new PooledDbDataSource(native));
        Assert.Contains("Pooling=false", refusal.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => new PooledDbDataSource(new MySqlDataSource(text)));
    }

    [MySqlFact]
    public async Task Inside_an_ambient_transaction_it_is_refused_unless_the_connection_string_says_that_it_does_not_join()
    {
        await using PooledDbDataSource joins = server.NewPool();
        await using PooledDbDataSource ignores = server.NewPool(more: ";Auto Enlist=false");
        using var scope = new System.Transactions.TransactionScope(System.Transactions.TransactionScopeAsyncFlowOption.Enabled);
        Assert.Throws<InvalidOperationException>(joins.OpenConnection);
        await (await ignores.OpenConnectionAsync()).DisposeAsync();
    }

    [Fact]
    public async Task Another_provider_is_refused_by_name()
    {
        using var file = new SqliteFile();
        await using PooledDbDataSource pool = file.NewPool(new PooledDbOptions { Adapter = DbAdapter.MySql });
        PooledDbException failure = await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync());
        Assert.Contains("SqliteConnection", failure.GetBaseException().Message, StringComparison.Ordinal);
        Assert.Throws<NotSupportedException>(() => DbAdapter.MySql.Reset(new MySqlConnection(), default));
    }

    [Theory]
    [InlineData(null)]
    [InlineData(nameof(OtherProvider.Reset))]
    [InlineData(nameof(OtherProvider.ResetLater))]
    public void A_version_of_the_provider_without_its_reset_is_refused_with_what_is_missing(string? member)
    {
        NotSupportedException refusal = Assert.Throws<NotSupportedException>(() => MySqlAdapter.BindReset(
            member is null ? null : typeof(OtherProvider).GetMethod(member), new OtherProvider()));
        Assert.Contains("no method ValueTask ResetConnectionAsync(CancellationToken)", refusal.Message, StringComparison.Ordinal);
        Assert.Contains("Tidepool.Data.Tests, Version=", refusal.Message, StringComparison.Ordinal);
    }

    /// <summary>All that a session can keep, in one text.</summary>
    internal const string State =
        """
        SELECT CONVERT(CONCAT_WS(' ', @@character_set_client, @@collation_connection, COALESCE(@@character_set_results, 'none'),
            @@time_zone,
            @@sql_mode, @@autocommit, @@tx_isolation, @@tx_read_only, COALESCE(@mine, 'none'), LAST_INSERT_ID(), @@foreign_key_checks,
            @@timestamp < 2000, DATABASE(), COALESCE(IS_USED_LOCK('mine') = CONNECTION_ID(), 0),
            COALESCE(CURRENT_ROLE(), 'none')) USING utf8mb4)
        """;

    internal static readonly string[] Leftovers =
    [
        "SET NAMES latin1", "SET time_zone = '+05:00'", "SET sql_mode = ''", "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "SET @mine = 7", "SET timestamp = 1000", "SET foreign_key_checks = 0", "CREATE TEMPORARY TABLE scratch (a int)",
        "PREPARE plan FROM 'SELECT 1'", "SELECT GET_LOCK('mine', 0)", "USE other", "SET autocommit = 0",
        "INSERT INTO lab.kept VALUES (1)", "SET last_insert_id = 9",
    ];

    private static string StateOf(DbConnection connection) => connection.Read<string>(State);

    /// <summary>What a provider may have in place of the reset that is looked for.</summary>
    private sealed class OtherProvider
    {
        public void Reset(CancellationToken cancellationToken) => cancellationToken.ThrowIfCancellationRequested();

        public Task ResetLater(CancellationToken cancellationToken) => Task.Delay(0, cancellationToken);
    }
}

using System.Data;
using System.Data.Common;
using System.Transactions;
using Dapper;
using Microsoft.Data.Sqlite;
using MySqlConnector;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>How a data source is made, what it is called, and who can use its connections.</summary>
public sealed class DataSourceTests : IDisposable
{
    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    [Fact]
    public void The_pool_of_the_provider_is_off_and_the_text_shows_no_password()
    {
        using var pool =
            new PooledDbDataSource(NpgsqlFactory.Instance, "Host=db.example;Port=6543;Username=me;Password=secret;Database=shop");
        Assert.DoesNotContain("secret", pool.ConnectionString, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", pool.CreateConnection().ConnectionString, StringComparison.Ordinal);
        Assert.False(new NpgsqlConnectionStringBuilder(pool.ConnectionString).Pooling);
        Assert.StartsWith("db.example:6543/shop", pool.Name, StringComparison.Ordinal);
        Assert.DoesNotContain("me", pool.Name[20..], StringComparison.Ordinal);
        Assert.Same(DbAdapter.Postgres, pool.Adapter);
        using var twin = new PooledDbDataSource(NpgsqlFactory.Instance, "Host=db.example;Port=6543;Database=shop");
        Assert.NotEqual(pool.Name, twin.Name);
        using PooledDbDataSource sqlite = _file.NewPool();
        Assert.Same(DbAdapter.Sqlite, sqlite.Adapter);
        Assert.False(new SqliteConnectionStringBuilder(sqlite.ConnectionString).Pooling);
    }

    [Fact]
    public void An_inner_data_source_that_pools_is_refused()
    {
        using NpgsqlDataSource pooling = NpgsqlDataSource.Create("Host=db.example;Username=me;Password=secret");
        ArgumentException refused = Assert.Throws<ArgumentException>(() => new PooledDbDataSource(pooling));
        Assert.Contains("Pooling=false", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", refused.Message, StringComparison.Ordinal);
        using DbDataSource sqlite = SqliteFactory.Instance.CreateDataSource(_file.ConnectionString);
        Assert.Throws<ArgumentException>(() => new PooledDbDataSource(sqlite));
        using var good = new PooledDbDataSource(SqliteFactory.Instance.CreateDataSource(_file.ConnectionString + ";Pooling=False"));
        Assert.Throws<ArgumentException>(() => new PooledDbDataSource(good));
        using PooledDbConnection connection = good.OpenConnection();
        Assert.Equal(1, connection.Read<int>("SELECT 1"));
    }

    [Theory]
    [InlineData(0, 0, "MaxSize")]
    [InlineData(-1, 5, "MinSize")]
    [InlineData(6, 5, "MinSize")]
    public void Options_out_of_range_are_named(int min, int max, string name)
    {
        ArgumentOutOfRangeException error = Assert.Throws<ArgumentOutOfRangeException>(() => _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MinSize = min, MaxSize = max },
        }));
        Assert.Contains(name, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_huge_largest_size_costs_nothing_and_a_zero_timeout_does_not_wait()
    {
        await using PooledDbDataSource huge = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = int.MaxValue } });
        await (await huge.OpenConnectionAsync()).DisposeAsync();
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, RentTimeout = TimeSpan.Zero },
        });
        await pool.WarmUpAsync(1);
        using PooledDbConnection held = pool.OpenConnection();
        PooledDbException error = Assert.Throws<PooledDbException>(pool.OpenConnection);
        Assert.IsType<ResourcePoolTimeoutException>(error.InnerException);
        Assert.True(error.IsTransient);
        Assert.Contains("MaxSize = 1", error.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<PooledDbException>(async () => await pool.RentNativeAsync());
    }

    [Fact]
    public async Task A_pool_that_was_shut_down_says_so_and_not_that_it_is_transient()
    {
        PooledDbDataSource pool = _file.NewPool();
        PooledDbConnection open = pool.OpenConnection();
        pool.Dispose();
        PooledDbException error = await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync());
        Assert.IsType<ResourcePoolShutdownException>(error.PoolError);
        Assert.False(error.IsTransient);
        Assert.Equal(1, open.Read<int>("SELECT 1"));
        open.Dispose();
        Assert.True(await pool.ShutdownAsync(Sql.Limit));
        Assert.Equal(0, pool.GetStatistics().Total);
    }

    [Fact]
    public async Task A_session_that_cannot_be_opened_fails_with_the_providers_error_inside()
    {
        await using var pool = new PooledDbDataSource(SqliteFactory.Instance, "Data Source=/nowhere/at/all.db", new PooledDbOptions
        {
            Pool = new() { MaxSize = 100, BackoffMax = TimeSpan.FromMilliseconds(200) },
        });
        Assert.IsType<SqliteException>(Assert.Throws<PooledDbException>(pool.OpenConnection).PoolError.InnerException);
        PooledDbException error = await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync());
        Assert.IsType<SqliteException>(error.PoolError.InnerException);
        await Assert.ThrowsAsync<PooledDbException>(() => pool.WarmUpAsync(1));
    }

    /// <summary>A caller would be given it, and each of its statements would fail.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_connection_that_is_closed_after_its_opening_is_a_failed_creation(bool isAsync)
    {
        PooledDbException error = await FailToOpenAsync(new TwoDoorProvider { OpensNothing = true }, isAsync);
        Assert.Contains("has opened a connection that is not open (Closed)", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_connection_that_can_neither_be_opened_nor_disposed_tells_why_it_was_not_opened(bool isAsync)
    {
        PooledDbException error = await FailToOpenAsync(new TwoDoorProvider { FailAt = 1, CannotDispose = true }, isAsync);
        Assert.Equal("open failed", error.GetBaseException().Message);
    }

    private static async Task<PooledDbException> FailToOpenAsync(TwoDoorProvider provider, bool isAsync)
    {
        await using var pool = new PooledDbDataSource(provider, "Server=nowhere", new PooledDbOptions { Adapter = DbAdapter.Generic });
        return isAsync
            ? await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync())
            : Assert.Throws<PooledDbException>(pool.OpenConnection);
    }

    /// <summary>
    /// What the pool gives up after <see cref="ResourcePoolOptions.CreateTimeout"/> the provider need not try for longer: a caller that
    /// blocks would wait for it.
    /// </summary>
    [Theory]
    [InlineData("", 60_000, 15)]
    [InlineData("", 2_500, 3)]
    [InlineData("", 1, 1)]
    [InlineData("0", 2_500, 3)]
    [InlineData("2", 60_000, 2)]
    [InlineData("0", 3_600_000, 1024)]
    [InlineData("0", -1, 0)]
    [InlineData("20", -1, 20)]
    public void An_opening_takes_no_longer_than_a_creation(string seconds, int createMilliseconds, int expected)
    {
        var options = new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, CreateTimeout = TimeSpan.FromMilliseconds(createMilliseconds) },
        };
        foreach ((DbProviderFactory factory, string word) in new (DbProviderFactory, string)[]
        {
            (NpgsqlFactory.Instance, "Timeout"),
            (MySqlConnectorFactory.Instance, "Connection Timeout"),
        })
        {
            string text = seconds.Length == 0 ? "Host=nowhere" : $"Host=nowhere;{word}={seconds}";
            using var pool = new PooledDbDataSource(factory, text, options);
            using DbConnection native = pool.Inner.CreateConnection();
            Assert.Equal(expected, native.ConnectionTimeout);
            Assert.Equal(seconds.Length > 0, pool.ConnectionString.Contains($"Timeout={seconds}", StringComparison.Ordinal));
        }
    }

    [Fact]
    public void A_key_among_the_parameters_of_a_file_name_is_shown_nowhere()
    {
        string file = "file:" + _file.Path;
        using var pool =
            new PooledDbDataSource(SqliteFactory.Instance, $"Data Source={file}?mode=rwc&hexkey=5ec7e7&cache=private&KEY=secret");
        using PooledDbConnection connection = pool.OpenConnection();
        Assert.Equal(1, connection.Read<int>("SELECT 1"));
        Assert.StartsWith(file, pool.Name, StringComparison.Ordinal);
        foreach (string shown in new[] { pool.Name, pool.ConnectionString, connection.ConnectionString })
        {
            Assert.DoesNotContain("5ec7e7", shown, StringComparison.Ordinal);
            Assert.DoesNotContain("secret", shown, StringComparison.Ordinal);
        }

        // What says which file it is stays.
        Assert.Contains(file + "?mode=rwc&cache=private", pool.ConnectionString, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_ambient_transaction_is_refused_by_its_name()
    {
        await using var pool = new PooledDbDataSource(NpgsqlFactory.Instance, "Host=db.example", new PooledDbOptions
        {
            Pool = new() { MaxSize = 100, RentTimeout = TimeSpan.Zero },
        });
        using var scope = new TransactionScope(TransactionScopeAsyncFlowOption.Enabled);
        string name = Transaction.Current!.TransactionInformation.LocalIdentifier;
        InvalidOperationException[] refusals =
        [
            Assert.Throws<InvalidOperationException>(pool.OpenConnection),
            await Assert.ThrowsAsync<InvalidOperationException>(async () => await pool.OpenConnectionAsync()),
            Assert.Throws<InvalidOperationException>(() => pool.RentNative()),
            await Assert.ThrowsAsync<InvalidOperationException>(async () => await pool.RentNativeAsync()),
            Assert.Throws<InvalidOperationException>(pool.CreateConnection().Open),
            await Assert.ThrowsAsync<InvalidOperationException>(() => pool.CreateConnection().OpenAsync()),
        ];
        Assert.All(refusals, refusal =>
        {
            Assert.Contains(name, refusal.Message, StringComparison.Ordinal);
            Assert.Contains("Enlist=false", refusal.Message, StringComparison.Ordinal);
        });
        await using var ignoring = new PooledDbDataSource(NpgsqlFactory.Instance, "Host=db.example;Enlist=false", new PooledDbOptions
        {
            Pool = new() { MaxSize = 100, RentTimeout = TimeSpan.Zero },
        });
        Assert.Throws<PooledDbException>(ignoring.OpenConnection);
        await using var told = new PooledDbDataSource(NpgsqlFactory.Instance, "Host=db.example", new PooledDbOptions
        {
            Pool = new() { MaxSize = 100, RentTimeout = TimeSpan.Zero },
            IgnoreAmbientTransactions = true,
        });
        Assert.Throws<PooledDbException>(told.OpenConnection);
        await using PooledDbDataSource sqlite = _file.NewPool(); // the provider never takes part
        using PooledDbConnection connection = sqlite.OpenConnection();
    }

    [Theory]
    [InlineData(TransactionScopeAsyncFlowOption.Enabled)]
    [InlineData(TransactionScopeAsyncFlowOption.Suppress)]
    public void A_caller_that_opens_a_session_keeps_its_ambient_transaction_as_it_was(TransactionScopeAsyncFlowOption flow)
    {
        using var left = new CommittableTransaction();
        Transaction? inSession = null;
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            InitializeSession = _ =>
            {
                inSession = Transaction.Current;
                Transaction.Current = left; // which ends with the initialization
            },
        });
        Transaction? onAnotherThread = null;
        using (var scope = new TransactionScope(flow))
        {
            Transaction ambient = Transaction.Current!;
            pool.OpenConnection().Dispose();
            Assert.Same(ambient, Transaction.Current);
            Task.Factory.StartNew(
                () => onAnotherThread = Transaction.Current,
                CancellationToken.None,
                TaskCreationOptions.LongRunning,
                TaskScheduler.Default).Wait();
            Assert.Same(flow == TransactionScopeAsyncFlowOption.Enabled ? ambient : null, onAnotherThread);
        }

        Assert.Null(Transaction.Current);
        Assert.Null(inSession);
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Fact]
    public void A_thread_on_which_a_session_was_opened_keeps_nothing_of_the_callers_ambient_transaction()
    {
        using PooledDbDataSource pool = _file.NewPool();
        TransactionScope? scope = null;
        ExecutionContext? inside = null;
        ExecutionContext.Run(
            ExecutionContext.Capture()!,
            _ =>
            {
                scope = new TransactionScope(TransactionScopeAsyncFlowOption.Enabled);
                pool.OpenConnection().Dispose();
                inside = ExecutionContext.Capture();
            },
            null);
        Transaction? left = Transaction.Current;
        ExecutionContext.Run(inside!, _ => scope!.Dispose(), null);
        Assert.Null(left);
    }

    [Fact]
    public async Task Dapper_works_on_pooled_connections()
    {
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 } });
        await using PooledDbConnection connection = pool.CreateConnection(); // Dapper opens and closes it
        await connection.ExecuteAsync("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)");
        Assert.Equal(
            3,
            await connection.ExecuteAsync(
                "INSERT INTO people (name) VALUES (@Name)",
                new[] { new { Name = "Ann" }, new { Name = "Bob" }, new { Name = "Cy" } }));
        Assert.Equal(ConnectionState.Closed, connection.State);
        IEnumerable<Person> people = await connection.QueryAsync<Person>(
            "SELECT id, name FROM people WHERE id > @Least ORDER BY id", new { Least = 1 });
        Assert.Equal([new Person(2, "Bob"), new Person(3, "Cy")], people);
        using (SqlMapper.GridReader grid = await connection.QueryMultipleAsync("SELECT count(*) FROM people; SELECT name "
            + "FROM people WHERE id = 1"))
        {
            Assert.Equal(3, await grid.ReadSingleAsync<int>());
            Assert.Equal("Ann", await grid.ReadSingleAsync<string>());
        }

        await connection.OpenAsync();
        await using (DbTransaction transaction = await connection.BeginTransactionAsync())
        {
            await connection.ExecuteAsync("DELETE FROM people", transaction: transaction);
            await transaction.RollbackAsync();
        }

        Assert.Equal(3, connection.ExecuteScalar<int>("SELECT count(*) FROM people"));
        Assert.Equal(["Ann", "Bob", "Cy"], connection.Query<string>("SELECT name FROM people", buffered: false));
        await connection.CloseAsync();
        pool.Settle();
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Fact]
    public void Code_that_knows_only_factories_gets_pooled_objects()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        using PooledDbConnection connection = pool.OpenConnection();
        connection.Run("CREATE TABLE t (a, b)");
        connection.Run("INSERT INTO t VALUES (1, 'x')");
        DbProviderFactory factory = DbProviderFactories.GetFactory(connection)!;
        using DbCommand command = factory.CreateCommand()!;
        command.CommandText = "SELECT * FROM t WHERE a = @a";
        DbParameter parameter = factory.CreateParameter()!;
        (parameter.ParameterName, parameter.Value) = ("@a", 1);
        command.Parameters.Add(parameter);
        command.Connection = connection;
        using DbDataAdapter adapter = factory.CreateDataAdapter()!;
        adapter.SelectCommand = command;
        using var table = new DataTable();
        Assert.Equal(1, adapter.Fill(table));
        Assert.Equal("x", table.Rows[0]["b"]);
        using DbConnection other = factory.CreateConnection()!;
        Assert.IsType<PooledDbConnection>(other);
        using DbCommand direct = pool.CreateCommand("SELECT count(*) FROM t");
        connection.Close();
        Assert.Equal(1L, direct.ExecuteScalar());
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void Foreign_connections_and_connection_strings_are_refused()
    {
        using PooledDbDataSource pool = _file.NewPool();
        using PooledDbConnection connection = pool.OpenConnection();
        using SqliteConnection bare = _file.OpenBare();
        using DbCommand command = connection.CreateCommand();
        Assert.Throws<InvalidCastException>(() => command.Connection = bare);
        Assert.Throws<NotSupportedException>(() => connection.ConnectionString = "Data Source=elsewhere");
        connection.ConnectionString = connection.ConnectionString;
        Assert.Throws<InvalidCastException>(() => connection.Unwrap<NpgsqlConnection>());
        Assert.NotNull(connection.Unwrap<SqliteConnection>());
        connection.Close();
        Assert.Throws<InvalidOperationException>(() => connection.Unwrap<SqliteConnection>());
    }

    [Fact]
    public void Synchronous_opening_needs_no_thread_of_the_pool()
    {
        int asked = 0;
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1, Executor = _ => asked++ } });
        for (int i = 0; i < 3; i++)
        {
            using PooledDbConnection connection = pool.OpenConnection();
            Assert.Equal(1, connection.Read<int>("SELECT 1"));
        }

        Assert.Equal(0, asked);
    }

    private sealed record Person(long Id, string Name);
}

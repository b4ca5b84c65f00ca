using System.Data;
using System.Data.Common;
using Microsoft.Data.Sqlite;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>What a program makes of each new session is there for all its renters, and the same for each.</summary>
[Collection(PostgresServer.Collection)]
public sealed class SessionInitializationTests(PostgresServer server) : IDisposable
{
    private readonly SqliteFile _file = new();

    public void Dispose() => _file.Dispose();

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task Settings_functions_and_attached_databases_are_there_for_each_holder_of_one_session(bool isAsync, bool hasAsync)
    {
        using var archive = new SqliteFile();
        using (SqliteConnection bare = archive.OpenBare())
        {
            bare.Run("CREATE TABLE old (a)");
        }

        int calls = 0;
        int asyncCalls = 0;
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            InitializeSession = native =>
            {
                calls++;
                Initialize(native);
            },
            InitializeSessionAsync = !hasAsync ? null : async (native, cancellation) =>
            {
                Assert.True(cancellation.CanBeCanceled);
                await Task.Yield();
                asyncCalls++;
                Initialize(native);
            },
        });
        for (int i = 0; i < 5; i++)
        {
            await using PooledDbConnection connection = isAsync ? await pool.OpenConnectionAsync() : pool.OpenConnection();
            Assert.Equal(7, connection.Read<int>("PRAGMA cache_size"));
            Assert.Equal(8, connection.Read<int>("SELECT twice(4)"));
            Assert.Equal(i, connection.Read<int>("SELECT count(*) FROM archive.old"));
            connection.Run("INSERT INTO archive.old VALUES (1)");
            connection.Run("CREATE TEMP TABLE scratch (a); ATTACH ':memory:' AS other");
        }

        Assert.Equal(1, pool.GetStatistics().Created);
        Assert.Equal(isAsync && hasAsync ? (0, 1) : (1, 0), (calls, asyncCalls));

        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("PRAGMA cache_size = 9"); // ends the session; the next one is made ready too
        }

        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            Assert.Equal(7, connection.Read<int>("PRAGMA cache_size"));
        }

        Assert.Equal(2, pool.GetStatistics().Created);

        void Initialize(DbConnection native)
        {
            Assert.Equal(ConnectionState.Open, native.State);
            native.Run($"PRAGMA cache_size = 7; ATTACH '{archive.Path}' AS archive");
            ((SqliteConnection)native).CreateFunction("twice", static (long x) => 2 * x);
        }
    }

    [Theory]
    [InlineData("DETACH archive")]
    [InlineData("DETACH archive; ATTACH ':memory:' AS archive")]
    public void A_session_whose_attached_database_was_taken_away_or_replaced_is_ended(string change)
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            InitializeSession = static native => native.Run("ATTACH ':memory:' AS archive; CREATE TABLE archive.old AS SELECT 7 AS a"),
        });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run(change);
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(7, next.Read<int>("SELECT a FROM archive.old"));
        Assert.Equal(2, pool.GetStatistics().Created);
    }

    [Fact]
    public void A_session_that_only_reads_is_used_again_whatever_words_it_reads()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            InitializeSession = static native => native.Run("PRAGMA query_only = 1"),
        });
        for (int i = 0; i < 3; i++)
        {
            using PooledDbConnection connection = pool.OpenConnection();
            Assert.Equal("abc", connection.Read<string>("SELECT replace('abd', 'd', 'c')"));
        }

        Assert.Equal(1, pool.GetStatistics().Created);
        using PooledDbConnection last = pool.OpenConnection();
        Assert.Throws<SqliteException>(() => last.Run("CREATE TABLE t (a)"));
    }

    [Fact]
    public void Functions_of_SQLite_that_the_program_replaces_do_not_keep_the_reset_from_its_work()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            InitializeSession = static native =>
                ((SqliteConnection)native).CreateFunction("replace", static (string a, string b, string c) => "nothing"),
        });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run("CREATE TEMP TABLE scratch (a)");
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(0, next.Read<int>("SELECT count(*) FROM sqlite_temp_master"));
        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_file_that_is_held_is_waited_for_as_long_as_the_connection_string_says(bool isAsync)
    {
        using SqliteConnection holder = _file.OpenBare();
        holder.Run("CREATE TABLE t (a); BEGIN EXCLUSIVE");
        using var pool = new PooledDbDataSource(
            SqliteFactory.Instance, _file.ConnectionString + ";Default Timeout=60", new PooledDbOptions
            {
                Pool = new() { MaxSize = 1, CreateTimeout = TimeSpan.FromMinutes(2) },
                InitializeSession = static _ => { },
            });
        Task release = Task.Run(async () =>
        {
            await Task.Delay(1500); // longer than a reset has patience
            holder.Run("ROLLBACK");
        });
        using PooledDbConnection connection = isAsync ? await pool.OpenConnectionAsync() : await Task.Run(pool.OpenConnection);
        await release;
        Assert.Equal(0, connection.Read<int>("SELECT count(*) FROM t"));
    }

    /// <summary>A transaction that no renter of the session knows of would swallow what they write.</summary>
    [Theory]
    [InlineData("text", false, ResetMode.Background, false)]
    [InlineData("provider", false, ResetMode.Background, false)]
    [InlineData("text", true, ResetMode.Background, false)]
    [InlineData("provider", true, ResetMode.Background, false)]
    [InlineData("text", false, ResetMode.None, false)]
    [InlineData("provider", false, ResetMode.None, false)]
    [InlineData("text", true, ResetMode.None, false)]
    [InlineData("text", false, ResetMode.Background, true)]
    [InlineData("text", true, ResetMode.Background, true)]
    [InlineData("text", true, ResetMode.None, true)]
    public async Task A_transaction_that_was_left_open_is_ended_or_refused(string way, bool isGeneric, ResetMode mode, bool isAsync)
    {
        bool leaves = true;
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ResetMode = mode, BackoffMin = TimeSpan.FromMilliseconds(1) },
            Adapter = isGeneric ? DbAdapter.Generic : null,
            InitializeSession = native =>
            {
                if (way == "provider" && leaves)
                {
                    native.BeginTransaction();
                }
                else if (leaves)
                {
                    native.Run("BEGIN");
                }
            },
        });
        Exception? refusal = await Record.ExceptionAsync(async () => await UseAsync());
        bool isEnded = way == "text" && !isGeneric && mode == ResetMode.Background;
        if (!isEnded)
        {
            Assert.IsType<PooledDbException>(refusal);
            Assert.Contains(nameof(PooledDbOptions.InitializeSession), refusal.Message, StringComparison.Ordinal);
            Assert.Contains("left", refusal.Message, StringComparison.Ordinal);
            leaves = false;
            refusal = await Record.ExceptionAsync(async () => await UseAsync());
        }

        Assert.Null(refusal);

        async Task UseAsync()
        {
            await using PooledDbConnection connection = isAsync ? await pool.OpenConnectionAsync() : pool.OpenConnection();
            connection.Run("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
            using SqliteConnection other = _file.OpenBare();
            Assert.Equal(1, other.Read<int>("SELECT count(*) FROM t"));
        }
    }

    [Fact]
    public void What_a_reset_undoes_is_not_there_for_the_first_holder_either()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            InitializeSession = static native => native.Run("CREATE TEMP TABLE scratch (a)"),
        });
        for (int i = 0; i < 2; i++)
        {
            using PooledDbConnection connection = pool.OpenConnection();
            Assert.Throws<SqliteException>(() => connection.Run("SELECT * FROM scratch"));
        }

        using PooledDbDataSource lasting = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, ResetMode = ResetMode.None },
            InitializeSession = static native => native.Run("CREATE TEMP TABLE scratch (a)"),
        });
        for (int i = 0; i < 2; i++)
        {
            using PooledDbConnection connection = lasting.OpenConnection();
            Assert.Equal(i, connection.Read<int>("SELECT count(*) FROM scratch"));
            connection.Run("INSERT INTO scratch VALUES (1)");
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_fails_is_a_failed_creation_and_leaves_no_connection_open(bool isAsync)
    {
        List<DbConnection> seen = [];
        string? fault = "throw";
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1, BackoffMin = TimeSpan.FromMilliseconds(1), BackoffMax = TimeSpan.FromMilliseconds(1) },
            InitializeSession = native =>
            {
                seen.Add(native);
                switch (fault)
                {
                    case "throw":
                        throw new InvalidDataException("not ready");
                    case "unsupported":
                        throw new NotSupportedException("not here");
                    case "close":
                        native.Close();
                        break;
                    case "spoil":
                        native.Run("CREATE TEMP TABLE scratch (a INTEGER PRIMARY KEY AUTOINCREMENT)");
                        break;
                    default:
                        break;
                }
            },
        });
        Assert.IsType<InvalidDataException>(
            (await FailAsync("InitializeSession has failed: InvalidDataException: not ready")).GetBaseException());
        fault = "unsupported";
        Assert.IsType<NotSupportedException>((await FailAsync("not here")).GetBaseException());
        fault = "close";
        await FailAsync("InitializeSession has closed the connection");
        fault = "spoil";
        await FailAsync("InitializeSession has left what a reset cannot undo");
        Assert.Equal(4, pool.GetStatistics().CreateFailures);
        Assert.All(seen, static native => Assert.Equal(ConnectionState.Closed, native.State));

        fault = null;
        await using PooledDbConnection connection = isAsync ? await pool.OpenConnectionAsync() : pool.OpenConnection();
        Assert.Equal(1, connection.Read<int>("SELECT 1"));

        async Task<PooledDbException> FailAsync(string message)
        {
            PooledDbException error = isAsync
                ? await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync())
                : Assert.Throws<PooledDbException>(pool.OpenConnection);
            Assert.Contains(message, error.Message, StringComparison.Ordinal);
            return error;
        }
    }

    [Fact]
    public async Task One_that_returns_no_task_is_named()
    {
        await using PooledDbDataSource pool = _file.NewPool(
            new PooledDbOptions { InitializeSession = static _ => { }, InitializeSessionAsync = static (_, _) => null! });
        PooledDbException error = await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync());
        Assert.Contains("InitializeSessionAsync has failed", error.Message, StringComparison.Ordinal);
        Assert.Contains("null instead of a task", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    [Trait("Category", "Environment")]
    public async Task One_that_takes_too_long_is_cancelled_and_gives_its_place_back()
    {
        int calls = 0;
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            Pool = new()
            {
                MaxSize = 1,
                CreateTimeout = TimeSpan.FromSeconds(2), // for the second one too
                BackoffMin = TimeSpan.FromMilliseconds(1),
            },
            InitializeSession = static _ => { },
            InitializeSessionAsync = (_, cancellation) =>
                Interlocked.Increment(ref calls) == 1 ? Task.Delay(Timeout.InfiniteTimeSpan, cancellation) : Task.CompletedTask,
        });
        await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync());
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        Assert.Equal(2, calls);
        pool.Validate();
    }

    [Fact]
    public void One_for_callers_that_await_alone_is_refused()
    {
        ArgumentException refused = Assert.Throws<ArgumentException>(
            () => _file.NewPool(new PooledDbOptions { InitializeSessionAsync = static (_, _) => Task.CompletedTask }));
        Assert.Contains(nameof(PooledDbOptions.InitializeSession), refused.Message, StringComparison.Ordinal);
    }

    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_server_that_ends_a_new_session_is_not_taken_for_a_fault_of_the_program(bool isAsync)
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            InitializeSession = native =>
            {
                using var other = new NpgsqlConnection(server.ConnectionString);
                other.Open();
                string self = $"FROM pg_stat_activity WHERE pid = {((NpgsqlConnection)native).ProcessID}";
                other.Run($"SELECT pg_terminate_backend(pid) {self}");
                Sql.Until(() => other.Read<long>($"SELECT count(*) {self}") == 0, "the session to be gone");
            },
        });
        PooledDbException error = isAsync
            ? await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync())
            : Assert.Throws<PooledDbException>(pool.OpenConnection);
        Assert.Equal("57P01", error.SqlState);
        Assert.DoesNotContain(nameof(PooledDbOptions.InitializeSession), error.Message, StringComparison.Ordinal);
    }

    [PostgresFact]
    public async Task A_refused_password_is_one_of_the_server_and_not_of_a_statement()
    {
        int calls = 0;
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 4, MaxCreateConcurrency = 1, BackoffMin = TimeSpan.FromMilliseconds(50) },
            InitializeSession = native =>
            {
                if (Interlocked.Increment(ref calls) == 1)
                {
                    native.Run("DO $$ BEGIN RAISE EXCEPTION 'a partner said no' USING ERRCODE = '28000'; END $$");
                }
            },
        });
        Exception?[] outcomes = await Task.WhenAll(
            Enumerable.Range(0, 4).Select(_ => Record.ExceptionAsync(async () => await (await pool.OpenConnectionAsync()).DisposeAsync())));
        PooledDbException failure = Assert.IsType<PooledDbException>(Assert.Single(outcomes, static o => o is not null));
        Assert.Equal("28000", failure.SqlState);
    }

    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task On_PostgreSQL_prepared_statements_stay_and_settings_are_those_of_the_connection_string(bool isAsync)
    {
        NpgsqlCommand? prepared = null;
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            InitializeSession = native =>
            {
                native.Run("SET work_mem = '7MB'");
                prepared = ((NpgsqlConnection)native).CreateCommand();
                prepared.CommandText = "SELECT 41 + 1";
                prepared.Prepare();
            },
        });
        for (int i = 0; i < 3; i++)
        {
            await using PooledDbConnection connection = isAsync ? await pool.OpenConnectionAsync() : pool.OpenConnection();
            Assert.Equal("4MB", connection.Read<string>("SHOW work_mem"));
            Assert.Equal(1L, connection.Read<long>("SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT 41 + 1'"));
            Assert.Equal(42, connection.Read<int>("SELECT 41 + 1"));
        }

        Assert.Equal(1, pool.GetStatistics().Created);
        Assert.True(prepared!.IsPrepared);
    }
}

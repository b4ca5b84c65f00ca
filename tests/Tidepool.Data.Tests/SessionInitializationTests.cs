using System.Data;
using System.Data.Common;
using Microsoft.Data.Sqlite;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>What a program makes of each new session is there for everybody who rents it, and the same for all of them.</summary>
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
            MaxSize = 1,
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
        using var archive = new SqliteFile();
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            MaxSize = 1,
            InitializeSession = native => native.Run($"ATTACH '{archive.Path}' AS archive"),
        });
        using (PooledDbConnection connection = pool.OpenConnection())
        {
            connection.Run(change);
        }

        using PooledDbConnection next = pool.OpenConnection();
        Assert.Equal(archive.Path, next.Read<string>("SELECT file FROM pragma_database_list WHERE name = 'archive'"));
        Assert.Equal(2, pool.GetStatistics().Created);
    }

    [Fact]
    public void What_a_reset_undoes_is_not_there_for_the_first_holder_either()
    {
        using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions { MaxSize = 1, InitializeSession = static native => native.Run("CREATE TEMP TABLE scratch (a)") });
        for (int i = 0; i < 2; i++)
        {
            using PooledDbConnection connection = pool.OpenConnection();
            Assert.Throws<SqliteException>(() => connection.Run("SELECT * FROM scratch"));
        }

        using PooledDbDataSource lasting = _file.NewPool(new PooledDbOptions
        {
            MaxSize = 1,
            ResetMode = ResetMode.None,
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
            MaxSize = 1,
            BackoffMin = TimeSpan.FromMilliseconds(1),
            BackoffMax = TimeSpan.FromMilliseconds(1),
            InitializeSession = native =>
            {
                seen.Add(native);
                switch (fault)
                {
                    case "throw":
                        throw new InvalidDataException("not ready");
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
        Assert.Equal("not ready", (await FailAsync<InvalidDataException>()).Message);
        fault = "close";
        Assert.Contains("closed", (await FailAsync<InvalidOperationException>()).Message, StringComparison.Ordinal);
        fault = "spoil";
        Assert.Contains("reset", (await FailAsync<InvalidOperationException>()).Message, StringComparison.Ordinal);
        Assert.All(seen, static native => Assert.Equal(ConnectionState.Closed, native.State));

        fault = null;
        await using PooledDbConnection connection = isAsync ? await pool.OpenConnectionAsync() : pool.OpenConnection();
        Assert.Equal(1, connection.Read<int>("SELECT 1"));

        async Task<T> FailAsync<T>()
            where T : Exception
        {
            PooledDbException error = isAsync
                ? await Assert.ThrowsAsync<PooledDbException>(async () => await pool.OpenConnectionAsync())
                : Assert.Throws<PooledDbException>(pool.OpenConnection);
            return Assert.IsType<T>(error.GetBaseException());
        }
    }

    [Fact]
    public async Task One_that_takes_too_long_is_cancelled_and_gives_its_place_back()
    {
        int calls = 0;
        await using PooledDbDataSource pool = _file.NewPool(new PooledDbOptions
        {
            MaxSize = 1,
            CreateTimeout = TimeSpan.FromMilliseconds(50),
            BackoffMin = TimeSpan.FromMilliseconds(1),
            InitializeSession = static _ => { },
            InitializeSessionAsync = (_, cancellation) => Interlocked.Increment(ref calls) == 1 ? Task.Delay(Timeout.InfiniteTimeSpan, cancellation) : Task.CompletedTask,
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
    public async Task On_PostgreSQL_prepared_statements_stay_and_settings_are_those_of_the_connection_string(bool isAsync)
    {
        NpgsqlCommand? prepared = null;
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            MaxSize = 1,
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

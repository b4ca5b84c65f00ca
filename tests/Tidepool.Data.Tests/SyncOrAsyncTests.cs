using System.Data.Common;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>
/// What is written once for synchronous and asynchronous callers does the same for both, and calls the provider through the caller's own
/// door: the same scenario through both, without a failure and with one at each call of the provider.
/// </summary>
public sealed class SyncOrAsyncTests
{
    /// <summary>A wrong statement, a lost session, a server that goes down, one that only reads.</summary>
    [Theory]
    [InlineData("42601")]
    [InlineData("08006")]
    [InlineData("57P01")]
    [InlineData("25006")]
    public async Task Both_doors_give_the_same_results_and_errors_at_each_call_of_the_provider(string sqlState)
    {
        foreach (DbAdapter adapter in new[] { DbAdapter.Postgres, DbAdapter.Generic })
        {
            foreach (ResetMode mode in new[] { ResetMode.OnRent, ResetMode.OnReturn, ResetMode.None })
            {
                int calls = await CompareAsync(adapter, mode, failAt: 0, sqlState);
                for (int failAt = 1; failAt <= calls; failAt++)
                {
                    await CompareAsync(adapter, mode, failAt, sqlState);
                }
            }
        }
    }

    /// <returns>How many calls the provider saw.</returns>
    private static async Task<int> CompareAsync(DbAdapter adapter, ResetMode mode, int failAt, string sqlState)
    {
        var sync = new TwoDoorProvider { FailAt = failAt, SqlState = sqlState };
        var async = new TwoDoorProvider { FailAt = failAt, SqlState = sqlState };
        List<string> expected = await new Play(isAsync: false).RunAsync(sync, adapter, mode);
        List<string> actual = await new Play(isAsync: true).RunAsync(async, adapter, mode);
        string place = $"{adapter.GetType().Name}, {mode}, failing at {failAt} ({string.Join("", sync.Calls.Skip(failAt - 1).Take(1))})";
        Assert.True(sync.AsyncCalls == 0, $"{place}: a synchronous caller has called\n{string.Join('\n', sync.Calls)}");
        Assert.True(async.AsyncCalls == async.Calls.Count, $"{place}: an asynchronous caller has called\n{string.Join('\n', async.Calls)}");
        AssertSame(place, expected, actual);
        AssertSame(place, sync.Names, async.Names);
        Assert.Equal((0, 0), (sync.Open, async.Open));
        return sync.Calls.Count;
    }

    private static void AssertSame(string place, List<string> sync, List<string> async) => Assert.True(
        sync.SequenceEqual(async), $"{place}\nsync:\n{string.Join('\n', sync)}\nasync:\n{string.Join('\n', async)}");

    /// <summary>One run of the scenario through one door, and what it said.</summary>
    private sealed class Play(bool isAsync)
    {
        private readonly List<string> _told = [];

        /// <summary>
        /// Rents a session three times, and leaves a transaction and a reader on it; prepared statements and nothing else; a transaction.
        /// </summary>
        internal async Task<List<string>> RunAsync(TwoDoorProvider provider, DbAdapter adapter, ResetMode mode)
        {
            var pool = new PooledDbDataSource(provider, "Server=nowhere", Options(adapter, mode));
            await using (pool)
            {
                PooledDbConnection connection = pool.CreateConnection();
                using DbCommand command = connection.CreateCommand();
                command.CommandText = "SELECT";
                for (int turn = 0; turn < 3; turn++)
                {
                    await UseAsync(connection, command, turn);
                    await DoAsync("close", connection.Close, connection.CloseAsync);
                    pool.Settle();
                    _told.Add(Counters(pool));
                }

                await DoAsync("dispose", connection.Dispose, () => connection.DisposeAsync().AsTask());
            }

            _told.Add(Counters(pool));
            return _told;
        }

        private static PooledDbOptions Options(DbAdapter adapter, ResetMode mode) => new()
        {
            Adapter = adapter,
            Pool = new()
            {
                MaxSize = 1,
                ResetMode = mode,
                ValidateAfterIdle = TimeSpan.Zero,
                BackoffMin = TimeSpan.FromMilliseconds(1),
                BackoffMax = TimeSpan.FromMilliseconds(1),
                PolicyTimeout = Sql.Limit,
                CreateTimeout = Sql.Limit,
                RentTimeout = Sql.Limit,
            },
            InitializeSession = static native => native.Run("INITIALIZE"),
            InitializeSessionAsync = static async (native, token) =>
            {
                using DbCommand command = native.CreateCommand();
                command.CommandText = "INITIALIZE";
                await command.ExecuteNonQueryAsync(token);
            },
        };

        private static string Counters(PooledDbDataSource pool)
        {
            ResourcePoolStatistics s = pool.GetStatistics();
            return $"rented {s.Rented}, returned {s.Returned}, created {s.Created}, failed {s.CreateFailures}, destroyed {s.Destroyed}, "
                + $"idle {s.Idle}, leased {s.Leased}, waiting {s.Waiting}, timed out {s.TimedOut}, stale {s.StaleDisposes}";
        }

        private async Task UseAsync(PooledDbConnection connection, DbCommand command, int turn)
        {
            await DoAsync("open", connection.Open, () => connection.OpenAsync());
            DbTransaction? transaction = null;
            await DoAsync(
                "begin",
                () => transaction = connection.BeginTransaction(),
                async () => transaction = await connection.BeginTransactionAsync());
            await DoAsync("execute", () => command.ExecuteNonQuery(), async () => await command.ExecuteNonQueryAsync());
            await DoAsync("scalar", () => command.ExecuteScalar(), async () => await command.ExecuteScalarAsync());
            if (turn == 1)
            {
                await DoAsync("prepare", command.Prepare, () => command.PrepareAsync());
                await DoAsync("schema", () => connection.GetSchema(), async () => await connection.GetSchemaAsync());
                await EndAsync(transaction);
            }

            await ReadAsync(command, isLeft: turn == 0);
        }

        private async Task EndAsync(DbTransaction? transaction)
        {
            if (transaction is not null)
            {
                await DoAsync("save", () => transaction.Save("s"), () => transaction.SaveAsync("s"));
                await DoAsync("roll back to", () => transaction.Rollback("s"), () => transaction.RollbackAsync("s"));
                await DoAsync("release", () => transaction.Release("s"), () => transaction.ReleaseAsync("s"));
                await DoAsync("commit", transaction.Commit, () => transaction.CommitAsync());
                await DoAsync("roll back", transaction.Rollback, () => transaction.RollbackAsync());
                await DoAsync("end", transaction.Dispose, () => transaction.DisposeAsync().AsTask());
            }
        }

        private async Task ReadAsync(DbCommand command, bool isLeft)
        {
            DbDataReader? reader = null;
            await DoAsync("read", () => reader = command.ExecuteReader(), async () => reader = await command.ExecuteReaderAsync());
            if (reader is not null)
            {
                await DoAsync("row", () => reader.Read(), async () => await reader.ReadAsync());
                await DoAsync("next", () => reader.NextResult(), async () => await reader.NextResultAsync());
                if (!isLeft)
                {
                    await DoAsync("close reader", reader.Dispose, () => reader.DisposeAsync().AsTask());
                }
            }
        }

        private async Task DoAsync(string name, Action sync, Func<Task> async)
        {
            try
            {
                if (isAsync)
                {
                    await async();
                }
                else
                {
                    sync();
                }

                _told.Add(name);
            }
            catch (Exception e)
            {
                Exception? inner = e.InnerException;
                string message = e.Message.Replace("SessionAsync", "Session", StringComparison.Ordinal); // each names its own option
                _told.Add($"{name}: {e.GetType()}: {message} ({inner?.GetType()}, {inner?.InnerException?.GetType()})");
            }
        }
    }
}

using System.Data;
using System.Data.Common;
using System.Diagnostics;
using Npgsql;
using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests;

/// <summary>What errors of a real server do to the session they happened on, and to the others.</summary>
[Collection(PostgresServer.Collection)]
public sealed class ServerErrorTests(PostgresServer server)
{
    [PostgresFact]
    public async Task When_all_sessions_are_killed_only_those_in_flight_see_an_error()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 10, ValidateAfterIdle = TimeSpan.FromHours(1), ResetMode = ResetMode.None },
        });
        PooledDbConnection[] all = await OpenAsync(pool, 10);
        foreach (PooledDbConnection idle in all.Skip(3))
        {
            await idle.DisposeAsync();
        }

        await server.Cluster.TerminateAllAsync();
        int errors = 0;
        foreach (PooledDbConnection inFlight in all.Take(3))
        {
            errors += Record.Exception(() => inFlight.Read<int>("SELECT 1")) is PostgresException { SqlState: "57P01" } ? 1 : 0;
            await inFlight.DisposeAsync();
        }

        Assert.Equal(3, errors);
        for (int i = 0; i < 10; i++)
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            Assert.Equal(1, connection.Read<int>("SELECT 1"));
        }

        pool.Settle();
        pool.Validate();
    }

    [PostgresFact]
    public async Task Many_failures_of_one_time_end_the_sessions_of_that_time_once()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 6 } });
        PooledDbConnection[] old = await OpenAsync(pool, 3);
        await server.Cluster.TerminateAllAsync();
        Assert.ThrowsAny<DbException>(() => old[0].Read<int>("SELECT 1"));
        PooledDbConnection[] fresh = await OpenAsync(pool, 2);
        int[] processes = [.. fresh.Select(static c => c.Read<int>("SELECT pg_backend_pid()"))];
        Array.ForEach(fresh, static c => c.Dispose());
        Assert.ThrowsAny<DbException>(() => old[1].Read<int>("SELECT 1"));
        Assert.ThrowsAny<DbException>(() => old[2].Read<int>("SELECT 1"));
        pool.Settle();
        PooledDbConnection[] again = await OpenAsync(pool, 2);
        Assert.Equal(processes.Order(), again.Select(static c => c.Read<int>("SELECT pg_backend_pid()")).Order());
        Array.ForEach(again, static c => c.Dispose());
        Array.ForEach(old, static c => c.Dispose());
        pool.Settle();
        Assert.Equal((5L, 3L), (pool.GetStatistics().Created, pool.GetStatistics().Destroyed));
    }

    [PostgresFact]
    public async Task A_session_found_dead_before_anybody_had_it_ends_the_others_of_its_time()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 3, ValidateAfterIdle = TimeSpan.Zero },
        });
        await pool.WarmUpAsync(3);
        await server.Cluster.TerminateAllAsync();
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        Assert.Equal(1, connection.Read<int>("SELECT 1"));
        pool.Settle();
        Assert.Equal((4L, 2L), (pool.GetStatistics().Created, pool.GetStatistics().GetDestroyed(DestroyReason.Cleared)));
    }

    [PostgresFact]
    public async Task An_error_of_a_statement_ends_nothing()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        for (int i = 0; i < 5; i++)
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            Assert.Equal("22012", Assert.ThrowsAny<DbException>(() => connection.Run("SELECT 1 / 0")).SqlState);
        }

        Assert.Equal(1, pool.GetStatistics().Created);
    }

    [PostgresFact]
    public async Task A_statement_that_timed_out_or_was_cancelled_leaves_a_session_that_is_good()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
        }, ";Cancellation Timeout=60000"); // the server may be slow to hear of it
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            await using DbCommand command = connection.CreateCommand();
            (command.CommandText, command.CommandTimeout) = ("SELECT pg_sleep(60)", 1);
            Exception timeout = await Assert.ThrowsAnyAsync<DbException>(() => command.ExecuteNonQueryAsync());
            Assert.IsType<TimeoutException>(timeout.InnerException);
            using var cancellation = new CancellationTokenSource();
            command.CommandTimeout = 60;
            Task<int> work = command.ExecuteNonQueryAsync(cancellation.Token);
            await UntilSleepingAsync();
            await cancellation.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => work);

            // The provider sends one request for each statement: one that comes before the statement is lost.
            work = command.ExecuteNonQueryAsync();
            await UntilSleepingAsync();
            command.Cancel();
            Exception? cancelled = await Record.ExceptionAsync(() => work);
            Assert.Equal("57014", (cancelled as DbException ?? cancelled?.InnerException as DbException)?.SqlState);
        }

        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(1, next.Read<int>("SELECT 1"));
        Assert.Equal(1, pool.GetStatistics().Created);

        Task UntilSleepingAsync() => FaultTest.UntilAsync(
            async () => (await server.Cluster.ListSessionsAsync()).Any(
                static s => s.State == "active" && s.Query.StartsWith("SELECT pg_sleep", StringComparison.Ordinal)),
            "the server begins");
    }

    [PostgresFact]
    public async Task A_write_that_a_reader_refuses_makes_all_sessions_anew()
    {
        await server.Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS written (a int)");
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 3 } });
        PooledDbConnection[] all = await OpenAsync(pool, 3);
        Array.ForEach(all, static c => c.Dispose());
        pool.Settle();
        await server.Cluster.AlterSystemAsync("default_transaction_read_only", "on");
        try
        {
            await using PooledDbConnection connection = await pool.OpenConnectionAsync();
            Sql.Until(() => connection.Read<string>("SHOW default_transaction_read_only") == "on", "the server to take the setting");
            Assert.Equal("25006", Assert.ThrowsAny<DbException>(() => connection.Run("INSERT INTO written VALUES (1)")).SqlState);
            await connection.CloseAsync();
            pool.Settle();
            Assert.Equal(0, pool.GetStatistics().Idle);
        }
        finally
        {
            await server.Cluster.AlterSystemAsync("default_transaction_read_only", null);
        }

        using NpgsqlConnection one = new(server.ConnectionString);
        one.Open();
        Sql.Until(() => one.Read<string>("SHOW default_transaction_read_only") == "off", "the server to take the setting back");
        await using PooledDbConnection next = await pool.OpenConnectionAsync();
        Assert.Equal(1, next.Run("INSERT INTO written VALUES (1)"));
    }

    [PostgresFact]
    public async Task A_changed_password_fails_new_sessions_at_once_and_leaves_the_others_at_work()
    {
        await server.Cluster.ExecuteAsync("DROP ROLE IF EXISTS worker; CREATE ROLE worker LOGIN PASSWORD 'one'");
        var builder = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Username = "worker", Password = "one" };
        await using var pool = new PooledDbDataSource(NpgsqlFactory.Instance, builder.ConnectionString, new PooledDbOptions
        {
            Pool = new() { MaxSize = 8, BackoffMin = TimeSpan.FromSeconds(20), BackoffMax = TimeSpan.FromSeconds(20) },
        });
        PooledDbConnection[] held = await OpenAsync(pool, 2);
        await server.Cluster.ExecuteAsync("ALTER ROLE worker PASSWORD 'two'");
        int before = CountRefusals();
        Task<PooledDbConnection>[] many = [.. Enumerable.Range(0, 50).Select(_ => pool.OpenConnectionAsync().AsTask())];
        foreach (Task<PooledDbConnection> one in many.Take(6))
        {
            PooledDbException refused = await Assert.ThrowsAsync<PooledDbException>(() => one.WaitAsync(Sql.Limit));
            Assert.Equal("28P01", refused.SqlState);
            Assert.False(refused.IsTransient);
            Assert.IsType<ResourceCreateException>(refused.PoolError);
            Assert.IsType<PostgresException>(refused.InnerException!.InnerException);
        }

        // Each attempt may be logged twice; 4 at a time, and none after the first failures.
        Assert.InRange(CountRefusals() - before, 1, 2 * 4);
        Assert.Equal(1, held[0].Read<int>("SELECT 1"));
        foreach (PooledDbConnection connection in held)
        {
            connection.Dispose(); // serves those who wait, one after the other
        }

        int served = 0;
        foreach (Task<PooledDbConnection> one in many.Skip(6))
        {
            try
            {
                await using PooledDbConnection connection = await one.WaitAsync(Sql.Limit);
                served += connection.Read<int>("SELECT 1");
            }
            catch (PooledDbException e) when (e.SqlState == "28P01")
            {
                // A place was free for it.
            }
        }

        Assert.True(served > 0);
        pool.Settle();
        pool.Validate();

        int CountRefusals() => server.Cluster.ReadLog().Split("password authentication failed for user \"worker\"").Length - 1;
    }

    [PostgresFact]
    public async Task A_server_without_room_is_a_failed_creation_and_sessions_that_live_go_on()
    {
        await using PostgresCluster small = await PostgresCluster.StartAsync(
            new Dictionary<string, string> { ["max_connections"] = "8", ["superuser_reserved_connections"] = "1" });
        await small.ExecuteAsync("CREATE ROLE worker LOGIN PASSWORD 'one'");
        var builder = new NpgsqlConnectionStringBuilder(small.ConnectionString) { Username = "worker", Password = "one" };
        await using var pool = new PooledDbDataSource(NpgsqlFactory.Instance, builder.ConnectionString, new PooledDbOptions
        {
            Pool = new() { MaxSize = 20, RentTimeout = Sql.Limit },
        });
        List<PooledDbConnection> open = [];
        PooledDbException? refused = null;
        while (refused is null)
        {
            try
            {
                open.Add(await pool.OpenConnectionAsync());
                Assert.True(open.Count < 8);
            }
            catch (PooledDbException e)
            {
                refused = e;
            }
        }

        Assert.Equal("53300", refused.SqlState);
        Assert.True(refused.IsTransient);
        open[0].Dispose();
        await using PooledDbConnection served = await pool.OpenConnectionAsync();
        Assert.Equal(1, served.Read<int>("SELECT 1"));
        open.ForEach(static c => c.Dispose());
    }

    [PostgresFact]
    public async Task A_restart_of_the_server_is_over_when_it_is_over()
    {
        await using PostgresCluster own = await PostgresCluster.StartAsync();
        await using var pool = new PooledDbDataSource(NpgsqlFactory.Instance, own.ConnectionString, new PooledDbOptions
        {
            Pool = new() { MaxSize = 4, BackoffMax = TimeSpan.FromMilliseconds(200), RentTimeout = Sql.Limit },
        });
        PooledDbConnection[] all = await OpenAsync(pool, 4);
        Array.ForEach(all, static c => c.Dispose());
        await own.StopAsync();
        PooledDbException down = await Assert.ThrowsAsync<PooledDbException>(async () =>
        {
            for (int i = 0; i < 10; i++)
            {
                await using PooledDbConnection connection = await pool.OpenConnectionAsync();
                Record.Exception(() => connection.Read<int>("SELECT 1"));
            }
        });
        Assert.True(down.IsTransient);
        Assert.NotNull(down.PoolError.InnerException);
        await own.StartAgainAsync();
        Stopwatch watch = Stopwatch.StartNew();
        while (true)
        {
            try
            {
                await using PooledDbConnection connection = await pool.OpenConnectionAsync();
                Assert.Equal(1, connection.Read<int>("SELECT 1"));
                break;
            }
            catch (PooledDbException) when (watch.Elapsed < Sql.Limit)
            {
                // The attempt that was under way.
            }
        }

        pool.Settle();
        pool.Validate();
    }

    [PostgresFact]
    public async Task A_lent_connection_tells_the_pool_of_its_errors_by_MarkBroken()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions
        {
            Pool = new() { MaxSize = 3, ValidateAfterIdle = TimeSpan.FromHours(1) },
        });
        PooledDbConnection[] all = await OpenAsync(pool, 2);
        Array.ForEach(all, static c => c.Dispose());
        pool.Settle();
        await using (DbConnectionLease lease = await pool.RentNativeAsync())
        {
            await server.Cluster.TerminateAllAsync();
            lease.MarkBroken(Assert.ThrowsAny<DbException>(() => lease.Connection.Read<int>("SELECT 1")));
        }

        pool.Settle();
        Assert.Equal(0, pool.GetStatistics().Total);
    }

    [PostgresFact]
    public async Task A_break_is_told_to_listeners_and_the_connection_may_be_opened_again()
    {
        await using PooledDbDataSource pool = server.NewPool(new PooledDbOptions { Pool = new() { MaxSize = 2 } });
        PooledDbConnection connection = pool.CreateConnection();
        List<ConnectionState> states = [];
        connection.StateChange += (_, e) => states.Add(e.CurrentState);
        await connection.OpenAsync();
        await server.Cluster.TerminateAsync(connection.Read<int>("SELECT pg_backend_pid()"));
        Assert.ThrowsAny<DbException>(() => connection.Read<int>("SELECT 1"));
        Assert.Equal(ConnectionState.Closed, connection.State);
        await connection.OpenAsync();
        Assert.Equal(1, connection.Read<int>("SELECT 1"));
        await connection.DisposeAsync();
        Assert.Equal([ConnectionState.Open, ConnectionState.Closed, ConnectionState.Open, ConnectionState.Closed], states);
    }

    private static async Task<PooledDbConnection[]> OpenAsync(PooledDbDataSource pool, int count)
    {
        var all = new PooledDbConnection[count];
        for (int i = 0; i < count; i++)
        {
            all[i] = await pool.OpenConnectionAsync();
        }

        return all;
    }
}

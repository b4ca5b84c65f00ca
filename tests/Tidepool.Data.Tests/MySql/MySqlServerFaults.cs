using System.Data.Common;
using MySqlConnector;
using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.MySql;

/// <summary>Sessions that the server ends, a server that is restarted, away, full, or does not write.</summary>
public sealed class MySqlServerFaults(MySqlServer server) : MySqlFaultTest(server)
{
    [MySqlFact]
    public async Task One_session_that_is_killed_while_it_is_idle_costs_no_error_and_no_other_session()
    {
        PooledDbDataSource pool = NewPool(Patient(3));
        long[] sessions = await OpenAndCloseAsync(pool, 3);
        long used = await VisitAsync(pool); // the one that is next
        await SettleAsync(pool);

        await Server.KillAsync(used);

        for (int i = 0; i < 10; i++)
        {
            Assert.Null(await TryUseAsync(pool));
        }

        await SettleAsync(pool);
        Assert.Equal(1, pool.GetStatistics().Destroyed);
        Assert.Equal(sessions.Except([used]).Order(), (await OpenAndCloseAsync(pool, 3)).Intersect(sessions).Order());
    }

    [MySqlTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task One_session_that_is_killed_in_use_costs_one_error_and_no_other_session(bool isAsking)
    {
        PooledDbDataSource pool = NewPool(Patient(3));
        long[] sessions = await OpenAndCloseAsync(pool, 3);
        await using (PooledDbConnection held = await pool.OpenConnectionAsync())
        {
            long used = await AskAsync(held);
            Task asking = isAsking ? RunAsync(held, "SELECT SLEEP(1000)") : Task.CompletedTask;
            await UntilAsync(
                async () => !isAsking || await Server.ReadAsync<int>(
                    $"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {used} AND INFO LIKE '%SLEEP%'") == 1,
                "the statement runs");
            await Server.KillAsync(used);
            await Assert.ThrowsAnyAsync<DbException>(() => isAsking ? asking : AskAsync(held));
            sessions = [.. sessions.Except([used])];
        }

        await SettleAsync(pool);
        Assert.Equal(1, pool.GetStatistics().Destroyed);
        Assert.Equal(sessions.Order(), (await OpenAndCloseAsync(pool, 3)).Intersect(sessions).Order());
    }

    [MySqlFact]
    public async Task One_killed_session_that_was_idle_for_long_costs_no_error()
    {
        PooledDbDataSource pool = NewPool(Patient(3) with { ValidateAfterIdle = TimeSpan.Zero });
        foreach (long session in await OpenAndCloseAsync(pool, 3))
        {
            await Server.KillAsync(session);
            Assert.Null(await TryUseAsync(pool));
        }

        Assert.InRange(pool.GetStatistics().Destroyed, 1, 3);
    }

    [MySqlFact]
    public async Task All_sessions_killed_cost_one_error_for_each_lease_in_flight()
    {
        PooledDbDataSource pool = NewPool(Patient(8));
        long[] sessions = await OpenAndCloseAsync(pool, 8);
        PooledDbConnection[] held = await HoldAsync(pool, 3);

        Assert.Equal(8, await Server.KillAllAsync());

        Exception?[] errors = await Task.WhenAll(held.Select(static connection => TryAskAsync(connection)));
        Assert.All(errors, static failure => Assert.IsAssignableFrom<MySqlException>(failure));
        Assert.All(await Task.WhenAll(Enumerable.Range(0, 40).Select(_ => TryUseAsync(pool))), Assert.Null);
        await SettleAsync(pool);
        Assert.Equal(8, pool.GetStatistics().Destroyed);
        Assert.Empty((await OpenAndCloseAsync(pool, 8)).Intersect(sessions));
    }

    [MySqlTheory]
    [InlineData(ResetMode.Background)]
    [InlineData(ResetMode.None)]
    public async Task All_sessions_killed_unnoticed_cost_no_caller_an_error(ResetMode reset)
    {
        PooledDbDataSource pool = NewPool(Patient(12) with { ResetMode = reset });
        await OpenAndCloseAsync(pool, 12);

        Assert.Equal(12, await Server.KillAllAsync());

        await Task.WhenAll(Enumerable.Range(0, 3).Select(_ => Task.Run(async () =>
        {
            for (int i = 0; i < 20; i++)
            {
                Assert.Null(await TryUseAsync(pool));
            }
        })));
        await SettleAsync(pool);
        Assert.Equal(12, pool.GetStatistics().GetDestroyed(DestroyReason.Broken));
    }

    [MySqlTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Callers_that_wait_survive_a_restart_but_for_one_at_some_failed_attempts(bool isImmediate)
    {
        const int waiters = 60;
        PooledDbDataSource pool = NewPool(Patient(4) with
        {
            MaxCreateConcurrency = 2,
            BackoffMin = TimeSpan.FromSeconds(1),
            BackoffMax = TimeSpan.FromSeconds(1),
        });
        await OpenAndCloseAsync(pool, 4);
        PooledDbConnection[] held = await HoldAsync(pool, 4);
        Task<Exception?>[] waiting = [.. Enumerable.Range(0, waiters).Select(_ => TryUseAsync(pool))];
        Assert.Equal(waiters, pool.GetStatistics().Waiting);

        await Server.StopAsync(isImmediate);
        Exception?[] errors = await Task.WhenAll(held.Select(static connection => TryAskAsync(connection)));
        await UntilAsync(() => pool.GetStatistics().CreateFailures > 0, "an attempt fails");
        await Server.StartAgainAsync();

        Exception[] failed = [.. (await Task.WhenAll(waiting)).OfType<Exception>()];
        Assert.All(errors, Assert.NotNull);
        Assert.All(failed, static failure => Assert.True(Assert.IsType<PooledDbException>(failure).IsTransient, failure.ToString()));
        Assert.InRange(failed.Length, 1, waiters - 1); // later attempts tell no caller for longer and longer
        Assert.Null(await TryUseAsync(pool));
    }

    [MySqlFact]
    public async Task While_the_server_is_down_a_timeout_says_that_the_connection_was_refused()
    {
        PooledDbDataSource pool = NewPool(Patient(4) with
        {
            RentTimeout = TimeSpan.FromMilliseconds(200),
            BackoffMin = Never,
            BackoffMax = Never,
        });
        await Server.StopAsync();
        try
        {
            Assert.IsType<PooledDbException>(await TryUseAsync(pool));
            await UntilAsync(() => pool.GetStatistics().CreateFailures == 1, "the attempt fails");
            var second = Assert.IsType<PooledDbException>(await TryUseAsync(pool));

            Assert.IsType<ResourcePoolTimeoutException>(second.PoolError);
            Assert.True(
                Has<MySqlException>(second, static e => e.ErrorCode == MySqlErrorCode.UnableToConnectToHost), second.ToString());
            Assert.True(second.IsTransient);
            Assert.Equal(1, pool.GetStatistics().CreateFailures);
        }
        finally
        {
            await Server.StartAgainAsync();
        }
    }

    [MySqlTheory]
    [InlineData("max_connections", "10", 1040)]
    [InlineData("max_user_connections", "6", 1203)]
    public async Task On_a_full_server_those_that_live_go_on_and_the_refusal_is_told(string setting, string room, int code)
    {
        string before = await Server.ReadAsync<string>($"SELECT @@GLOBAL.{setting}");
        PooledDbDataSource pool = NewPool(Patient(16) with
        {
            BackoffMin = TimeSpan.FromMilliseconds(200),
            BackoffMax = TimeSpan.FromMilliseconds(200),
        });
        var held = new List<PooledDbConnection>();
        await using (MySqlConnection administrator = await Server.OpenAsync())
        {
            administrator.Run($"SET GLOBAL {setting} = {room}");
            try
            {
                DbException? refusal = null;
                while (refusal is null)
                {
                    try
                    {
                        held.Add(await pool.OpenConnectionAsync());
                    }
                    catch (DbException failure)
                    {
                        refusal = failure;
                    }
                }

                Assert.InRange(held.Count, 1, 10);
                Assert.Equal(code, Assert.IsType<MySqlException>(refusal.GetBaseException()).Number);
                Assert.IsType<ResourceCreateException>(Assert.IsType<PooledDbException>(refusal).PoolError);
                long session = await AskAsync(held[0]);
                await held[0].DisposeAsync();
                held[0] = await pool.OpenConnectionAsync();
                Assert.Equal(session, await AskAsync(held[0]));
                Assert.Equal(0, pool.GetStatistics().Destroyed);
            }
            finally
            {
                administrator.Run($"SET GLOBAL {setting} = {before}");
            }
        }

        await Task.WhenAll(held.Select(static connection => connection.DisposeAsync().AsTask()));
    }

    [MySqlFact]
    public async Task After_a_change_of_the_password_sessions_go_on_and_new_ones_fail_at_once()
    {
        await Server.ExecuteAsync(
            "CREATE OR REPLACE USER visitor@'127.0.0.1' IDENTIFIED BY 'old'; GRANT ALL ON lab.* TO visitor@'127.0.0.1'");
        PooledDbDataSource pool = NewPool(
            Patient(10) with { BackoffMin = TimeSpan.FromMilliseconds(50), BackoffMax = TimeSpan.FromMilliseconds(100) },
            more: "User ID=visitor;Password=old");
        long[] sessions = await OpenAndCloseAsync(pool, 2);

        await Server.ExecuteAsync("SET PASSWORD FOR visitor@'127.0.0.1' = PASSWORD('new')");

        PooledDbConnection[] held = await HoldAsync(pool, 2);
        Exception?[] failures = await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => TryUseAsync(pool)));
        Assert.All(failures, static failure => Assert.Equal("28000", Assert.IsType<PooledDbException>(failure).SqlState));
        Assert.All(failures, static failure => Assert.IsType<ResourceCreateException>(Assert.IsType<PooledDbException>(failure).PoolError));
        foreach (PooledDbConnection connection in held)
        {
            Assert.Null(await TryAskAsync(connection));
        }

        Assert.Contains(await VisitAsync(pool), sessions);
        await SettleAsync(pool);
        Assert.Equal(0, pool.GetStatistics().Destroyed);
    }

    [MySqlTheory]
    [InlineData(ResetMode.Background, "read_only")]
    [InlineData(ResetMode.None, "read_only")]
    public async Task When_the_server_does_not_write_any_more_every_session_is_made_anew_and_then_few(ResetMode reset, string setting)
    {
        await Server.ExecuteAsync("CREATE TABLE IF NOT EXISTS written (value int)");
        var clock = new StoppedClock();
        PooledDbDataSource pool = NewPool(Patient(3) with { ResetMode = reset, TimeProvider = clock });
        long[] before = await OpenAndCloseAsync(pool, 3);
        await Server.ExecuteAsync($"SET GLOBAL {setting} = 1");
        try
        {
            await BeRefusedAsync(pool);
            Assert.Equal(3, pool.GetStatistics().Destroyed);
            long[] readers = await OpenAndCloseAsync(pool, 3);
            await BeRefusedAsync(pool);
            Assert.Equal(3, pool.GetStatistics().Destroyed); // renewing has not helped: it stays for readers
            Assert.Contains(await VisitAsync(pool), readers);
        }
        finally
        {
            await Server.ExecuteAsync($"SET GLOBAL {setting} = 0");
        }

        Assert.DoesNotContain(await WriteAsync(pool), before);
    }

    [MySqlFact]
    public async Task A_write_refused_in_a_transaction_that_its_renter_wanted_so_costs_no_session()
    {
        await Server.ExecuteAsync("CREATE TABLE IF NOT EXISTS written (value int)");
        PooledDbDataSource pool = NewPool(Patient(2));
        await OpenAndCloseAsync(pool, 2);
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            connection.Run("START TRANSACTION READ ONLY");
            Assert.Equal("25006", Assert.Throws<MySqlException>(() => connection.Run("INSERT INTO written VALUES (1)")).SqlState);
        }

        await SettleAsync(pool);
        Assert.Equal((2, 0L), (pool.GetStatistics().Idle, pool.GetStatistics().Destroyed));
    }

    [MySqlTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_the_server_ends_for_idleness_is_hidden(bool isKeptAlive)
    {
        PooledDbDataSource pool = NewPool(isKeptAlive
            ? Patient(3) with { KeepAliveInterval = TimeSpan.FromSeconds(3) }
            : Patient(3) with { ValidateAfterIdle = TimeSpan.Zero });
        await Server.ExecuteAsync("SET GLOBAL wait_timeout = 1");
        try
        {
            PooledDbConnection[] held = await HoldAsync(pool, 3);
            long[] sessions = await Task.WhenAll(held.Select(static connection => AskAsync(connection)));
            await Task.WhenAll(held.Select(static connection => connection.DisposeAsync().AsTask()));
            await UntilAsync(
                async () => !(await Server.ListSessionsAsync()).Intersect(sessions).Any(), "the server ends them");
            if (isKeptAlive)
            {
                await UntilAsync(() => pool.GetStatistics().Destroyed >= 3, "the keep-alive finds them");
            }

            Assert.DoesNotContain(await VisitAsync(pool), sessions);
        }
        finally
        {
            await Server.ExecuteAsync("SET GLOBAL wait_timeout = 28800");
        }
    }

    private static async Task BeRefusedAsync(PooledDbDataSource pool)
    {
        Assert.Equal(MySqlErrorCode.OptionPreventsStatement, (await Assert.ThrowsAsync<MySqlException>(() => WriteAsync(pool))).ErrorCode);
        await SettleAsync(pool);
    }

    private static async Task<long> WriteAsync(PooledDbDataSource pool)
    {
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        await RunAsync(connection, "INSERT INTO written VALUES (1)");
        return await AskAsync(connection);
    }

    private sealed class StoppedClock : TimeProvider
    {
        public override long GetTimestamp() => 0;
    }
}

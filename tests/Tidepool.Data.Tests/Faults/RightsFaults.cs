using System.Data.Common;
using System.Diagnostics;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests.Faults;

/// <summary>A password that changes, and a server that stops to be the one that writes.</summary>
public sealed class RightsFaults(FaultServer server) : FaultTest(server)
{
    [PostgresFact]
    public async Task After_a_change_of_the_password_sessions_go_on_and_new_ones_fail_at_once()
    {
        await Cluster.ExecuteAsync("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'old'");
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 10,
                ValidateAfterIdle = TimeSpan.Zero,
                RentTimeout = Never,
                BackoffMin = TimeSpan.FromMilliseconds(50),
                BackoffMax = TimeSpan.FromMilliseconds(100),
                CreateTimeout = Never,
                PolicyTimeout = Never,
            },
            more: "Username=guest;Password=old");
        int[] processes = await FillAsync(pool, 2);

        await Cluster.ExecuteAsync("ALTER ROLE guest PASSWORD 'new'");

        PooledDbConnection[] held = [await pool.OpenConnectionAsync(), await pool.OpenConnectionAsync()];
        Assert.Equal(processes.Order(), held.Select(static connection => ProcessOf(connection)).Order());

        // RentTimeout does not come: callers that need a new session are told at once, also those who ask during the backoff.
        DbException?[] failures = await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => TryUseAsync(pool)));
        Assert.All(failures, static failure => Assert.Equal("28P01", failure?.SqlState));
        Assert.All(failures, static failure => Assert.IsType<ResourceCreateException>(Assert.IsType<PooledDbException>(failure).PoolError));
        foreach (PooledDbConnection connection in held)
        {
            Assert.Null(await TryAskAsync(connection));
        }

        Assert.Contains(await UseAsync(pool), processes);
        await SettleAsync(pool);
        Assert.Equal(0, pool.GetStatistics().Destroyed);
        await Cluster.ExecuteAsync("ALTER ROLE guest PASSWORD 'old'");
        held = [await pool.OpenConnectionAsync(), await pool.OpenConnectionAsync()];
        await UntilAsync(async () => await TryUseAsync(pool) is null, "the old password works again");
        await Task.WhenAll(held.Select(static connection => connection.DisposeAsync().AsTask()));
    }

    [PostgresFact]
    public async Task When_the_server_does_not_write_any_more_every_session_is_made_anew()
    {
        await Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS written (value int)");
        PooledDbDataSource pool = NewPool(Patient(size: 3));
        int[] before = await FillAsync(pool, 3);
        await Cluster.AlterSystemAsync("default_transaction_read_only", "on");
        try
        {
            var failure = await Assert.ThrowsAsync<PostgresException>(() => WriteAsync(pool));
            Assert.Equal("25006", failure.SqlState);
            await UntilAsync(() => pool.GetStatistics() is { Idle: 0, Destroying: 0, Checking: 0 }, "all are closed");
            Assert.Equal(3, pool.GetStatistics().Destroyed);
        }
        finally
        {
            await Cluster.AlterSystemAsync("default_transaction_read_only", null);
        }

        Assert.DoesNotContain(await WriteAsync(pool), before);
    }

    [PostgresTheory]
    [InlineData(ResetMode.Background)]
    [InlineData(ResetMode.None)]
    public async Task Writes_on_a_server_that_stays_read_only_renew_few_sessions(ResetMode reset)
    {
        const int sessions = 8;
        const int writes = 150;
        await Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS written (value int)");
        PooledDbDataSource pool = NewPool(Patient(sessions, reset));
        await FillAsync(pool, sessions);
        await Cluster.AlterSystemAsync("default_transaction_read_only", "on");
        try
        {
            long start = Stopwatch.GetTimestamp();
            for (int i = 0; i < writes; i++)
            {
                var failure = await Assert.ThrowsAsync<PostgresException>(() => WriteAsync(pool));
                Assert.Equal("25006", failure.SqlState);
                await Task.WhenAll(Enumerable.Range(0, sessions - 1).Select(_ => UseAsync(pool)));
            }

            // At first, after 100, 200, 400 ms ... 10 s; each renewal may cost all sessions.
            double milliseconds = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
            double renewals = 2 + Math.Log2(Math.Max(1, milliseconds / 100)) + (milliseconds / 10_000);
            Assert.InRange(pool.GetStatistics().Created, sessions + 1, sessions * (1 + renewals));
        }
        finally
        {
            await Cluster.AlterSystemAsync("default_transaction_read_only", null);
        }

        await WriteAsync(pool);
    }

    [PostgresFact]
    public async Task A_session_that_is_asked_and_writes_makes_the_next_refusal_news()
    {
        await Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS written (value int)");
        var clock = new StoppedClock();
        PooledDbDataSource pool = NewPool(Patient(size: 2, clock: clock));
        await FillAsync(pool, 2);
        await BeRefusedAsync(pool);
        Assert.Equal(2, pool.GetStatistics().Destroyed);

        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            await RunAsync(connection, "BEGIN READ ONLY");
            await Assert.ThrowsAsync<PostgresException>(() => RunAsync(connection, "INSERT INTO written VALUES (1)"));
        }

        await SettleAsync(pool);
        Assert.Equal((1, 2L), (pool.GetStatistics().Idle, pool.GetStatistics().Destroyed)); // it was asked, and writes
        await BeRefusedAsync(pool);
        Assert.Equal(3, pool.GetStatistics().Destroyed); // at once: the clock stands still, so no pause has passed
        await BeRefusedAsync(pool);
        Assert.Equal((1, 3L), (pool.GetStatistics().Idle, pool.GetStatistics().Destroyed)); // made since: renewing has not helped
        clock.Advance(TimeSpan.FromMilliseconds(RoleRenewals.ShortestPause));
        await BeRefusedAsync(pool);
        Assert.Equal(4, pool.GetStatistics().Destroyed);
    }

    [PostgresFact]
    public async Task A_write_refused_on_a_lent_session_renews_all_when_the_pool_is_told()
    {
        await Cluster.ExecuteAsync("CREATE TABLE IF NOT EXISTS written (value int)");
        PooledDbDataSource pool = NewPool(Patient(size: 3));
        await FillAsync(pool, 3);
        await using (DbConnectionLease lease = await pool.RentNativeAsync())
        {
            await RunAsync(lease.Connection, "SET default_transaction_read_only = on");
            Task Write() => RunAsync(lease.Connection, "INSERT INTO written VALUES (1)");
            lease.MarkBroken(await Assert.ThrowsAsync<PostgresException>(Write));
        }

        await SettleAsync(pool);
        Assert.Equal((0, 3L), (pool.GetStatistics().Total, pool.GetStatistics().Destroyed));
    }

    /// <summary>Writes while the server is read only.</summary>
    private async Task BeRefusedAsync(PooledDbDataSource pool)
    {
        await Cluster.AlterSystemAsync("default_transaction_read_only", "on");
        try
        {
            Assert.Equal("25006", (await Assert.ThrowsAsync<PostgresException>(() => WriteAsync(pool))).SqlState);
            await SettleAsync(pool);
        }
        finally
        {
            await Cluster.AlterSystemAsync("default_transaction_read_only", null);
        }
    }

    private static async Task<int> WriteAsync(PooledDbDataSource pool)
    {
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        await RunAsync(connection, "INSERT INTO written VALUES (1)");
        return await AskAsync(connection);
    }

    /// <summary>Options of a pool that never validates idle sessions and lets nothing time out.</summary>
    private static ResourcePoolOptions Patient(int size, ResetMode reset = default, TimeProvider? clock = null) => new()
    {
        MaxSize = size,
        ResetMode = reset,
        TimeProvider = clock ?? TimeProvider.System,
        ValidateAfterIdle = Never,
        RentTimeout = Never,
        CreateTimeout = Never,
        PolicyTimeout = Never,
    };

    private sealed class StoppedClock : TimeProvider
    {
        private long _now;

        public override long GetTimestamp() => Volatile.Read(ref _now);

        public void Advance(TimeSpan by) => Interlocked.Add(ref _now, (long)(by.TotalSeconds * TimestampFrequency));
    }
}

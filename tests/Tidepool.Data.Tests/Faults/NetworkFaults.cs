using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>What happens between the pool and the server: partitions, ends of connections in every manner, and slowness.</summary>
public sealed class NetworkFaults(FaultServer server) : FaultTest(server)
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(150);

    [PostgresFact]
    public async Task In_a_partition_the_deadline_of_a_rental_holds_and_all_goes_on_afterwards()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 2,
                ValidateAfterIdle = TimeSpan.Zero,
                RentTimeout = Short,
                BackoffMax = TimeSpan.FromMilliseconds(100),
                CreateTimeout = Never,
                PolicyTimeout = Never,
            },
            proxy.Port);
        await UntilAsync(async () => await TryUseAsync(pool) is null, "a session is opened in time");
        await SettleAsync(pool);
        proxy.SetBlackhole(true);

        for (int i = 0; i < 4; i++)
        {
            var failure = Assert.IsType<PooledDbException>(await TryUseAsync(pool));
            Assert.IsType<ResourcePoolTimeoutException>(failure.PoolError);
        }

        proxy.SetBlackhole(false);
        await UntilAsync(async () => await TryUseAsync(pool) is null, "it works again");
    }

    [PostgresFact]
    public async Task A_validation_that_hangs_has_a_timeout_of_its_own_and_a_healthy_session_serves()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 2,
                ValidateAfterIdle = TimeSpan.Zero,
                RentTimeout = Never,
                PolicyTimeout = TimeSpan.FromSeconds(6),
                CreateTimeout = Never,
            },
            proxy.Port);
        PooledDbConnection frozen = await pool.OpenConnectionAsync();
        int process = ProcessOf(frozen);
        await frozen.DisposeAsync();
        await SettleAsync(pool);
        proxy.FreezeAll();

        int other = await UseAsync(pool);

        Assert.NotEqual(process, other);
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(
            1,
            statistics.GetDestroyed(DestroyReason.ValidationFailed) + statistics.GetDestroyed(DestroyReason.Abandoned)
                + statistics.GetDestroyed(DestroyReason.Cleared));
        Assert.Equal(other, await UseAsync(pool));
    }

    [PostgresFact]
    public async Task While_one_session_hangs_healthy_idle_ones_are_used()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new() { MaxSize = 2, ValidateAfterIdle = TimeSpan.Zero, RentTimeout = Never, PolicyTimeout = Never, CreateTimeout = Never },
            proxy.Port);
        PooledDbConnection frozen = await pool.OpenConnectionAsync();
        proxy.FreezeAll();
        Task<Exception?> hanging = Task.Run(async () => (Exception?)await TryAskAsync(frozen));

        int healthy = await UseAsync(pool);
        for (int i = 0; i < 5; i++)
        {
            await SettleAsync(pool);
            Assert.Equal(healthy, await UseAsync(pool));
        }

        Assert.False(hanging.IsCompleted);
        proxy.ResetAll();
        Assert.NotNull(await hanging);
    }

    [PostgresFact]
    public async Task In_a_partition_a_shutdown_is_not_stuck()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new() { MaxSize = 4, ValidateAfterIdle = TimeSpan.Zero, RentTimeout = Never, PolicyTimeout = Short, CreateTimeout = Never },
            proxy.Port);
        PooledDbConnection held = await pool.OpenConnectionAsync();
        await FillWhileHeldAsync(pool, 2);
        proxy.SetBlackhole(true);
        Task<Exception?> hanging = Task.Run(async () => (Exception?)await TryAskAsync(held));
        Task<Exception?>[] waiting = [.. Enumerable.Range(0, 3).Select(_ => Task.Run(async () => (Exception?)await TryUseAsync(pool)))];
        await UntilAsync(() => pool.GetStatistics() is { Creating: > 0 } or { Checking: > 0 }, "an operation runs");

        Assert.False(await pool.ShutdownAsync(Short)); // a lease is out

        foreach (Task<Exception?> one in waiting)
        {
            await UntilAsync(
                () => one.IsCompleted,
                "every waiting caller is told, also one whose thread has asked a session that is silent");
            Assert.IsType<ResourcePoolShutdownException>(Assert.IsType<PooledDbException>(await one).PoolError);
        }

        proxy.ResetAll();
        Assert.NotNull(await hanging);
        Assert.True(await pool.ShutdownAsync(Never));
    }

    [PostgresTheory]
    [InlineData("half-open")]
    [InlineData("RST")]
    [InlineData("FIN")]
    public async Task Connections_that_end_behind_the_pool_cost_one_error_at_first_use_and_none_when_they_are_validated(string end)
    {
        FaultProxy proxy = NewProxy();
        foreach (bool validates in new[] { false, true })
        {
            PooledDbDataSource pool = NewPool(
                new()
                {
                    MaxSize = 3,
                    ValidateAfterIdle = validates ? TimeSpan.Zero : Never,
                    RentTimeout = Never,
                    CreateTimeout = Never,
                    PolicyTimeout = Never,
                },
                proxy.Port);
            int[] before = await FillAsync(pool, 3);

            switch (end)
            {
                case "half-open":
                    proxy.HalfOpenAll();
                    break;
                case "RST":
                    proxy.ResetAll();
                    break;
                default:
                    proxy.CloseAll();
                    break;
            }

            int errors = 0;
            for (int i = 0; i < 6; i++)
            {
                errors += await TryUseAsync(pool) is null ? 0 : 1;
            }

            Assert.InRange(errors, 0, validates ? 0 : 1);
            await SettleAsync(pool);
            Assert.Empty((await FillAsync(pool, 3)).Intersect(before));
        }
    }

    [PostgresFact]
    public async Task While_sessions_open_slowly_returns_serve_those_who_wait_and_a_cancellation_is_heard_at_once()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 5,
                MaxCreateConcurrency = 2,
                ValidateAfterIdle = Never,
                RentTimeout = Never,
                CreateTimeout = Never,
                PolicyTimeout = Never,
            },
            proxy.Port);
        PooledDbConnection held = await pool.OpenConnectionAsync();
        int process = await AskAsync(held);
        await SettleAsync(pool);
        proxy.ConnectDelay = Never;
        proxy.ForgetMostConnecting();
        using var cancellation = new CancellationTokenSource();
        Task<int>[] waiting = [.. Enumerable.Range(0, 3).Select(_ => UseAsync(pool))];
        Task<PooledDbConnection> cancelled = pool.OpenConnectionAsync(cancellation.Token).AsTask();
        await UntilAsync(() => pool.GetStatistics().Creating == 2 && proxy.MostConnecting == 2, "two sessions are being opened");

        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        Assert.Equal(2, pool.GetStatistics().Creating);
        await held.DisposeAsync();

        Assert.Equal([process, process, process], await Task.WhenAll(waiting));
        Assert.Equal(2, pool.GetStatistics().Creating);
        Assert.Equal(2, proxy.MostConnecting);
        proxy.ResetAll();
        await UntilAsync(() => pool.GetStatistics().Creating == 0, "those that were being opened have failed");
    }

    [PostgresFact]
    public async Task A_slow_server_loses_no_session()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new() { MaxSize = 3, ValidateAfterIdle = TimeSpan.Zero, PolicyTimeout = Never, CreateTimeout = Never, RentTimeout = Never },
            proxy.Port);
        proxy.ToClient.Latency = TimeSpan.FromMilliseconds(20);
        proxy.ToClient.BytesPerSecond = 20_000;
        proxy.ToClient.SliceBytes = 7;

        Assert.All(await Task.WhenAll(Enumerable.Range(0, 12).Select(_ => TryUseAsync(pool))), Assert.Null);

        await SettleAsync(pool);
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((0L, 0L), (statistics.Destroyed, statistics.CreateFailures));
        Assert.InRange(statistics.Created, 1, 3);
        Assert.Equal(Timeout.InfiniteTimeSpan, new PooledDbOptions().Pool.KeepAliveInterval);
    }

    [PostgresFact]
    public async Task A_connection_that_is_cut_in_the_middle_of_a_copy_is_not_used_again()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new() { MaxSize = 1, ValidateAfterIdle = Never, RentTimeout = Never, CreateTimeout = Never, PolicyTimeout = Never },
            proxy.Port);
        int before;
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            before = ProcessOf(connection);
            proxy.ToClient.LimitBytes = 100_000;
            await Assert.ThrowsAnyAsync<Exception>(async () =>
            {
                using TextReader reader =
                    await connection.Unwrap<NpgsqlConnection>().BeginTextExportAsync("COPY (SELECT generate_series(1, 1000000)) TO STDOUT");
                await reader.ReadToEndAsync();
            });
            proxy.ToClient.LimitBytes = long.MaxValue;
        }

        Assert.NotEqual(before, await UseAsync(pool));
        Assert.Equal(1, pool.GetStatistics().Destroyed);
    }

    private static async Task FillWhileHeldAsync(PooledDbDataSource pool, int count)
    {
        PooledDbConnection[] connections = await Task.WhenAll(Enumerable.Range(0, count).Select(_ => pool.OpenConnectionAsync().AsTask()));
        foreach (PooledDbConnection connection in connections)
        {
            await connection.DisposeAsync();
        }

        await SettleAsync(pool);
    }
}

using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>What happens between the pool and the server: partitions, ends of connections in every manner, and slowness.</summary>
public sealed class NetworkFaults(FaultServer server) : FaultTest(server)
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(150);

    [PostgresFact]
    public Task In_a_partition_the_deadline_of_a_rental_holds_and_all_goes_on_afterwards() => NetworkParts.PartAsync(this);

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
    public Task Connections_that_end_behind_the_pool_cost_one_error_at_first_use_and_none_when_they_are_validated(string end) =>
        NetworkParts.EndBehindThePoolAsync(this, end);

    [PostgresFact]
    public Task While_sessions_open_slowly_returns_serve_those_who_wait_and_a_cancellation_is_heard_at_once() =>
        NetworkParts.OpenSlowlyAsync(this);

    [PostgresFact]
    public Task A_slow_server_loses_no_session() => NetworkParts.BeSlowAsync(this);

    [PostgresFact]
    public Task A_caller_that_blocks_is_told_that_a_silent_server_opens_no_session() => NetworkParts.BlockInAnOpeningAsync(this);

    [PostgresFact]
    public Task A_caller_that_blocks_is_served_after_a_session_that_does_not_answer() => NetworkParts.BlockInAValidationAsync(this);

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

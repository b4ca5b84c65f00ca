using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.MySql;

/// <summary>What happens between the pool and the server: partitions, ends of connections in every manner, and slowness.</summary>
public sealed class MySqlNetworkFaults(MySqlServer server) : MySqlFaultTest(server)
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(150);

    [MySqlFact]
    public async Task In_a_partition_the_deadline_of_a_rental_holds_and_all_goes_on_afterwards()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            Patient(2) with { ValidateAfterIdle = TimeSpan.Zero, RentTimeout = Short, BackoffMax = TimeSpan.FromMilliseconds(100) },
            proxy.Port);
        await FaultTest.UntilAsync(async () => await TryUseAsync(pool) is null, "a session is opened in time");
        await FaultTest.SettleAsync(pool);
        proxy.SetBlackhole(true);

        for (int i = 0; i < 4; i++)
        {
            Assert.IsType<ResourcePoolTimeoutException>(Assert.IsType<PooledDbException>(await TryUseAsync(pool)).PoolError);
        }

        proxy.SetBlackhole(false);
        await FaultTest.UntilAsync(async () => await TryUseAsync(pool) is null, "it works again");
    }

    [MySqlFact]
    public async Task In_a_partition_a_shutdown_is_not_stuck()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(Patient(4) with { ValidateAfterIdle = TimeSpan.Zero, PolicyTimeout = Short }, proxy.Port);
        PooledDbConnection held = await pool.OpenConnectionAsync();
        proxy.SetBlackhole(true);
        Task<Exception?> hanging = Task.Run(async () => (Exception?)await TryAskAsync(held));
        Task<Exception?>[] waiting = [.. Enumerable.Range(0, 3).Select(_ => Task.Run(async () => (Exception?)await TryUseAsync(pool)))];
        await FaultTest.UntilAsync(() => pool.GetStatistics() is { Creating: > 0 } or { Checking: > 0 }, "an operation runs");

        Assert.False(await pool.ShutdownAsync(Short)); // a lease is out

        foreach (Task<Exception?> one in waiting)
        {
            Assert.IsType<ResourcePoolShutdownException>(Assert.IsType<PooledDbException>(await one).PoolError);
        }

        proxy.ResetAll();
        Assert.NotNull(await hanging);
        Assert.True(await pool.ShutdownAsync(FaultTest.Never));
    }

    [MySqlTheory]
    [InlineData("half-open")]
    [InlineData("RST")]
    [InlineData("FIN")]
    public async Task Connections_that_end_behind_the_pool_cost_one_error_at_first_use_and_none_when_they_are_validated(string end)
    {
        FaultProxy proxy = NewProxy();
        foreach (bool validates in new[] { false, true })
        {
            PooledDbDataSource pool = NewPool(
                Patient(3) with { ValidateAfterIdle = validates ? TimeSpan.Zero : FaultTest.Never }, proxy.Port);
            long[] before = await FillAsync(pool, 3);

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
            await FaultTest.SettleAsync(pool);
            Assert.Empty((await FillAsync(pool, 3)).Intersect(before));
        }
    }

    [MySqlFact]
    public async Task While_sessions_open_slowly_returns_serve_those_who_wait_and_a_cancellation_is_heard_at_once()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(Patient(5) with { MaxCreateConcurrency = 2 }, proxy.Port);
        PooledDbConnection held = await pool.OpenConnectionAsync();
        long session = await AskAsync(held);
        await FaultTest.SettleAsync(pool);
        proxy.ConnectDelay = FaultTest.Never;
        proxy.ForgetMostConnecting();
        using var cancellation = new CancellationTokenSource();
        Task<long>[] waiting = [.. Enumerable.Range(0, 3).Select(_ => UseAsync(pool))];
        Task<PooledDbConnection> cancelled = pool.OpenConnectionAsync(cancellation.Token).AsTask();
        await FaultTest.UntilAsync(
            () => pool.GetStatistics().Creating == 2 && proxy.MostConnecting == 2, "two sessions are being opened");

        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        await held.DisposeAsync();

        Assert.Equal([session, session, session], await Task.WhenAll(waiting));
        Assert.Equal(2, pool.GetStatistics().Creating);
        proxy.ResetAll();
        await FaultTest.UntilAsync(() => pool.GetStatistics().Creating == 0, "those that were being opened have failed");
    }

    [MySqlFact]
    public async Task A_slow_server_loses_no_session()
    {
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(Patient(3) with { ValidateAfterIdle = TimeSpan.Zero }, proxy.Port);
        proxy.ToClient.Latency = TimeSpan.FromMilliseconds(20);
        proxy.ToClient.BytesPerSecond = 20_000;
        proxy.ToClient.SliceBytes = 7;

        Assert.All(await Task.WhenAll(Enumerable.Range(0, 12).Select(_ => TryUseAsync(pool))), Assert.Null);

        await FaultTest.SettleAsync(pool);
        Assert.Equal((0L, 0L), (pool.GetStatistics().Destroyed, pool.GetStatistics().CreateFailures));
    }
}

using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>What must hold for any database while the network between the pool and the server fails.</summary>
internal static class NetworkParts
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(150);

    internal static async Task PartAsync(ServerFaultTest test)
    {
        FaultProxy proxy = test.NewProxy();
        PooledDbDataSource pool = test.NewPool(
            ServerFaultTest.Patient(2) with
            {
                ValidateAfterIdle = TimeSpan.Zero,
                RentTimeout = Short,
                BackoffMax = TimeSpan.FromMilliseconds(100),
            },
            proxy.Port);
        await UntilUsedAsync(test, pool, "a session is opened in time");
        await ServerFaultTest.SettleAsync(pool);
        proxy.SetBlackhole(true);

        for (int i = 0; i < 4; i++)
        {
            var failure = Assert.IsType<PooledDbException>(await TryVisitAsync(test, pool));
            Assert.IsType<ResourcePoolTimeoutException>(failure.PoolError);
        }

        proxy.SetBlackhole(false);
        await UntilUsedAsync(test, pool, "it works again");
    }

    internal static async Task EndBehindThePoolAsync(ServerFaultTest test, string end)
    {
        FaultProxy proxy = test.NewProxy();
        foreach (bool validates in new[] { false, true })
        {
            PooledDbDataSource pool = test.NewPool(
                ServerFaultTest.Patient(3) with { ValidateAfterIdle = validates ? TimeSpan.Zero : ServerFaultTest.Never }, proxy.Port);
            long[] before = await test.OpenAndCloseAsync(pool, 3);

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
                errors += await TryVisitAsync(test, pool) is null ? 0 : 1;
            }

            Assert.InRange(errors, 0, validates ? 0 : 1);
            await ServerFaultTest.SettleAsync(pool);
            Assert.Empty((await test.OpenAndCloseAsync(pool, 3)).Intersect(before));
        }
    }

    internal static async Task OpenSlowlyAsync(ServerFaultTest test)
    {
        FaultProxy proxy = test.NewProxy();
        PooledDbDataSource pool = test.NewPool(ServerFaultTest.Patient(5) with { MaxCreateConcurrency = 2 }, proxy.Port);
        PooledDbConnection held = await pool.OpenConnectionAsync();
        long session = await test.FindSessionAsync(held);
        await ServerFaultTest.SettleAsync(pool);
        proxy.ConnectDelay = ServerFaultTest.Never;
        proxy.ForgetMostConnecting();
        using var cancellation = new CancellationTokenSource();
        Task<long>[] waiting = [.. Enumerable.Range(0, 3).Select(_ => test.VisitAsync(pool))];
        Task<PooledDbConnection> cancelled = pool.OpenConnectionAsync(cancellation.Token).AsTask();
        await ServerFaultTest.UntilAsync(
            () => pool.GetStatistics().Creating == 2 && proxy.MostConnecting == 2, "two sessions are being opened");

        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        Assert.Equal(2, pool.GetStatistics().Creating);
        await held.DisposeAsync();

        Assert.Equal([session, session, session], await Task.WhenAll(waiting));
        Assert.Equal(2, pool.GetStatistics().Creating);
        Assert.Equal(2, proxy.MostConnecting);
        proxy.ResetAll();
        await ServerFaultTest.UntilAsync(() => pool.GetStatistics().Creating == 0, "those that were being opened have failed");
    }

    internal static async Task BeSlowAsync(ServerFaultTest test)
    {
        FaultProxy proxy = test.NewProxy();
        PooledDbDataSource pool = test.NewPool(ServerFaultTest.Patient(3) with { ValidateAfterIdle = TimeSpan.Zero }, proxy.Port);
        proxy.ToClient.Latency = TimeSpan.FromMilliseconds(20);
        proxy.ToClient.BytesPerSecond = 20_000;
        proxy.ToClient.SliceBytes = 7;

        Assert.All(await Task.WhenAll(Enumerable.Range(0, 12).Select(_ => TryVisitAsync(test, pool))), Assert.Null);

        await ServerFaultTest.SettleAsync(pool);
        ResourcePoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((0L, 0L), (statistics.Destroyed, statistics.CreateFailures));
        Assert.InRange(statistics.Created, 1, 3);
    }

    /// <summary>The connection string has no limit, so that the provider would wait for as long as the server says nothing.</summary>
    internal static async Task BlockInAnOpeningAsync(ServerFaultTest test)
    {
        FaultProxy proxy = test.NewProxy();
        PooledDbDataSource pool = test.NewPool(
            ServerFaultTest.Patient(1) with { RentTimeout = Short, CreateTimeout = TimeSpan.FromSeconds(1) }, proxy.Port);
        proxy.SetBlackhole(true);

        Task<Exception?> refused = ServerFaultTest.TryAsync(() => ServerFaultTest.BlockAsync(pool.OpenConnection));

        await ServerFaultTest.UntilAsync(() => refused.IsCompleted, "the thread goes on");
        Assert.IsType<PooledDbException>(await refused);
        proxy.SetBlackhole(false);
        await UntilUsedAsync(test, pool, "it works again");
    }

    /// <summary>Nor has it a limit for statements.</summary>
    internal static async Task BlockInAValidationAsync(ServerFaultTest test)
    {
        FaultProxy proxy = test.NewProxy();
        PooledDbDataSource pool = test.NewPool(
            ServerFaultTest.Patient(2) with { ValidateAfterIdle = TimeSpan.Zero, PolicyTimeout = TimeSpan.FromSeconds(1) }, proxy.Port);
        long silent = (await test.OpenAndCloseAsync(pool, 1))[0];
        proxy.FreezeAll();

        Task<PooledDbConnection> other = ServerFaultTest.BlockAsync(pool.OpenConnection);

        await ServerFaultTest.UntilAsync(() => other.IsCompleted, "the thread goes on");
        await using PooledDbConnection connection = await other;
        Assert.NotEqual(silent, await test.FindSessionAsync(connection));
    }

    private static Task UntilUsedAsync(ServerFaultTest test, PooledDbDataSource pool, string what) =>
        ServerFaultTest.UntilAsync(async () => await TryVisitAsync(test, pool) is null, what);

    private static Task<Exception?> TryVisitAsync(ServerFaultTest test, PooledDbDataSource pool) =>
        ServerFaultTest.TryAsync(() => test.VisitAsync(pool));
}

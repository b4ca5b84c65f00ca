using System.Data.Common;
using System.Diagnostics;
using System.Net.Sockets;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>A server that is restarted, or away for a time.</summary>
public sealed class RestartFaults(FaultServer server) : FaultTest(server)
{
    [PostgresTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Callers_that_wait_survive_a_restart_but_for_one_at_some_failed_attempts(bool isImmediate)
    {
        const int waiters = 100;
        FaultProxy proxy = NewProxy();
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 4,
                MaxCreateConcurrency = 2,
                ValidateAfterIdle = Never,
                RentTimeout = Never,
                BackoffMin = TimeSpan.FromSeconds(1),
                BackoffMax = TimeSpan.FromSeconds(1),
                CreateTimeout = Never,
                PolicyTimeout = Never,
            },
            proxy.Port);
        await FillAsync(pool, 4);
        PooledDbConnection[] held = await HoldAsync(pool, 4);
        Task<DbException?>[] waiting = [.. Enumerable.Range(0, waiters).Select(_ => TryUseAsync(pool))];
        Assert.Equal(waiters, pool.GetStatistics().Waiting);
        proxy.ForgetMostConnecting();

        await Cluster.StopAsync(isImmediate);
        Exception?[] errors = await Task.WhenAll(held.Select(static connection => TryAskAsync(connection)));
        await UntilAsync(() => pool.GetStatistics().CreateFailures > 0, "an attempt fails");
        await Cluster.StartAgainAsync();

        DbException?[] results = await Task.WhenAll(waiting);
        Assert.All(errors, Assert.NotNull);
        DbException[] failed = [.. results.OfType<DbException>()];
        Assert.InRange(failed.Length, 1, pool.GetStatistics().CreateFailures);
        Assert.All(failed, static failure => Assert.True(Assert.IsType<PooledDbException>(failure).IsTransient, failure.ToString()));
        Assert.InRange(failed.Length, 1, waiters - 1); // later attempts tell no caller for longer and longer
        Assert.InRange(proxy.MostConnecting, 1, 2);
        Assert.Null(await TryUseAsync(pool));
    }

    [PostgresFact]
    public async Task A_server_that_takes_no_new_sessions_keeps_the_old_ones_and_its_refusal_is_transient()
    {
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 2,
                ValidateAfterIdle = Never,
                BackoffMin = TimeSpan.FromMilliseconds(1),
                BackoffMax = TimeSpan.FromMilliseconds(1),
                RentTimeout = Never,
                CreateTimeout = Never,
                PolicyTimeout = Never,
            });
        await using (PooledDbConnection held = await pool.OpenConnectionAsync())
        {
            await Cluster.DrainAsync();
            DbException? failure = null;
            await UntilAsync(
                async () =>
                {
                    failure = await TryUseAsync(pool);
                    await pool.ClearAsync(); // it may have been opened before the server knew
                    return failure is not null;
                },
                "a session is refused");

            Assert.Equal("57P03", failure!.SqlState);
            Assert.True(failure.IsTransient);
            await AskAsync(held);
        }

        await Cluster.StopAsync();
        await Cluster.StartAgainAsync();
        await UntilAsync(async () => await TryUseAsync(pool) is null, "it works again");
    }

    [PostgresFact]
    public async Task While_the_server_is_down_a_timeout_says_that_the_connection_was_refused()
    {
        PooledDbDataSource pool = NewPool(
            new()
            {
                MaxSize = 4,
                RentTimeout = TimeSpan.FromMilliseconds(200),
                BackoffMin = Never,
                BackoffMax = Never,
                CreateTimeout = Never,
                PolicyTimeout = Never,
            });
        await Cluster.StopAsync();
        try
        {
            var first = Assert.IsType<PooledDbException>(await TryUseAsync(pool));
            await UntilAsync(() => pool.GetStatistics().CreateFailures == 1, "the attempt fails");
            var second = Assert.IsType<PooledDbException>(await TryUseAsync(pool));

            Assert.True(first.PoolError is ResourceCreateException or ResourcePoolTimeoutException, first.ToString());
            Assert.IsType<ResourcePoolTimeoutException>(second.PoolError);
            Assert.True(Has<SocketException>(second, static e => e.SocketErrorCode == SocketError.ConnectionRefused), second.ToString());
            Assert.True(second.IsTransient);
            Assert.Equal(1, pool.GetStatistics().CreateFailures);
        }
        finally
        {
            await Cluster.StartAgainAsync();
        }
    }

    [PostgresFact]
    public async Task While_the_server_is_down_attempts_are_bounded_by_the_backoff_and_the_next_one_succeeds()
    {
        PooledDbDataSource pool = NewPool(new()
        {
            MaxSize = 20,
            MaxCreateConcurrency = 4,
            RentTimeout = Never,
            BackoffMin = TimeSpan.FromMilliseconds(100),
            BackoffMax = TimeSpan.FromMilliseconds(200),
            CreateTimeout = Never,
            PolicyTimeout = Never,
        });
        using var end = new CancellationTokenSource();
        await Cluster.StopAsync();
        long start = Stopwatch.GetTimestamp();
        Task[] callers = [.. Enumerable.Range(0, 30).Select(_ => Task.Run(async () =>
        {
            while (!end.IsCancellationRequested)
            {
                await TryUseAsync(pool);
            }
        }))];
        await Task.Delay(1000);
        await UntilAsync(() => pool.GetStatistics().CreateFailures > 0, "an attempt fails");
        await Cluster.StartAgainAsync();
        long failures = pool.GetStatistics().CreateFailures;
        double milliseconds = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        await UntilAsync(() => pool.GetStatistics().Created > 0, "a session is opened");
        long failuresInAll = pool.GetStatistics().CreateFailures;
        await end.CancelAsync();
        await Task.WhenAll(callers);

        // The first attempts are parallel; from then on there is one at a time, and at least half of the shortest pause in between.
        Assert.InRange(failures, 1, 4 + 1 + (milliseconds / 50));
        Assert.InRange(failuresInAll - failures, 0, 1); // one that was under way
        Assert.Null(await TryUseAsync(pool));
    }
}

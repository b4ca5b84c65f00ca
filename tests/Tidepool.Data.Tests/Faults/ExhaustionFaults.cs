using System.Data.Common;
using System.Diagnostics;
using Npgsql;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>A server without room for the sessions that the pool would like.</summary>
public sealed class ExhaustionFaults
{
    [PostgresFact]
    public async Task Of_22_openings_on_a_server_for_20_17_succeed_and_5_are_told_53300()
    {
        const int callers = 22;
        const int room = 17; // 3 of 20 are the superuser's
        await using PostgresCluster cluster = await PostgresCluster.StartAsync(
            new Dictionary<string, string> { ["max_connections"] = "20" });
        await cluster.ExecuteAsync("CREATE ROLE guest LOGIN PASSWORD 'guest'");
        await using var pool = new PooledDbDataSource(
            NpgsqlFactory.Instance,
            cluster.ConnectionString + ";Username=guest;Password=guest;Timeout=0;Command Timeout=0",
            new()
            {
                Pool = new()
                {
                    MaxSize = callers,
                    ValidateAfterIdle = FaultTest.Never,
                    RentTimeout = FaultTest.Never,
                    BackoffMin = TimeSpan.FromMilliseconds(200),
                    BackoffMax = TimeSpan.FromMilliseconds(200),
                    CreateTimeout = FaultTest.Never,
                    PolicyTimeout = FaultTest.Never,
                },
            });
        var held = new List<PooledDbConnection>();
        var refusals = new List<DbException>();

        // A session that is refused takes a place for a moment, also from one that has a right to it: so callers try again while there is
        // room.
        await Task.WhenAll(Enumerable.Range(0, callers).Select(_ => Task.Run(async () =>
        {
            while (true)
            {
                try
                {
                    PooledDbConnection connection = await pool.OpenConnectionAsync();
                    lock (held)
                    {
                        held.Add(connection);
                    }

                    return;
                }
                catch (DbException failure)
                {
                    lock (held)
                    {
                        refusals.Add(failure);
                        if (held.Count == room)
                        {
                            return;
                        }
                    }
                }
            }
        })));
        ResourcePoolStatistics full = pool.GetStatistics();

        Assert.Equal(room, held.Count);
        Assert.InRange(refusals.Count, callers - room, full.CreateFailures); // of later attempts most are told to no caller
        Assert.All(refusals, static failure => Assert.Equal("53300", failure.SqlState));
        Assert.Equal((room, 0L), (full.Leased, full.Destroyed));

        // Those that live go on, and serve all that come.
        int process = await FaultTest.AskAsync(held[0]);
        await held[0].DisposeAsync();
        held[0] = await pool.OpenConnectionAsync();
        Assert.Equal(process, await FaultTest.AskAsync(held[0]));

        // Callers that go on asking do not make the pool hammer at the server.
        using var end = new CancellationTokenSource();
        long start = Stopwatch.GetTimestamp();
        Task[] asking = [.. Enumerable.Range(0, 8).Select(_ => Task.Run(async () =>
        {
            while (!end.IsCancellationRequested)
            {
                await FaultTest.TryUseAsync(pool);
            }
        }))];
        await Task.Delay(500);
        await FaultTest.UntilAsync(() => pool.GetStatistics().CreateFailures > full.CreateFailures, "an attempt fails");
        long attempts = pool.GetStatistics().CreateFailures - full.CreateFailures;
        double milliseconds = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        Assert.InRange(attempts, 1, 4 + 1 + (milliseconds / 100)); // jitter shortens the pause of 200 ms by a half at most
        await end.CancelAsync();
        foreach (PooledDbConnection connection in held)
        {
            await connection.DisposeAsync();
        }

        await Task.WhenAll(asking);

        await FaultTest.SettleAsync(pool);
        Assert.Equal(0, pool.GetStatistics().Destroyed);
        await FaultTest.EndAsync(pool);
    }
}

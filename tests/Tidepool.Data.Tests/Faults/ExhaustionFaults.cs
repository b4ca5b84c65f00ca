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
        await using PostgresCluster cluster = await PostgresCluster.StartAsync(new Dictionary<string, string> { ["max_connections"] = "20" });
        await cluster.ExecuteAsync("CREATE ROLE guest LOGIN PASSWORD 'guest'");
        await using var pool = new PooledDbDataSource(
            NpgsqlFactory.Instance,
            cluster.ConnectionString + ";Username=guest;Password=guest",
            new() { MaxSize = callers, ValidateAfterIdle = FaultTest.Never, RentTimeout = FaultTest.Never, BackoffMin = TimeSpan.FromMilliseconds(20), BackoffMax = TimeSpan.FromMilliseconds(40) });
        var held = new List<PooledDbConnection>();
        var refusals = new List<DbException>();
        long start = Stopwatch.GetTimestamp();

        // A session that is refused takes a place for a moment, also from one that has a right to it: so callers try again while there is room.
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
        double milliseconds = Stopwatch.GetElapsedTime(start).TotalMilliseconds;
        ResourcePoolStatistics full = pool.GetStatistics();

        Assert.Equal(room, held.Count);
        Assert.InRange(refusals.Count, callers - room, int.MaxValue);
        Assert.All(refusals, static failure => Assert.Equal("53300", failure.SqlState));
        Assert.Equal((room, 0L), (full.Leased, full.Destroyed));
        Assert.InRange(full.CreateFailures, callers - room, 4 + 1 + (milliseconds / 2)); // a tenth of the first step is 2 ms

        // Those that live go on, and serve whoever comes.
        int process = await FaultTest.AskAsync(held[0]);
        await held[0].DisposeAsync();
        held[0] = await pool.OpenConnectionAsync();
        Assert.Equal(process, await FaultTest.AskAsync(held[0]));
        foreach (PooledDbConnection connection in held)
        {
            await connection.DisposeAsync();
        }

        await FaultTest.SettleAsync(pool);
        Assert.Equal((room, 0L), (pool.GetStatistics().Idle, pool.GetStatistics().Destroyed));
        await FaultTest.EndAsync(pool);
    }
}

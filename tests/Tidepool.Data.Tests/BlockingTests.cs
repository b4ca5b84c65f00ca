using System.Data.Common;
using Npgsql;
using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests;

/// <summary>Programs that block: all threads of the thread pool may wait for a session at once.</summary>
[Collection(PostgresServer.Collection)]
public sealed class BlockingTests(PostgresServer server)
{
    [PostgresTheory]
    [InlineData("block")]
    [InlineData("block-shortly")]
    public async Task A_full_thread_pool_does_not_hold_up_callers_that_block(string part)
    {
        using ChildTest child = ChildTest.Start(server.ConnectionString, part);
        await child.EndAsync();
    }

    /// <summary>As many callers as the thread pool may have threads share one session.</summary>
    internal static Task BlockAsync(string connectionString) => Block(connectionString, Timeout.InfiniteTimeSpan);

    /// <summary>The same with sessions that are too old when they come back, so that each is ended and another one opened.</summary>
    internal static Task BlockShortlyAsync(string connectionString) => Block(connectionString, TimeSpan.FromMilliseconds(1));

    private static Task Block(string connectionString, TimeSpan lifetime)
    {
        const int turns = 60;
        int threads = Math.Max(Environment.ProcessorCount, 2);
        Assert.True(ThreadPool.SetMinThreads(threads, 1) && ThreadPool.SetMaxThreads(threads, 1));
        using PooledDbDataSource pool = new(NpgsqlFactory.Instance, connectionString, new() { MaxSize = 1, MaxLifetime = lifetime, RentTimeout = TimeSpan.FromSeconds(30) });
        using var all = new CountdownEvent(threads);
        Exception? failure = null;
        for (int i = 0; i < threads; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                _ =>
                {
                    try
                    {
                        for (int turn = 0; turn < turns && failure is null; turn++)
                        {
                            using PooledDbConnection connection = pool.OpenConnection();
                            using DbCommand command = connection.CreateCommand();
                            command.CommandText = "SELECT 1";
                            Assert.Equal(1, command.ExecuteScalar());
                            Thread.Sleep(2); // so that others wait, and sessions grow old
                        }
                    }
                    catch (Exception e)
                    {
                        failure = e;
                    }

                    all.Signal();
                },
                null);
        }

        all.Wait();
        Assert.Null(failure);
        Assert.Equal(threads * turns, pool.GetStatistics().Rented);
        Assert.True(lifetime == Timeout.InfiniteTimeSpan ? pool.GetStatistics().Created == 1 : pool.GetStatistics().Created > 1);
        return Task.CompletedTask;
    }
}

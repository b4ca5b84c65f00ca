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
    [InlineData("block-failing")]
    public async Task A_full_thread_pool_does_not_hold_up_callers_that_block(string part)
    {
        using ChildTest child = ChildTest.Start(server.ConnectionString, part);
        await child.EndAsync();
    }

    /// <summary>As many callers as the thread pool may have threads share one session.</summary>
    internal static Task BlockAsync(string connectionString) => Block(connectionString, Timeout.InfiniteTimeSpan);

    /// <summary>Sessions are too old when they come back, so that each is closed and another one opened.</summary>
    internal static Task BlockShortlyAsync(string connectionString) => Block(connectionString, TimeSpan.FromMilliseconds(1));

    /// <summary>Every other creation fails: the end of the backoff is seen although the timer has no thread.</summary>
    internal static async Task BlockFailingAsync(string _)
    {
        const int turns = 4;
        await using var pool = new ResourcePool<object>(
            new FailingPolicy(),
            new() { MaxSize = 1, BackoffMin = TimeSpan.FromMilliseconds(50), BackoffMax = TimeSpan.FromMilliseconds(50) });
        Exception? failure = Fill(turns, () =>
        {
            try
            {
                ResourceLease<object> lease = pool.Rent(TimeSpan.FromSeconds(60));
                lease.MarkBroken();
                lease.Dispose();
            }
            catch (ResourceCreateException)
            {
                // Every other one.
            }
        });
        Assert.Null(failure);
        Assert.Equal(0, pool.GetStatistics().TimedOut);
    }

    /// <summary>Makes all threads that the thread pool may have do the same so many times.</summary>
    private static Exception? Fill(int turns, Action use)
    {
        int threads = Math.Max(Environment.ProcessorCount, 2);
        Assert.True(ThreadPool.SetMinThreads(threads, 1) && ThreadPool.SetMaxThreads(threads, 1));
        using var all = new CountdownEvent(threads);
        Exception? failure = null;
        for (int i = 0; i < threads; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                _ =>
                {
                    for (int turn = 0; turn < turns && failure is null; turn++)
                    {
                        try
                        {
                            use();
                        }
                        catch (Exception e)
                        {
                            failure = e;
                        }
                    }

                    all.Signal();
                },
                null);
        }

        all.Wait();
        return failure;
    }

    private static Task Block(string connectionString, TimeSpan lifetime)
    {
        const int turns = 60;
        using PooledDbDataSource pool = new(
            NpgsqlFactory.Instance,
            connectionString + ";Timeout=2;Command Timeout=2",
            new()
            {
                Pool = new()
                {
                    MaxSize = 1,
                    MaxLifetime = lifetime,
                    RentTimeout = TimeSpan.FromSeconds(60),
                    BackoffMin = TimeSpan.FromMilliseconds(1),
                    BackoffMax = TimeSpan.FromMilliseconds(1),
                },
            });
        int uses = 0;
        int served = 0;
        Exception? failure = Fill(turns, () =>
        {
            Interlocked.Increment(ref uses);
            try
            {
                Use(pool);
                Interlocked.Increment(ref served);
            }
            catch (Exception e) when (IsMissedAnswer(e))
            {
                // Not the pool's.
            }
        });
        Assert.Null(failure);
        Assert.InRange(served, uses * 9 / 10, uses);
        Assert.Equal(0, pool.GetStatistics().TimedOut);
        Assert.True(lifetime == Timeout.InfiniteTimeSpan ? pool.GetStatistics().Created < turns / 2 : pool.GetStatistics().Created > 1);
        return Task.CompletedTask;
    }

    private static void Use(PooledDbDataSource pool)
    {
        using PooledDbConnection connection = pool.OpenConnection();
        using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT 1";
        Assert.Equal(1, command.ExecuteScalar());
        Thread.Sleep(2); // so that others wait, and sessions grow old
    }

    /// <summary>
    /// The runtime hands most events of a socket to the thread that blocks on it, but one that comes just before the thread blocks goes
    /// to the thread pool: with that full, the provider's own synchronous read sees its answer never. That is seldom, and no matter of
    /// the pool.
    /// </summary>
    private static bool IsMissedAnswer(Exception failure) =>
        failure is NpgsqlException { InnerException: TimeoutException }
            or PooledDbException
            {
                InnerException: ResourceCreateException { InnerException: NpgsqlException { InnerException: TimeoutException } },
            };

    private sealed class FailingPolicy : ResourcePolicy<object>
    {
        private int _attempts;

        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken) => throw new IOException("not on this way");

        public override object Create(CancellationToken cancellationToken) =>
            Interlocked.Increment(ref _attempts) % 2 == 0 ? throw new IOException("as asked") : new object();
    }
}

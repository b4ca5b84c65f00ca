using System.Data.Common;
using Npgsql;
using Tidepool.Data.Tests.Support;

namespace Tidepool.Data.Tests.Faults;

/// <summary>
/// What tests do in processes that get too little of the processor, or none of their thread pool. An exception is the failure of the
/// test.
/// </summary>
internal static class StarvedParts
{
    /// <summary>A time that passes in the test. What has to happen before it is up happens while nothing could notice that it is.</summary>
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan Shortly = TimeSpan.FromMilliseconds(30);

    /// <summary>
    /// The thread pool has no free thread while sessions come back, the server answers and deadlines pass: the pool's timer and the
    /// answers are late. Begins on the main thread, which is none of the thread pool's.
    /// </summary>
    public static async Task RunLateAsync(string server)
    {
        // Not reset: an answer that comes just before a thread begins to wait for it is told by a thread of the thread pool, also to
        // synchronous code.
        await using PooledDbDataSource returned = NewPool(
            server,
            new()
            {
                MinSize = 2,
                MaxSize = 2,
                ResetMode = ResetMode.None,
                ValidateAfterIdle = FaultTest.Never,
                RentTimeout = Soon,
                CreateTimeout = FaultTest.Never,
                PolicyTimeout = FaultTest.Never,
            });
        await using PooledDbDataSource asked = NewPool(
            server,
            new()
            {
                MinSize = 3,
                MaxSize = 3,
                ValidateAfterIdle = TimeSpan.Zero,
                RentTimeout = Soon,
                CreateTimeout = FaultTest.Never,
                PolicyTimeout = FaultTest.Never,
            });
        Sql.Until(() => returned.GetStatistics().Idle == 2 && asked.GetStatistics().Idle == 3, "the smallest sizes are there");
        PooledDbConnection[] held = [returned.OpenConnection(), returned.OpenConnection()];
        var given = new List<PooledDbConnection>();
        Task<DbException?>[] waiting;
        Task<DbException?>[] asking;
        using (new Starvation())
        {
            waiting = [.. Enumerable.Range(0, 6).Select(_ => TryHoldAsync(returned, given))];
            Array.ForEach(held, static connection => connection.Dispose());
            Tell("ready");
            asking = [.. Enumerable.Range(0, 3).Select(_ => FaultTest.TryUseAsync(asked))];
            Tell("asked");

            // Threads that are parked need no timer. When their time is up, that of those who came before is, too, and they see to it.
            Assert.All(UseOnThreads(returned, 2), AssertTimedOut);

            AssertLate(returned.GetStatistics(), asked.GetStatistics());
            Assert.DoesNotContain(waiting.Concat(asking), static task => task.IsCompleted);
        }

        // A caller that was given a session has it, however late it is told; the time of the others is up.
        DbException?[] ends = await Task.WhenAll(waiting);
        Assert.All(ends[..2], Assert.Null);
        Assert.All(ends[2..], AssertTimedOut);
        Assert.All(await Task.WhenAll(given.Select(static connection => FaultTest.TryAskAsync(connection))), Assert.Null);
        await FaultTest.SettleAsync(returned);
        ResourcePoolStatistics statistics = returned.GetStatistics();
        Assert.Equal((4L, 6L, 0L), (statistics.Rented, statistics.TimedOut, statistics.Destroyed));

        // Sessions whose answer was read after their caller's time are as good as they were.
        int timedOut = CountTimedOut(await Task.WhenAll(asking));
        await FaultTest.SettleAsync(asked);
        statistics = asked.GetStatistics();
        Assert.Equal((3, 3L, 0L), (statistics.Idle, statistics.Created, statistics.Destroyed));
        Assert.Equal((3L - timedOut, (long)timedOut), (statistics.Rented, statistics.TimedOut));
        await FaultTest.UntilAsync(async () => await FaultTest.TryUseAsync(asked) is null, "a session serves again");
        await FaultTest.SettleAsync(asked);
        Assert.Equal(0, asked.GetStatistics().Destroyed);
        await FaultTest.EndAsync(returned);
        await FaultTest.EndAsync(asked);
    }

    private static void AssertLate(ResourcePoolStatistics returned, ResourcePoolStatistics asked)
    {
        Assert.Equal((2, 0, 6L), (returned.Leased, returned.Waiting, returned.TimedOut));
        Assert.Equal((3, 3, 0L), (asked.Checking, asked.Waiting, asked.TimedOut));
    }

    /// <summary>The process has one processor, most of which is taken by threads that compute.</summary>
    public static async Task RunBusyAsync(string server)
    {
        const int callers = 6;
        const int uses = 8;
        await using PooledDbDataSource patient = NewPool(
            server,
            new()
            {
                MaxSize = 3,
                ValidateAfterIdle = TimeSpan.Zero,
                KeepAliveInterval = Shortly,
                RentTimeout = FaultTest.Never,
                CreateTimeout = FaultTest.Never,
                PolicyTimeout = FaultTest.Never,
            });
        await using PooledDbDataSource hurried = NewPool(
            server,
            new()
            {
                MinSize = 2,
                MaxSize = 2,
                ValidateAfterIdle = TimeSpan.Zero,
                RentTimeout = Shortly,
                CreateTimeout = FaultTest.Never,
                PolicyTimeout = FaultTest.Never,
            });
        await FaultTest.UntilAsync(() => hurried.GetStatistics().Idle == 2, "the smallest size is there");
        var held = new List<PooledDbConnection>();
        await FaultTest.UntilAsync(async () => await TryHoldAsync(hurried, held) is null && held.Count == 2, "both are held");
        long missed = hurried.GetStatistics().TimedOut;
        int outOfTime;
        using (new Load(4))
        {
            // Nothing comes back: every deadline ends.
            Task<DbException?[]> parked = OnThreadAsync(() => UseOnThreads(hurried, 2));
            Assert.All(await Task.WhenAll(Enumerable.Range(0, callers).Select(_ => FaultTest.TryUseAsync(hurried))), AssertTimedOut);
            Assert.All(await parked, AssertTimedOut);
            missed += callers + 2;
            Assert.Equal(missed, hurried.GetStatistics().TimedOut);
            await Task.WhenAll(held.Select(static connection => connection.DisposeAsync().AsTask()));

            // Everything comes and goes: some are out of time, also while the server is asked for them.
            Task<DbException?[]> byThreads = OnThreadAsync(() => UseOnThreads(patient, 3));
            Task<DbException?[]> inNoHurry = UseAgainAndAgainAsync(patient, callers, uses);
            outOfTime = CountTimedOut(await UseAgainAndAgainAsync(hurried, callers, uses));
            Assert.All(await inNoHurry, Assert.Null);
            Assert.All(await byThreads, Assert.Null);
        }

        await FaultTest.SettleAsync(patient);
        await FaultTest.SettleAsync(hurried);
        ResourcePoolStatistics statistics = patient.GetStatistics();
        Assert.Equal(
            ((long)(callers * uses) + 3, 0L, 0L, 0L),
            (statistics.Rented, statistics.TimedOut, statistics.Destroyed, statistics.CreateFailures));
        statistics = hurried.GetStatistics();
        Assert.Equal((2L, 0L, 0L), (statistics.Created, statistics.Destroyed, statistics.CreateFailures));
        Assert.Equal((2L + (callers * uses) - outOfTime, missed + outOfTime), (statistics.Rented, statistics.TimedOut));
        await FaultTest.EndAsync(patient);
        await FaultTest.EndAsync(hurried);
    }

    /// <summary>Says how far it is, and goes on when it is told to.</summary>
    private static void Tell(string line)
    {
        Console.WriteLine(line);
        Console.ReadLine();
    }

    private static PooledDbDataSource NewPool(string server, ResourcePoolOptions options) =>
        new(NpgsqlFactory.Instance, server + ";Timeout=0;Command Timeout=0", new PooledDbOptions { Pool = options });

    private static async Task<DbException?[]> UseAgainAndAgainAsync(PooledDbDataSource pool, int callers, int uses)
    {
        DbException?[][] ends = await Task.WhenAll(Enumerable.Range(0, callers).Select(_ => Task.Run(async () =>
        {
            var own = new DbException?[uses];
            for (int i = 0; i < uses; i++)
            {
                own[i] = await FaultTest.TryUseAsync(pool);
            }

            return own;
        })));
        return [.. ends.SelectMany(static own => own)];
    }

    /// <summary>
    /// Opens and closes a connection on so many threads of their own at once; returns when all have ended, with what went wrong.
    /// </summary>
    private static DbException?[] UseOnThreads(PooledDbDataSource pool, int count)
    {
        var failures = new DbException?[count];
        Thread[] threads = [.. Enumerable.Range(0, count).Select(i => new Thread(() =>
        {
            try
            {
                pool.OpenConnection().Dispose();
            }
            catch (DbException failure)
            {
                failures[i] = failure;
            }
        }))];
        Array.ForEach(threads, static thread => thread.Start());
        Array.ForEach(threads, static thread => thread.Join());
        return failures;
    }

    private static Task<T> OnThreadAsync<T>(Func<T> work) =>
        Task.Factory.StartNew(work, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    private static async Task<DbException?> TryHoldAsync(PooledDbDataSource pool, List<PooledDbConnection> held)
    {
        try
        {
            PooledDbConnection connection = await pool.OpenConnectionAsync();
            lock (held)
            {
                held.Add(connection);
            }

            return null;
        }
        catch (DbException failure)
        {
            return failure;
        }
    }

    private static int CountTimedOut(IEnumerable<DbException?> ends)
    {
        DbException[] failures = [.. ends.OfType<DbException>()];
        Assert.All(failures, AssertTimedOut);
        return failures.Length;
    }

    private static void AssertTimedOut(DbException? end) =>
        Assert.IsType<ResourcePoolTimeoutException>(Assert.IsType<PooledDbException>(end).PoolError);
}

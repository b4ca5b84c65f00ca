using System.Data.Common;
using System.Diagnostics;
using System.Net.Sockets;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>
/// What tests of faults share, whatever the database. No test compares a time with a clock from above: what takes long only makes it
/// slower. At the end of each the pool's numbers add up, it shuts down, and the server has none of its sessions.
/// </summary>
public abstract class ServerFaultTest : IAsyncLifetime
{
    /// <summary>
    /// Longer than any test: a time that does not come. Every time of a pool that a test is not about is this one, so that a slow machine
    /// changes nothing.
    /// </summary>
    internal static readonly TimeSpan Never = TimeSpan.FromHours(1);

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private readonly List<PooledDbDataSource> _pools = [];
    private readonly List<FaultProxy> _proxies = [];

    private protected abstract int ServerPort { get; }

    /// <summary>Options of a pool whose times do not come.</summary>
    internal static ResourcePoolOptions Patient(int size) => new()
    {
        MaxSize = size,
        ValidateAfterIdle = Never,
        RentTimeout = Never,
        CreateTimeout = Never,
        PolicyTimeout = Never,
    };

    public Task InitializeAsync() => Task.CompletedTask;

    public async Task DisposeAsync()
    {
        foreach (FaultProxy proxy in _proxies)
        {
            await proxy.DisposeAsync();
        }

        foreach (PooledDbDataSource pool in _pools)
        {
            await EndAsync(pool);
        }

        if (_pools.Count > 0)
        {
            await UntilAsync(async () => !await HasSessionsAsync(), "the server has no session of the pool");
        }
    }

    /// <summary>A pool of sessions of the server, or of what is at another port, whose connection string sets no limits.</summary>
    internal abstract PooledDbDataSource NewPool(ResourcePoolOptions options, int? port = null, string more = "");

    /// <summary>The number of the session, from the server.</summary>
    internal abstract Task<long> FindSessionAsync(DbConnection connection);

    /// <summary>A proxy in front of the server.</summary>
    internal FaultProxy NewProxy()
    {
        var proxy = new FaultProxy(ServerPort);
        _proxies.Add(proxy);
        return proxy;
    }

    /// <summary>Opens so many sessions and lets them lie idle.</summary>
    /// <returns>Their numbers.</returns>
    internal async Task<long[]> OpenAndCloseAsync(PooledDbDataSource pool, int count)
    {
        PooledDbConnection[] held = await HoldAsync(pool, count);
        long[] sessions = await Task.WhenAll(held.Select(FindSessionAsync));
        foreach (PooledDbConnection connection in held)
        {
            await connection.DisposeAsync();
        }

        await SettleAsync(pool);
        Assert.Equal(count, pool.GetStatistics().Idle);
        return sessions;
    }

    /// <summary>Opens a connection, asks for the number of its session, and closes it.</summary>
    internal async Task<long> VisitAsync(PooledDbDataSource pool)
    {
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        return await FindSessionAsync(connection);
    }

    internal static async Task<PooledDbConnection[]> HoldAsync(PooledDbDataSource pool, int count)
    {
        var held = new PooledDbConnection[count];
        for (int i = 0; i < count; i++)
        {
            held[i] = await pool.OpenConnectionAsync();
        }

        return held;
    }

    /// <summary>Says what went wrong with a request, if anything; providers let some errors of the network pass as they are.</summary>
    internal static async Task<Exception?> TryAsync(Func<Task> request)
    {
        try
        {
            await request();
            return null;
        }
        catch (Exception failure) when (failure is DbException or IOException or SocketException)
        {
            return failure;
        }
    }

    internal static async Task<T> ReadAsync<T>(DbConnection connection, string sql, CancellationToken cancellationToken = default)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        return (T)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    internal static async Task RunAsync(DbConnection connection, string sql)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        await command.ExecuteNonQueryAsync();
    }

    /// <summary>Runs what blocks on a thread of its own.</summary>
    internal static Task<T> BlockAsync<T>(Func<T> work) =>
        Task.Factory.StartNew(work, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    /// <summary>Waits until the pool has done what it has to.</summary>
    internal static Task SettleAsync(PooledDbDataSource pool) => UntilAsync(
        () => pool.GetStatistics() is { Checking: 0, Destroying: 0, Creating: 0 }, "the pool settles");

    internal static Task UntilAsync(Func<bool> isSo, string what) => UntilAsync(() => Task.FromResult(isSo()), what);

    internal static async Task UntilAsync(Func<Task<bool>> isSo, string what)
    {
        long start = Stopwatch.GetTimestamp();
        while (!await isSo())
        {
            Assert.True(Stopwatch.GetElapsedTime(start) < Patience, $"In vain for {Patience.TotalMinutes} minutes: {what}");
            await Task.Delay(5);
        }
    }

    /// <summary>Whether an error, or one inside it, is of a kind.</summary>
    internal static bool Has<T>(Exception? failure, Func<T, bool> test)
        where T : Exception
    {
        for (Exception? e = failure; e is not null; e = e.InnerException)
        {
            if (e is T found && test(found))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Everything was closed: numbers add up, and nothing is left.</summary>
    internal static async Task EndAsync(PooledDbDataSource pool)
    {
        pool.Validate();
        ResourcePoolStatistics before = pool.GetStatistics();
        Assert.Equal((0, 0), (before.Leased, before.Waiting));
        Assert.Equal(before.Rented, before.Returned);
        Assert.Equal(before.Total, before.Created - before.Destroyed - before.Detached);
        Assert.InRange(before.Total + before.Creating + before.Destroying, 0, before.MaxSize);

        Assert.True(await pool.ShutdownAsync(Patience));

        pool.Validate();
        ResourcePoolStatistics after = pool.GetStatistics();
        Assert.Equal((0, 0, 0, 0), (after.Total, after.Creating, after.Destroying, after.Waiting));
        Assert.Equal(after.Created, after.Destroyed + after.Detached);
        await pool.DisposeAsync();
    }

    /// <summary>Whether the server still has sessions of the pool.</summary>
    private protected abstract Task<bool> HasSessionsAsync();

    /// <summary>Ends the pool with the test.</summary>
    private protected PooledDbDataSource Keep(PooledDbDataSource pool)
    {
        _pools.Add(pool);
        return pool;
    }
}

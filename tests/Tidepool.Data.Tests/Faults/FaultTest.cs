using System.Data.Common;
using System.Diagnostics;
using Npgsql;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>
/// What tests of faults share. No test compares a time with a clock from above: what takes long only makes it slower. At the end of each
/// the pool's numbers add up, it shuts down, and the server has none of its sessions.
/// </summary>
[Collection(FaultServer.Collection)]
public abstract class FaultTest(FaultServer server) : IAsyncLifetime
{
    private const string Application = "fault";

    /// <summary>
    /// Longer than any test: a time that does not come. Every time of a pool that a test is not about is this one, so that a slow machine
    /// changes nothing.
    /// </summary>
    internal static readonly TimeSpan Never = TimeSpan.FromHours(1);

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private readonly List<PooledDbDataSource> _pools = [];
    private readonly List<FaultProxy> _proxies = [];

    internal PostgresCluster Cluster => server.Cluster;

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
            await UntilAsync(
                async () => (await Cluster.ListSessionsAsync()).All(static session => session.Application != Application),
                "the server has no session of the pool");
        }
    }

    /// <summary>A pool of sessions of the server, or of what is at another port.</summary>
    internal PooledDbDataSource NewPool(ResourcePoolOptions options, int? port = null, string more = "", bool resetsLater = false)
    {
        string server =
            $"{Cluster.ConnectionStringTo(port ?? Cluster.Port)};Application Name={Application};Timeout=0;Command Timeout=0;{more}";
        var pool = new PooledDbDataSource(
            NpgsqlFactory.Instance, server, new PooledDbOptions { Pool = options, ResetWithNextStatement = resetsLater });
        _pools.Add(pool);
        return pool;
    }

    /// <summary>A proxy in front of the server.</summary>
    internal FaultProxy NewProxy()
    {
        var proxy = new FaultProxy(Cluster.Port);
        _proxies.Add(proxy);
        return proxy;
    }

    /// <summary>Opens so many sessions and lets them lie idle.</summary>
    /// <returns>Their processes.</returns>
    internal static async Task<int[]> FillAsync(PooledDbDataSource pool, int count)
    {
        var connections = new List<PooledDbConnection>();
        for (int i = 0; i < count; i++)
        {
            connections.Add(await pool.OpenConnectionAsync());
        }

        int[] processes = [.. connections.Select(static connection => ProcessOf(connection))];
        foreach (PooledDbConnection connection in connections)
        {
            await connection.DisposeAsync();
        }

        await SettleAsync(pool);
        Assert.Equal(count, pool.GetStatistics().Idle);
        return processes;
    }

    /// <summary>Opens a connection, asks for its process, and closes it.</summary>
    internal static async Task<int> UseAsync(PooledDbDataSource pool)
    {
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        return await AskAsync(connection);
    }

    /// <summary>Asks, and says what went wrong, if anything.</summary>
    internal static async Task<DbException?> TryUseAsync(PooledDbDataSource pool)
    {
        try
        {
            await UseAsync(pool);
            return null;
        }
        catch (DbException failure)
        {
            return failure;
        }
    }

    /// <summary>Asks on an open connection, which is closed afterwards, and what went wrong, if anything.</summary>
    internal static async Task<DbException?> TryAskAsync(PooledDbConnection connection)
    {
        await using (connection)
        {
            try
            {
                await AskAsync(connection);
                return null;
            }
            catch (DbException failure)
            {
                return failure;
            }
        }
    }

    /// <summary>The process of the session, from the server.</summary>
    internal static Task<int> AskAsync(DbConnection connection) => ReadAsync<int>(connection, "SELECT pg_backend_pid()");

    /// <summary>The process of the session, without asking the server.</summary>
    internal static int ProcessOf(PooledDbConnection connection) => connection.Unwrap<NpgsqlConnection>().ProcessID;

    internal static async Task<T> ReadAsync<T>(DbConnection connection, string sql)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        return (T)(await command.ExecuteScalarAsync())!;
    }

    internal static async Task RunAsync(DbConnection connection, string sql)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        await command.ExecuteNonQueryAsync();
    }

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
}

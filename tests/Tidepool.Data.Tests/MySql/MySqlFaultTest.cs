using System.Data.Common;
using System.Net.Sockets;
using MySqlConnector;
using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.MySql;

/// <summary>
/// What tests of faults of MySQL share. No test compares a time with a clock from above. At the end of each the pool's numbers add up,
/// it shuts down, and the server has none of its sessions.
/// </summary>
[Collection(MySqlServer.Collection)]
public abstract class MySqlFaultTest(MySqlServer server) : IAsyncLifetime
{
    private readonly List<PooledDbDataSource> _pools = [];
    private readonly List<FaultProxy> _proxies = [];

    internal MariaDbServer Server => server.Server;

    /// <summary>Options of a pool whose times do not come, so that a slow machine changes nothing.</summary>
    internal static ResourcePoolOptions Patient(int size) => new()
    {
        MaxSize = size,
        ValidateAfterIdle = FaultTest.Never,
        RentTimeout = FaultTest.Never,
        CreateTimeout = FaultTest.Never,
        PolicyTimeout = FaultTest.Never,
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
            await FaultTest.EndAsync(pool);
        }

        if (_pools.Count > 0)
        {
            await FaultTest.UntilAsync(
                async () => (await Server.ListSessionsAsync()).Count == 0, "the server has no session of the pool");
        }
    }

    /// <summary>A pool of sessions of the server, or of what is at another port.</summary>
    internal PooledDbDataSource NewPool(ResourcePoolOptions options, int? port = null, string more = "")
    {
        string text = $"{MySqlServer.GuestOf(Server.ConnectionStringTo(port ?? Server.Port))};Connection Timeout=0;"
            + $"Default Command Timeout=0;{more}";
        var pool = new PooledDbDataSource(MySqlConnectorFactory.Instance, text, new PooledDbOptions { Pool = options });
        _pools.Add(pool);
        return pool;
    }

    /// <summary>A proxy in front of the server.</summary>
    internal FaultProxy NewProxy()
    {
        var proxy = new FaultProxy(Server.Port);
        _proxies.Add(proxy);
        return proxy;
    }

    /// <summary>Opens so many sessions and lets them lie idle.</summary>
    /// <returns>Their numbers.</returns>
    internal static async Task<long[]> FillAsync(PooledDbDataSource pool, int count)
    {
        PooledDbConnection[] held = await HoldAsync(pool, count);
        long[] sessions = await Task.WhenAll(held.Select(static connection => AskAsync(connection)));
        foreach (PooledDbConnection connection in held)
        {
            await connection.DisposeAsync();
        }

        await FaultTest.SettleAsync(pool);
        Assert.Equal(count, pool.GetStatistics().Idle);
        return sessions;
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

    /// <summary>The number of the session, from the server.</summary>
    internal static async Task<long> AskAsync(DbConnection connection)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT CONNECTION_ID()";
        return Convert.ToInt64(await command.ExecuteScalarAsync(), null);
    }

    /// <summary>Opens a connection, asks for its number, and closes it.</summary>
    internal static async Task<long> UseAsync(PooledDbDataSource pool)
    {
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        return await AskAsync(connection);
    }

    /// <summary>Asks, and says what went wrong, if anything.</summary>
    internal static async Task<Exception?> TryUseAsync(PooledDbDataSource pool)
    {
        try
        {
            await UseAsync(pool);
            return null;
        }
        catch (Exception failure) when (failure is DbException or IOException or SocketException) // the provider lets some pass
        {
            return failure;
        }
    }

    /// <summary>Asks on an open connection, which is closed afterwards, and what went wrong, if anything.</summary>
    internal static async Task<Exception?> TryAskAsync(PooledDbConnection connection)
    {
        await using (connection)
        {
            try
            {
                await AskAsync(connection);
                return null;
            }
            catch (Exception failure) when (failure is DbException or IOException or SocketException) // the provider lets some pass
            {
                return failure;
            }
        }
    }
}

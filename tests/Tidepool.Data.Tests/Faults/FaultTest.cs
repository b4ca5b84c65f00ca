using System.Data.Common;
using Npgsql;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>What tests of faults of PostgreSQL share.</summary>
[Collection(FaultServer.Collection)]
public abstract class FaultTest(FaultServer server) : ServerFaultTest
{
    private const string Application = "fault";

    internal PostgresCluster Cluster => server.Cluster;

    private protected override int ServerPort => Cluster.Port;

    internal override PooledDbDataSource NewPool(ResourcePoolOptions options, int? port = null, string more = "") =>
        NewPool(options, port, more, resetsLater: false);

    /// <summary>A pool of sessions of the server, or of what is at another port.</summary>
    internal PooledDbDataSource NewPool(ResourcePoolOptions options, int? port = null, string more = "", bool resetsLater = false)
    {
        string server =
            $"{Cluster.ConnectionStringTo(port ?? Cluster.Port)};Application Name={Application};Timeout=0;Command Timeout=0;{more}";
        return Keep(new PooledDbDataSource(
            NpgsqlFactory.Instance, server, new PooledDbOptions { Pool = options, ResetWithNextStatement = resetsLater }));
    }

    internal override Task<long> FindSessionAsync(DbConnection connection) =>
        ReadAsync<long>(connection, "SELECT pg_backend_pid()::bigint");

    /// <summary>Opens so many sessions and lets them lie idle.</summary>
    /// <returns>Their processes.</returns>
    internal static async Task<int[]> FillAsync(PooledDbDataSource pool, int count)
    {
        PooledDbConnection[] connections = await HoldAsync(pool, count);
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

    private protected override async Task<bool> HasSessionsAsync() =>
        (await Cluster.ListSessionsAsync()).Any(static session => session.Application == Application);
}

using System.Data.Common;
using MySqlConnector;
using Tidepool.Data.Tests.Faults;
using Tidepool.Data.Tests.Support;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.MySql;

/// <summary>What tests of faults of MySQL share.</summary>
[Collection(MySqlServer.Collection)]
public abstract class MySqlFaultTest(MySqlServer server) : ServerFaultTest
{
    internal MariaDbServer Server => server.Server;

    private protected override int ServerPort => Server.Port;

    internal override PooledDbDataSource NewPool(ResourcePoolOptions options, int? port = null, string more = "")
    {
        string text = $"{MySqlServer.GuestOf(Server.ConnectionStringTo(port ?? Server.Port))};Connection Timeout=0;"
            + $"Default Command Timeout=0;{more}";
        return Keep(new PooledDbDataSource(MySqlConnectorFactory.Instance, text, new PooledDbOptions { Pool = options }));
    }

    internal override Task<long> FindSessionAsync(DbConnection connection) => AskAsync(connection);

    /// <summary>The number of the session, from the server.</summary>
    internal static async Task<long> AskAsync(DbConnection connection)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT CONNECTION_ID()";
        return Convert.ToInt64(await command.ExecuteScalarAsync(), null);
    }

    /// <summary>Asks, and says what went wrong, if anything.</summary>
    internal Task<Exception?> TryUseAsync(PooledDbDataSource pool) => TryAsync(() => VisitAsync(pool));

    /// <summary>Asks on an open connection, which is closed afterwards, and what went wrong, if anything.</summary>
    internal static async Task<Exception?> TryAskAsync(PooledDbConnection connection)
    {
        await using (connection)
        {
            return await TryAsync(() => AskAsync(connection));
        }
    }

    private protected override async Task<bool> HasSessionsAsync() => (await Server.ListSessionsAsync()).Count > 0;
}

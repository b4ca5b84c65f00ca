using MySqlConnector;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Support;

/// <summary>One MariaDB for all tests of MySQL, one after another; each leaves it running and as it was.</summary>
public sealed class MySqlServer : IAsyncLifetime
{
    internal const string Collection = "mysql";

    private MariaDbServer? _server;

    internal MariaDbServer Server => _server!;

    /// <summary>For the provider without its pool: a user who may not write on a server that only reads.</summary>
    internal string ConnectionString => GuestOf(Server.ConnectionString) + ";Pooling=false";

    public async Task InitializeAsync()
    {
        if (MariaDbServer.Missing is null)
        {
            _server = await MariaDbServer.StartAsync(new Dictionary<string, string>
            {
                ["character_set_server"] = "latin1",
                ["max_user_connections"] = "500", // a server without this limit cannot be given one
            });
            await _server.ExecuteAsync(
                "CREATE USER guest@'127.0.0.1' IDENTIFIED BY 'guest'; GRANT ALL ON lab.* TO guest@'127.0.0.1'; "
                    + "CREATE DATABASE other; GRANT ALL ON other.* TO guest@'127.0.0.1'; CREATE ROLE painter; "
                    + "GRANT painter TO guest@'127.0.0.1'");
        }
    }

    public async Task DisposeAsync() => await (_server?.DisposeAsync() ?? default);

    /// <summary>Leads to a server as the user who may do less.</summary>
    internal static string GuestOf(string connectionString) =>
        new MySqlConnectionStringBuilder(connectionString) { UserID = "guest", Password = "guest" }.ConnectionString;

    internal PooledDbDataSource NewPool(PooledDbOptions? options = null, string more = "") =>
        new(MySqlConnectorFactory.Instance, ConnectionString + more, options);
}

[CollectionDefinition(MySqlServer.Collection)]
public sealed class MySqlServerCollection : ICollectionFixture<MySqlServer>;

using MySqlConnector;
using Tidepool.Data.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Data.Tests.MySql;

/// <summary>Random operations on a pooled connection and on one of the provider: results, errors, events and states are the same.</summary>
[Collection(MySqlServer.Collection)]
public sealed class MySqlParityTests(MySqlServer server, ITestOutputHelper output)
{
    private const string Content =
        "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u; CREATE TABLE t (a int PRIMARY KEY, b text); "
            + "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, NULL)";

    [MySqlFact]
    public async Task A_pooled_connection_to_MySQL_behaves_as_the_providers()
    {
        await server.Server.ExecuteAsync("CREATE DATABASE IF NOT EXISTS bare; CREATE DATABASE IF NOT EXISTS pooled");
        string To(string database) => new MySqlConnectionStringBuilder(server.Server.ConnectionString)
        {
            Database = database,
            Pooling = false,
        }.ConnectionString;
        await using var pool = new PooledDbDataSource(
            MySqlConnectorFactory.Instance, To("pooled"), new PooledDbOptions { Pool = new() { MaxSize = 1 } });
        await using var bare = new MySqlDataSource(To("bare"));
        await ParityTests.CompareAsync(
            output,
            pool,
            () => bare.CreateConnection(),
            hasBatches: true,
            rounds: 150,
            fill: async () =>
            {
                await server.Server.ExecuteAsync("USE bare; " + Content);
                await server.Server.ExecuteAsync("USE pooled; " + Content);
            });
    }
}

using Npgsql;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Support;

/// <summary>One server for all tests that do not stop it.</summary>
public sealed class PostgresServer : IAsyncLifetime
{
    internal const string Collection = "postgres";

    private PostgresCluster? _cluster;

    internal PostgresCluster Cluster => _cluster!;

    internal string ConnectionString => Cluster.ConnectionString + ";Pooling=false";

    public async Task InitializeAsync()
    {
        if (PostgresCluster.Missing is null)
        {
            _cluster = await PostgresCluster.StartAsync();
        }
    }

    public async Task DisposeAsync()
    {
        if (_cluster is not null)
        {
            await _cluster.DisposeAsync();
        }
    }

    internal PooledDbDataSource NewPool(PooledDbOptions? options = null, string more = "") =>
        new(NpgsqlFactory.Instance, ConnectionString + more, options);
}

[CollectionDefinition(PostgresServer.Collection)]
public sealed class PostgresServerCollection : ICollectionFixture<PostgresServer>;

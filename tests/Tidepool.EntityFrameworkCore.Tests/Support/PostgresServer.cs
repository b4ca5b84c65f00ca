using Tidepool.Labs;

namespace Tidepool.Data.Tests.Support;

/// <summary>One server for all tests; each has a database of its own.</summary>
public sealed class PostgresServer : IAsyncLifetime
{
    internal const string Collection = "postgres";

    private PostgresCluster? _cluster;

    internal PostgresCluster Cluster => _cluster!;

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
}

[CollectionDefinition(PostgresServer.Collection)]
public sealed class PostgresServerCollection : ICollectionFixture<PostgresServer>;

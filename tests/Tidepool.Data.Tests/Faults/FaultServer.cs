using Tidepool.Labs;

namespace Tidepool.Data.Tests.Faults;

/// <summary>One server for all tests of faults, one after another; each leaves it running and as it was.</summary>
public sealed class FaultServer : IAsyncLifetime
{
    internal const string Collection = "faults";

    internal PostgresCluster Cluster { get; private set; } = null!;

    public async Task InitializeAsync()
    {
        if (PostgresCluster.Missing is null)
        {
            Cluster = await PostgresCluster.StartAsync();
        }
    }

    public async Task DisposeAsync() => await (Cluster?.DisposeAsync() ?? default);
}

[CollectionDefinition(FaultServer.Collection)]
public sealed class FaultServerCollection : ICollectionFixture<FaultServer>;

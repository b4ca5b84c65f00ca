using System.Data.Common;
using Microsoft.EntityFrameworkCore;
using Npgsql;
using Tidepool.Labs;

namespace Tidepool.Data.Tests.Support;

/// <summary>A database of its own on the server; made by the test, or by <see cref="TestDatabase.FillAsync"/>.</summary>
internal sealed class PostgresDatabase(PostgresCluster cluster) : TestDatabase
{
    private static int _last;

    internal override bool HasServer => true;

    internal string Name { get; } = $"test{Interlocked.Increment(ref _last)}";

    internal override string ConnectionString =>
        new NpgsqlConnectionStringBuilder(cluster.ConnectionString) { Database = Name, MaxPoolSize = 4 }.ConnectionString;

    internal override PooledDbDataSource NewPool(PooledDbOptions? options = null) =>
        new(NpgsqlFactory.Instance, ConnectionString, options);

    internal override void UseProvider(DbContextOptionsBuilder builder) => builder.UseNpgsql();

    internal override void UseProvidersPool(DbContextOptionsBuilder builder) => builder.UseNpgsql(ConnectionString);

    /// <summary>Ended when the server lists it no more, and has said so to its client.</summary>
    internal override async Task KillAsync(DbConnection native) => await cluster.TerminateAsync(((NpgsqlConnection)native).ProcessID);

    public override async ValueTask DisposeAsync()
    {
        NpgsqlConnection.ClearAllPools();
        await cluster.ExecuteAsync($"DROP DATABASE IF EXISTS {Name} WITH (FORCE)");
    }
}

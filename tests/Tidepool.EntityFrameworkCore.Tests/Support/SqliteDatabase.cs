using System.Data.Common;
using Microsoft.Data.Sqlite;
using Microsoft.EntityFrameworkCore;

namespace Tidepool.Data.Tests.Support;

/// <summary>A file of its own, gone with the test.</summary>
internal sealed class SqliteDatabase : TestDatabase
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("tidepool-efcore-");

    internal override bool HasServer => false;

    internal override string ConnectionString => $"Data Source={Path.Combine(_folder.FullName, "test.db")}";

    internal override PooledDbDataSource NewPool(PooledDbOptions? options = null) =>
        new(SqliteFactory.Instance, ConnectionString, options);

    internal override string Place => _folder.FullName;

    internal override void UseProvider(DbContextOptionsBuilder builder, string? connectionString = null, bool retries = false) =>
        builder.UseSqlite(connectionString);

    internal override Task KillAsync(DbConnection native) => throw new NotSupportedException("SQLite has no server.");

    /// <summary>The provider's pool keeps no session that remembers what was changed last.</summary>
    internal override async Task FillAsync()
    {
        await base.FillAsync();
        ClearPool();
    }

    public override ValueTask DisposeAsync()
    {
        ClearPool();
        _folder.Delete(recursive: true);
        return default;
    }

    private void ClearPool()
    {
        using var connection = new SqliteConnection(ConnectionString);
        SqliteConnection.ClearPool(connection);
    }
}

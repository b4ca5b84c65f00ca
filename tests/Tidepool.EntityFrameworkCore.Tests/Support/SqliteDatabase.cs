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

    internal override void UseProvider(DbContextOptionsBuilder builder) => builder.UseSqlite();

    internal override void UseProvidersPool(DbContextOptionsBuilder builder) => builder.UseSqlite(ConnectionString);

    internal override Task KillAsync(DbConnection native) => throw new NotSupportedException("SQLite has no server.");

    public override ValueTask DisposeAsync()
    {
        using (var connection = new SqliteConnection(ConnectionString))
        {
            SqliteConnection.ClearPool(connection);
        }

        _folder.Delete(recursive: true);
        return default;
    }
}

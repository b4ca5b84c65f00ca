using Microsoft.Data.Sqlite;

namespace Tidepool.Data.Tests.Support;

/// <summary>A database file of its own, gone with the test.</summary>
internal sealed class SqliteFile : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("tidepool-data-");

    internal string Path => System.IO.Path.Combine(_folder.FullName, "test.db");

    internal string ConnectionString => $"Data Source={Path}";

    public void Dispose() => _folder.Delete(recursive: true);

    internal PooledDbDataSource NewPool(PooledDbOptions? options = null) => new(SqliteFactory.Instance, ConnectionString, options);

    internal SqliteConnection OpenBare()
    {
        var connection = new SqliteConnection(ConnectionString + ";Pooling=False");
        connection.Open();
        return connection;
    }
}

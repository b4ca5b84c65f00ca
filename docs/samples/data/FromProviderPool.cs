using System.Data.Common;
using Microsoft.Data.Sqlite;
using Npgsql;
using Tidepool.Data;

namespace Samples;

/// <summary>Asks a database through the pool of its provider, and again through ours.</summary>
public static class FromProviderPool
{
    /// <summary>The old way with PostgreSQL.</summary>
    public static NpgsqlDataSource OldPostgres(string text) =>
        NpgsqlDataSource.Create(text + ";Maximum Pool Size=20;Connection Idle Lifetime=60;Timeout=5");

    /// <summary>The new way with PostgreSQL.</summary>
    public static PooledDbDataSource NewPostgres(string text) =>
        new(NpgsqlFactory.Instance, text, new PooledDbOptions
        {
            Pool = new() { MaxSize = 20, IdleTimeout = TimeSpan.FromSeconds(60), RentTimeout = TimeSpan.FromSeconds(5) },
        });

    public static async Task RunAsync(string file, TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        await console.WriteLineAsync($"old: {await OldAsync($"Data Source={file}")}");
        await console.WriteLineAsync($"new: {await NewAsync($"Data Source={file}")}");
    }

    private static async Task<object?> OldAsync(string text)
    {
        await using var connection = new SqliteConnection(text);
        await connection.OpenAsync();
        return await AskAsync(connection);
    }

    private static async Task<object?> NewAsync(string text)
    {
        await using var source = new PooledDbDataSource(SqliteFactory.Instance, text); // one for the program
        await using DbConnection connection = await source.OpenConnectionAsync();
        return await AskAsync(connection);
    }

    private static async Task<object?> AskAsync(DbConnection connection)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT 'rent, use, return'";
        return await command.ExecuteScalarAsync();
    }
}

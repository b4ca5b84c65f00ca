using System.Data.Common;
using Dapper;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.DependencyInjection;
using Tidepool.Data;

namespace Samples;

/// <summary>
/// A pool under code that knows nothing of it: plain ADO.NET, Dapper, a container. Any provider in place of SQLite, which needs no server.
/// </summary>
public static class PoolUnderExistingCode
{
    public static async Task RunAsync(string file, TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        await using var source = new PooledDbDataSource(
            SqliteFactory.Instance,
            $"Data Source={file}",
            new PooledDbOptions { Pool = new() { Name = "orders", MaxSize = 4 } });

        await using (DbConnection connection = await source.OpenConnectionAsync())
        {
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = "CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT NOT NULL)";
            await command.ExecuteNonQueryAsync();
        }

        await using (DbConnection connection = await source.OpenConnectionAsync())
        {
            await connection.ExecuteAsync("INSERT INTO orders (what) VALUES (@What)", new { What = "coffee" });
            await console.WriteLineAsync(await connection.ExecuteScalarAsync<string>("SELECT what FROM orders"));
        }

        await using ServiceProvider services = new ServiceCollection()
            .AddSingleton<DbDataSource>(source)
            .AddScoped(static provider => provider.GetRequiredService<DbDataSource>().CreateConnection())
            .AddScoped<OrderStore>()
            .BuildServiceProvider();
        for (int i = 0; i < 20; i++)
        {
            await using AsyncServiceScope scope = services.CreateAsyncScope();
            await scope.ServiceProvider.GetRequiredService<OrderStore>().AddAsync($"tea {i}");
        }

        await using (DbConnection connection = await source.OpenConnectionAsync())
        {
            await console.WriteLineAsync($"{await connection.ExecuteScalarAsync<int>("SELECT count(*) FROM orders")} orders");
        }

        await console.WriteLineAsync($"no more sessions than MaxSize: {source.GetStatistics().Created <= 4}");
        await MakeEachSessionReadyAsync(file, console);
    }

    private static async Task MakeEachSessionReadyAsync(string file, TextWriter console)
    {
        await using var source = new PooledDbDataSource(
            SqliteFactory.Instance,
            $"Data Source={file}",
            new PooledDbOptions
            {
                InitializeSession = static session =>
                {
                    session.Execute("PRAGMA cache_size = -8000");
                    ((SqliteConnection)session).CreateFunction("shout", static (string text) => text.ToUpperInvariant());
                },
            });
        for (int i = 0; i < 3; i++)
        {
            await using DbConnection connection = await source.OpenConnectionAsync();
            await console.WriteLineAsync(await connection.ExecuteScalarAsync<string>($"SELECT shout(what) FROM orders WHERE id = {i + 1}"));
        }

        await console.WriteLineAsync($"made ready: {source.GetStatistics().Created} session");
    }

    /// <summary>A class that was there before: it takes a closed connection, as Dapper likes it.</summary>
    private sealed class OrderStore(DbConnection connection)
    {
        public async Task AddAsync(string what) => await connection.ExecuteAsync("INSERT INTO orders (what) VALUES (@what)", new { what });
    }
}

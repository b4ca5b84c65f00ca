using System.Data.Common;
using Npgsql;
using Tidepool.Data;

namespace Tidepool.Published;

/// <summary>Makes a type in the database and counts the rentals that know it after a reload.</summary>
internal static class Types
{
    private const int Sessions = 3;

    /// <summary>Prints how many rentals know the type and how many sessions were opened for them.</summary>
    internal static async Task RunAsync(string server)
    {
        await using var pool = new PooledDbDataSource(NpgsqlFactory.Instance, server, new PooledDbOptions
        {
            Pool = new() { MaxSize = Sessions },
        });
        await pool.WarmUpAsync(Sessions);
        string type = $"mood{Guid.NewGuid():N}";
        await using (PooledDbConnection connection = await pool.OpenConnectionAsync())
        {
            await using DbCommand command = connection.CreateCommand();
            command.CommandText = $"CREATE TYPE {type} AS ENUM ('happy')";
            await command.ExecuteNonQueryAsync();
            await connection.Unwrap<NpgsqlConnection>().ReloadTypesAsync();
        }

        PooledDbConnection[] all = await Task.WhenAll(Enumerable.Range(0, Sessions).Select(_ => pool.OpenConnectionAsync().AsTask()));
        int seeing = 0;
        foreach (PooledDbConnection connection in all)
        {
            seeing += await KnowsAsync(connection, type) ? 1 : 0;
            await connection.DisposeAsync();
        }

        Console.WriteLine($"{seeing} of {Sessions} rentals see the new type, {pool.GetStatistics().Created} sessions opened");
    }

    private static async Task<bool> KnowsAsync(PooledDbConnection connection, string type)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT $1::text";
        command.Parameters.Add(new NpgsqlParameter { Value = "happy", DataTypeName = type });
        try
        {
            return await command.ExecuteScalarAsync() is "happy";
        }
        catch (Exception unknown) when (unknown is NotSupportedException or InvalidCastException or ArgumentException)
        {
            return false;
        }
    }
}

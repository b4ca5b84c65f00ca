using System.Data.Common;
using Npgsql;
using Tidepool.Data;

namespace Tidepool.Published;

/// <summary>Lets the reset of a session travel with the next statement, and looks from outside at what the session keeps.</summary>
internal static class Resets
{
    /// <summary>Prints whether another session gets the lock of an idle one, before and after the next renter's first statement.</summary>
    internal static async Task RunAsync(string server)
    {
        await using var pool = new PooledDbDataSource(NpgsqlFactory.Instance, server, new PooledDbOptions
        {
            Pool = new() { MaxSize = 1 },
            ResetWithNextStatement = true,
        });
        await AskAsync(pool, "SELECT pg_advisory_lock(4711)");
        while (pool.GetStatistics().Idle == 0)
        {
            await Task.Delay(1);
        }

        await using var other = new PooledDbDataSource(NpgsqlFactory.Instance, server);
        bool isFree = await AskAsync(other, "SELECT pg_try_advisory_lock(4711)") is true;
        await AskAsync(pool, "SELECT 1");
        bool isFreeAfterwards = await AskAsync(other, "SELECT pg_try_advisory_lock(4711)") is true;
        Console.WriteLine($"free while idle: {isFree}, after the next statement: {isFreeAfterwards}");
    }

    private static async Task<object?> AskAsync(PooledDbDataSource pool, string question)
    {
        await using PooledDbConnection connection = await pool.OpenConnectionAsync();
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = question;
        return await command.ExecuteScalarAsync();
    }
}

using System.Data.Common;
using Npgsql;
using Tidepool.Data;

namespace Samples;

/// <summary>What a program sees when the server ends every session, and how it gets over it.</summary>
public static class SurvivingFailover
{
    public static async Task RunAsync(string connectionString, TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        await using var source = new PooledDbDataSource(
            NpgsqlFactory.Instance,
            connectionString + ";Application Name=survivor",
            new PooledDbOptions { Pool = new() { Name = "failover", MaxSize = 8 } });
        await source.WarmUpAsync(8);

        await using (PooledDbConnection open = await source.OpenConnectionAsync())
        {
            await EndAllSessionsAsync(connectionString);
            try
            {
                await AskAsync(open);
            }
            catch (DbException failure)
            {
                await console.WriteLineAsync($"the connection that was open: {failure.SqlState}");
            }
        }

        int answered = 0;
        for (int i = 0; i < 100; i++)
        {
            await using PooledDbConnection next = await source.OpenConnectionAsync();
            answered += await AskAsync(next);
        }

        await console.WriteLineAsync($"those that came after: {answered} of 100 answered");

        int attempts = await TryAgainAsync(async attempt =>
        {
            await using PooledDbConnection connection = await source.OpenConnectionAsync();
            if (attempt == 1)
            {
                await EndAllSessionsAsync(connectionString);
            }

            await AskAsync(connection);
            return attempt;
        });
        await console.WriteLineAsync($"work that may be repeated: done at attempt {attempts}");
    }

    /// <summary>
    /// Repeats work that another connection may do as well. Work that is not whole in one transaction must look first what of it was done.
    /// </summary>
    private static async Task<T> TryAgainAsync<T>(Func<int, Task<T>> work)
    {
        for (int attempt = 1; ; attempt++)
        {
            try
            {
                return await work(attempt);
            }
            catch (DbException failure) when (attempt < 4 && (failure.IsTransient || failure.SqlState is "57P01" or "57P02" or "57P03"))
            {
                await Task.Delay(TimeSpan.FromMilliseconds(50 << attempt));
            }
        }
    }

    private static async Task<int> AskAsync(PooledDbConnection connection)
    {
        await using DbCommand command = connection.CreateCommand();
        command.CommandText = "SELECT 1";
        return (int)(await command.ExecuteScalarAsync())!;
    }

    /// <summary>As an administrator does it; returns when they are gone.</summary>
    private static async Task EndAllSessionsAsync(string connectionString)
    {
        await using var administrator = new NpgsqlConnection(connectionString + ";Pooling=false");
        await administrator.OpenAsync();
        await using var command = new NpgsqlCommand(
            "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity WHERE application_name = 'survivor'",
            administrator);
        await command.ExecuteScalarAsync();
    }
}

using System.Data.Common;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>What is done with connections of any data source.</summary>
internal static class DbConnections
{
    /// <summary>Opens a session of the run's server that no pool knows, to look from outside.</summary>
    public static NpgsqlConnection OpenObserver()
    {
        var connection = new NpgsqlConnection(LabServer.ConnectionString + ";Pooling=false;Application Name=observer");
        connection.Open();
        return connection;
    }

    /// <summary>
    /// Counts the sessions of a name, again and again for two seconds while there are more than expected: a server takes note of an end a
    /// little later.
    /// </summary>
    public static long CountSessions(NpgsqlConnection observer, string application, int expected)
    {
        using var command = new NpgsqlCommand("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", observer);
        command.Parameters.Add(new() { Value = application });
        long deadline = Environment.TickCount64 + 2000;
        long count;
        while ((count = (long)command.ExecuteScalar()!) > expected && Environment.TickCount64 < deadline)
        {
            Thread.Sleep(5);
        }

        return count;
    }

    /// <summary>Opens so many at once and closes them, so that a pool has them idle.</summary>
    public static void Warm(DbDataSource source, int count)
    {
        DbConnection[] all = [.. Enumerable.Range(0, count).Select(_ => source.OpenConnection())];
        Array.ForEach(all, static connection => connection.Dispose());
    }

    /// <summary>Opens, runs a statement and closes.</summary>
    public static async Task<object?> AskAsync(DbDataSource source, string sql)
    {
        DbConnection connection = await source.OpenConnectionAsync().ConfigureAwait(false);
        await using (connection.ConfigureAwait(false))
        {
            return await AskAsync(connection, sql).ConfigureAwait(false);
        }
    }

    /// <summary>Runs a statement.</summary>
    public static async Task<object?> AskAsync(DbConnection connection, string sql)
    {
        DbCommand command = connection.CreateCommand();
        await using (command.ConfigureAwait(false))
        {
            command.CommandText = sql;
            return await command.ExecuteScalarAsync().ConfigureAwait(false);
        }
    }
}

using System.Data.Common;

namespace Tidepool.Data.Tests.Support;

/// <summary>Ways to use a session, for tests of what is left of it: the mode of its reset, what was done on it, how callers call.</summary>
internal static class SessionUse
{
    /// <summary>
    /// Each mode that resets, with how the session was used (nothing prepared, something prepared, lent), and with callers that block and
    /// that await.
    /// </summary>
    internal static IEnumerable<(ResetMode Mode, string Use, bool IsSync)> Ways =>
        from mode in new[] { ResetMode.Background, ResetMode.OnReturn, ResetMode.OnRent }
        from use in new[] { "plain", "prepared", "lent" }
        from isSync in new[] { false, true }
        select (mode, use, isSync);

    internal static async Task<PooledDbConnection> OpenAsync(PooledDbDataSource pool, bool isSync) =>
        isSync ? pool.OpenConnection() : await pool.OpenConnectionAsync();

    internal static async Task CloseAsync(PooledDbConnection connection, bool isSync)
    {
        if (isSync)
        {
            connection.Dispose();
        }
        else
        {
            await connection.DisposeAsync();
        }
    }

    /// <summary>Uses it as the way says.</summary>
    internal static void Use(PooledDbConnection connection, string use)
    {
        if (use == "prepared")
        {
            using DbCommand command = connection.CreateCommand();
            command.CommandText = "SELECT 'kept'";
            command.Prepare();
        }
        else if (use == "lent")
        {
            connection.Unwrap<DbConnection>();
        }
    }
}

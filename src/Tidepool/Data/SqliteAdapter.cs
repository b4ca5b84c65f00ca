using System.Data;
using System.Data.Common;

namespace Tidepool.Data;

/// <summary>SQLite over Microsoft.Data.Sqlite. A session is a file handle: what cannot be undone ends it.</summary>
internal sealed class SqliteAdapter : DbAdapter
{
    private const int IoError = 10;
    private const int Corrupt = 11;
    private const int NotADatabase = 26;

    /// <summary>Succeeds at once where no transaction is open.</summary>
    private const string Probe = "BEGIN; ROLLBACK";

    /// <summary>What ends each thing that was left. Nothing ends tables of SQLite's own, such as the one with the last numbers of temporary tables.</summary>
    private const string Leftovers =
        """
        SELECT 'DROP ' || type || ' temp."' || replace(name, '"', '""') || '"' FROM sqlite_temp_master
            WHERE type IN ('table', 'view', 'trigger') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
        UNION ALL
        SELECT '' FROM sqlite_temp_master WHERE type = 'table' AND name LIKE 'sqlite\_%' ESCAPE '\'
        UNION ALL
        SELECT 'DETACH "' || replace(name, '"', '""') || '"' FROM pragma_database_list WHERE name NOT IN ('main', 'temp')
        """;

    /// <summary>A session remembers what its last statement changed, and the last row that it inserted; only further statements make it forget.</summary>
    private const string Forget =
        """
        BEGIN;
        CREATE TEMP TABLE "tidepool forget" (a INTEGER PRIMARY KEY);
        INSERT INTO temp."tidepool forget" VALUES (0);
        DELETE FROM temp."tidepool forget" WHERE a = 1;
        DROP TABLE temp."tidepool forget";
        COMMIT
        """;

    public override bool JoinsAmbientTransactions => false;

    internal override bool WaitsInReset => false;

    internal override bool RecyclesObjects => false;

    internal override bool ListsCommands => true;

    internal override bool ReopensAfterDispose => true;

    internal override SessionTraces LeftByError => SessionTraces.Objects;

    /// <summary>
    /// The smallest of what the session's texts may leave: functions and tables that the program has added to all of its sessions may make objects in
    /// any statement. Pragmas list them without a look at the file, which somebody may hold.
    /// </summary>
    public override object? Remember(DbConnection connection)
    {
        List<bool> areOwn =
        [
            .. Read(connection, "PRAGMA function_list", static row => row.GetInt64(1) != 0 || SqliteWords.IsOwn(row.GetString(0))),
            .. Read(connection, "PRAGMA module_list", static row => SqliteWords.IsOwn(row.GetString(0))),
        ];
        return areOwn.Contains(false) ? SessionTraces.Objects : SessionTraces.Nothing;
    }

    public override ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) =>
        new(Reset(connection, session));

    public override bool Reset(DbConnection connection, DbSessionInfo session)
    {
        // Who had the provider's connection may have replaced functions, collations and hooks, or left a statement under way: nothing tells. And to
        // compare all settings takes longer than an opening, and not all can be asked for.
        SessionTraces traces = session.Traces ?? SessionTraces.Anything;
        if (session.WasLent || traces == SessionTraces.Anything)
        {
            return false;
        }

        if (session.Remembered is SessionTraces least && least > traces)
        {
            traces = least;
        }

        if (traces == SessionTraces.Objects)
        {
            RollBack(connection);
            foreach (string statement in Read(connection, Leftovers, static row => row.GetString(0)))
            {
                if (statement.Length == 0)
                {
                    return false;
                }

                Execute(connection, statement);
            }
        }

        if (traces == SessionTraces.Rows || (traces == SessionTraces.Objects && HasChanged(connection)))
        {
            Execute(connection, Forget);
        }

        return true;
    }

    internal override SessionTraces FindTraces(string text) => SqliteWords.Find(text);

    public override ValueTask<bool> ValidateAsync(DbConnection connection, CancellationToken cancellationToken) => new(connection.State == ConnectionState.Open);

    public override bool Validate(DbConnection connection) => connection.State == ConnectionState.Open;

    public override DbErrorKind Classify(Exception exception, DbConnection connection) =>
        exception is DbException { ErrorCode: IoError or Corrupt or NotADatabase } ? DbErrorKind.Session : DbErrorKind.Statement;

    private static void RollBack(DbConnection connection)
    {
        try
        {
            Execute(connection, Probe);
        }
        catch (DbException)
        {
            Execute(connection, "ROLLBACK");
        }
    }

    private static bool HasChanged(DbConnection connection) =>
        Read(connection, "SELECT changes() <> 0 OR last_insert_rowid() <> 0", static row => row.GetBoolean(0))[0];

    private static List<T> Read<T>(DbConnection connection, string sql, Func<DbDataReader, T> value)
    {
        List<T> values = [];
        using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        using DbDataReader reader = command.ExecuteReader();
        while (reader.Read())
        {
            values.Add(value(reader));
        }

        return values;
    }
}

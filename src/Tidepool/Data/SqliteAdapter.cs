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

    private const string Temporary = "temp";

    /// <summary>
    /// What ends each temporary thing that was left, if another one has not taken it along. Nothing ends tables of SQLite's own, such as the one with the
    /// last numbers of temporary tables.
    /// </summary>
    private const string Leftovers =
        """
        SELECT 'DROP ' || type || ' IF EXISTS temp."' || replace(name, '"', '""') || '"' FROM sqlite_temp_master
            WHERE type IN ('table', 'view', 'trigger') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
        UNION ALL
        SELECT '' FROM sqlite_temp_master WHERE type = 'table' AND name LIKE 'sqlite\_%' ESCAPE '\'
        """;

    /// <summary>
    /// Seconds that the reset's own statements wait for a file that somebody holds, which those that read need for what they know of its tables. The
    /// provider knows no shorter wait; then the session is ended.
    /// </summary>
    private const int Patience = 1;

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
        return areOwn.Count == 0 || areOwn.Contains(false) ? SessionTraces.Objects : SessionTraces.Nothing; // a library that lists nothing is not known
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

        if (traces == SessionTraces.Objects && !TryEndObjects(connection))
        {
            return false;
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

    /// <summary>
    /// Rolls back, drops, detaches. The pragma is asked as a statement: a table may have the name of the one that shows it. It and the transaction need
    /// nothing of the file; what is temporary is looked for only where there has been something.
    /// </summary>
    private static bool TryEndObjects(DbConnection connection)
    {
        RollBack(connection);
        List<string> databases = Read(connection, "PRAGMA database_list", static row => row.GetString(1));
        if (databases.Contains(Temporary))
        {
            foreach (string statement in Read(connection, Leftovers, static row => row.GetString(0)))
            {
                if (statement.Length == 0)
                {
                    return false;
                }

                Execute(connection, statement);
            }
        }

        foreach (string name in databases.Where(static name => name is not ("main" or Temporary)))
        {
            Execute(connection, $"DETACH \"{name.Replace("\"", "\"\"", StringComparison.Ordinal)}\"");
        }

        return true;
    }

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

    private static new void Execute(DbConnection connection, string sql)
    {
        using DbCommand command = NewCommand(connection, sql);
        command.ExecuteNonQuery();
    }

    private static DbCommand NewCommand(DbConnection connection, string sql)
    {
        DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        command.CommandTimeout = Patience;
        return command;
    }

    private static bool HasChanged(DbConnection connection) =>
        Read(connection, "SELECT changes() <> 0 OR last_insert_rowid() <> 0", static row => row.GetBoolean(0))[0];

    private static List<T> Read<T>(DbConnection connection, string sql, Func<DbDataReader, T> value)
    {
        List<T> values = [];
        using DbCommand command = NewCommand(connection, sql);
        using DbDataReader reader = command.ExecuteReader();
        while (reader.Read())
        {
            values.Add(value(reader));
        }

        return values;
    }
}

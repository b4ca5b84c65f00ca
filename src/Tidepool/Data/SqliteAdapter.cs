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

    private const string Main = "main";
    private const string Temporary = "temp";

    /// <summary>
    /// What is temporary. No function stands in it, nor in any statement of the reset but those that ask for the last change: the program
    /// may have replaced one.
    /// </summary>
    private const string Leftovers = "SELECT type, name FROM sqlite_temp_master WHERE type IN ('table', 'view', 'trigger')";

    /// <summary>
    /// Seconds that the reset's own statements wait for a locked file, which those that read need for what they know of its tables. The
    /// provider knows no shorter wait; then the session is closed.
    /// </summary>
    private const int LockTimeoutSeconds = 1;

    /// <summary>
    /// A session remembers what its last statement changed, and the last row that it inserted; only further statements make it forget.
    /// </summary>
    private const string ClearLastChange =
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

    /// <summary>Pragmas list it all without reading the file, which may be locked.</summary>
    public override object? Remember(DbConnection connection) => new Beginning(LeastTraces(connection), []);

    /// <summary>
    /// The list of what is attached takes a look at the file, for which this one waits as long as the program's own statements do.
    /// </summary>
    internal override object? RememberInitialized(DbConnection connection) =>
        new Beginning(LeastTraces(connection), Databases(connection, timeoutSeconds: null));

    /// <summary>What the program has set, added or attached stays.</summary>
    internal override DbSessionInfo AfterInitialization(DbSessionInfo session) => session with { Traces = SessionTraces.Objects };

    internal override ValueTask ProveIdleAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        ProveIdle(connection);
        return default;
    }

    internal override void ProveIdle(DbConnection connection) => Execute(connection, Probe);

    public override ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) =>
        new(Reset(connection, session));

    public override bool Reset(DbConnection connection, DbSessionInfo session)
    {
        // A renter of the provider's connection may have replaced functions, collations and hooks, or left a statement under way: nothing
        // tells. And to compare all settings takes longer than an opening, and not all can be asked for.
        SessionTraces traces = session.Traces ?? SessionTraces.Anything;
        if (session.WasLent || traces == SessionTraces.Anything || session.Remembered is not Beginning beginning)
        {
            return false;
        }

        if (beginning.Least > traces)
        {
            traces = beginning.Least;
        }

        if (traces == SessionTraces.Objects && !TryEndObjects(connection, beginning.Attached))
        {
            return false;
        }

        if (traces != SessionTraces.Nothing && HasChanged(connection))
        {
            Execute(connection, ClearLastChange);
        }

        return true;
    }

    internal override SessionTraces FindTraces(string text) => SqliteWords.Find(text);

    public override ValueTask<bool> ValidateAsync(DbConnection connection, CancellationToken cancellationToken) =>
        new(connection.State == ConnectionState.Open);

    public override bool Validate(DbConnection connection) => connection.State == ConnectionState.Open;

    public override DbErrorKind Classify(Exception exception, DbConnection connection) =>
        exception is DbException { ErrorCode: IoError or Corrupt or NotADatabase } ? DbErrorKind.Session : DbErrorKind.Statement;

    /// <summary>
    /// The smallest of what the session's texts may leave: functions and tables that the program has added may make objects in any
    /// statement.
    /// </summary>
    private static SessionTraces LeastTraces(DbConnection connection)
    {
        List<bool> areOwn =
        [
            .. Read(connection, "PRAGMA function_list", static row => row.GetInt64(1) != 0 || SqliteWords.IsOwn(row.GetString(0))),
            .. Read(connection, "PRAGMA module_list", static row => SqliteWords.IsOwn(row.GetString(0))),
        ];
        // A library that lists nothing is not known.
        return areOwn.Count == 0 || areOwn.Contains(false) ? SessionTraces.Objects : SessionTraces.Nothing;
    }

    /// <summary>
    /// Rolls back, drops, detaches what the program had not attached from the beginning. The pragma is asked as a statement: a table may
    /// have the name of the one that shows it. The transaction needs nothing of the file, the list a look at it; what is temporary is
    /// looked for only where there has been something.
    /// </summary>
    private static bool TryEndObjects(DbConnection connection, List<string> own)
    {
        RollBack(connection);
        List<string> databases = Databases(connection);
        if (databases.Contains(Temporary))
        {
            foreach ((string type, string name) in Read(connection, Leftovers, static row => (row.GetString(0), row.GetString(1))))
            {
                if (name.StartsWith("sqlite_", StringComparison.OrdinalIgnoreCase))
                {
                    return false; // nothing ends tables of SQLite's own, such as the one with the last numbers of temporary tables
                }

                Execute(connection, $"DROP {type} IF EXISTS temp.{Quote(name)}"); // another one may have taken it along
            }
        }

        foreach (string name in databases.Where(name => name is not (Main or Temporary) && !own.Contains(name)))
        {
            Execute(connection, $"DETACH {Quote(name)}");
        }

        return true;
    }

    private static string Quote(string name) => $"\"{name.Replace("\"", "\"\"", StringComparison.Ordinal)}\"";

    private static List<string> Databases(DbConnection connection, int? timeoutSeconds = LockTimeoutSeconds) =>
        Read(connection, "PRAGMA database_list", static row => row.GetString(1), timeoutSeconds);

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

    private static DbCommand NewCommand(DbConnection connection, string sql, int? timeoutSeconds = LockTimeoutSeconds)
    {
        DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        command.CommandTimeout = timeoutSeconds ?? command.CommandTimeout;
        return command;
    }

    private static bool HasChanged(DbConnection connection) =>
        Read(connection, "SELECT changes() <> 0 OR last_insert_rowid() <> 0", static row => row.GetBoolean(0))[0];

    private static List<T> Read<T>(
        DbConnection connection, string sql, Func<DbDataReader, T> value, int? timeoutSeconds = LockTimeoutSeconds)
    {
        List<T> values = [];
        using DbCommand command = NewCommand(connection, sql, timeoutSeconds);
        using DbDataReader reader = command.ExecuteReader();
        while (reader.Read())
        {
            values.Add(value(reader));
        }

        return values;
    }

    /// <summary>What a session was when it was new.</summary>
    /// <param name="Least">The smallest of what its texts may leave.</param>
    /// <param name="Attached">The databases that the program had attached by then.</param>
    private sealed record Beginning(SessionTraces Least, List<string> Attached);
}

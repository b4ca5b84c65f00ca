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
    private const string BeginAndRollBack = "BEGIN; ROLLBACK";

    private const string Main = "main";
    private const string Temporary = "temp";

    /// <summary>
    /// Lists temporary objects. It calls no SQL function, and neither does any other statement of the reset but the one that reads the
    /// last change: the program may have replaced a function.
    /// </summary>
    private const string Leftovers = "SELECT type, name FROM sqlite_temp_master WHERE type IN ('table', 'view', 'trigger')";

    /// <summary>
    /// How long the reset's own statements wait for a locked file, in seconds: those that read need its schema. The provider has no
    /// shorter timeout; when it passes, the session is closed.
    /// </summary>
    private const int LockTimeoutSeconds = 1;

    /// <summary>
    /// A session remembers what its last statement changed, and the last row that it inserted; only further statements replace that.
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

    internal override bool EndsLentSessions => true;

    internal override bool RecyclesObjects => false;

    /// <summary>A step of the statement copies its values; only a column as a stream reads the file.</summary>
    internal override bool BuffersRows(CommandBehavior behavior) => true;

    internal override bool ListsCommands => true;

    internal override bool ReopensAfterDispose => true;

    internal override SessionResidue LeftByError => SessionResidue.Objects;

    /// <summary>Pragmas list it all without reading the file, which may be locked.</summary>
    public override object? Remember(DbConnection connection) => new InitialState(MinimumResidue(connection), []);

    /// <summary>
    /// The list of attached databases reads the file; where that is locked, this waits as long as the program's own statements do.
    /// </summary>
    internal override ValueTask<object?> RememberAsync(
        bool isAsync, DbConnection connection, bool isInitialized, CancellationToken cancellationToken) => new(
        isInitialized
            ? new InitialState(MinimumResidue(connection), Databases(connection, timeoutSeconds: null))
            : Remember(connection));

    /// <summary>What the program has set, added or attached stays.</summary>
    internal override DbSessionInfo AfterInitialization(DbSessionInfo session) => session with { Residue = SessionResidue.Objects };

    internal override ValueTask ProveIdleAsync(bool isAsync, DbConnection connection, CancellationToken cancellationToken)
    {
        Execute(connection, BeginAndRollBack);
        return default;
    }

    public override ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) =>
        new(Reset(connection, session));

    /// <summary>
    /// Rolls back, drops temporary objects, detaches databases and clears what is known of the last change, as far as the renter's
    /// statements may have left any of it (<see cref="SqliteWords"/>). False: only a new session is clean.
    /// </summary>
    public override bool Reset(DbConnection connection, DbSessionInfo session)
    {
        // A renter of the provider's connection may have replaced functions, collations and hooks, or left a statement under way, and
        // SQLite does not show it. To compare all settings takes longer than to open a session, and some cannot be read.
        SessionResidue residue = session.Residue ?? SessionResidue.Anything;
        if (session.WasLent || residue == SessionResidue.Anything || session.Remembered is not InitialState initial)
        {
            return false;
        }

        if (initial.Minimum > residue)
        {
            residue = initial.Minimum;
        }

        if (residue == SessionResidue.Objects && !TryEndObjects(connection, initial.Attached))
        {
            return false;
        }

        if (residue != SessionResidue.Nothing && HasChanged(connection))
        {
            Execute(connection, ClearLastChange);
        }

        return true;
    }

    internal override SessionResidue FindResidue(string text) => SqliteWords.Find(text);

    public override ValueTask<bool> ValidateAsync(DbConnection connection, CancellationToken cancellationToken) =>
        new(connection.State == ConnectionState.Open);

    public override bool Validate(DbConnection connection) => connection.State == ConnectionState.Open;

    public override DbErrorKind Classify(Exception exception, DbConnection connection) =>
        exception is DbException { ErrorCode: IoError or Corrupt or NotADatabase } ? DbErrorKind.Session : DbErrorKind.Statement;

    /// <summary>
    /// The least that any statement of the session may leave: functions and virtual tables that the program has registered may create
    /// objects in any statement.
    /// </summary>
    private static SessionResidue MinimumResidue(DbConnection connection)
    {
        List<bool> builtIn =
        [
            .. Read(connection, "PRAGMA function_list", static row => row.GetInt64(1) != 0 || SqliteWords.IsBuiltIn(row.GetString(0))),
            .. Read(connection, "PRAGMA module_list", static row => SqliteWords.IsBuiltIn(row.GetString(0))),
        ];
        // Builds without these pragmas list nothing: then objects must be assumed.
        return builtIn.Count == 0 || builtIn.Contains(false) ? SessionResidue.Objects : SessionResidue.Nothing;
    }

    /// <summary>
    /// Rolls back the transaction, drops temporary objects, and detaches databases that were not attached when the session was new. The
    /// list of databases comes from a PRAGMA statement, because a table of the program may have the name of its table-valued function.
    /// The rollback does not touch the file, the list reads it. Temporary objects are looked for only where there is a temporary database.
    /// </summary>
    private static bool TryEndObjects(DbConnection connection, List<string> attached)
    {
        RollBack(connection);
        List<string> databases = Databases(connection);
        if (databases.Contains(Temporary))
        {
            foreach ((string type, string name) in Read(connection, Leftovers, static row => (row.GetString(0), row.GetString(1))))
            {
                if (name.StartsWith("sqlite_", StringComparison.OrdinalIgnoreCase))
                {
                    return false; // SQLite's own tables cannot be dropped, such as the one with the last numbers of temporary tables
                }

                Execute(connection, $"DROP {type} IF EXISTS temp.{Quote(name)}"); // dropped already, perhaps, with another object
            }
        }

        foreach (string name in databases.Where(name => name is not (Main or Temporary) && !attached.Contains(name)))
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
            Execute(connection, BeginAndRollBack);
        }
        catch (DbException)
        {
            Execute(connection, "ROLLBACK");
        }
    }

    private static void Execute(DbConnection connection, string sql)
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
    /// <param name="Minimum">The least that any of its statements may leave.</param>
    /// <param name="Attached">The databases that the program had attached by then.</param>
    private sealed record InitialState(SessionResidue Minimum, List<string> Attached);
}

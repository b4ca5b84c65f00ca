using System.Data;
using System.Data.Common;
using System.Globalization;

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

    private const string Foreign =
        """
        SELECT name FROM pragma_function_list WHERE builtin = 0
        UNION SELECT name FROM pragma_module_list WHERE name NOT LIKE 'pragma\_%' ESCAPE '\'
        """;

    /// <summary>The settings of a connection that a pragma changes; those of the file itself belong to everybody.</summary>
    internal static readonly string[] Settings =
    [
        "foreign_keys", "recursive_triggers", "synchronous", "cache_size", "temp_store", "busy_timeout", "query_only", "read_uncommitted",
        "ignore_check_constraints", "defer_foreign_keys", "automatic_index", "locking_mode", "legacy_alter_table", "reverse_unordered_selects",
        "secure_delete", "trusted_schema", "writable_schema", "cell_size_check", "full_column_names", "short_column_names",
        "journal_mode", "journal_size_limit", "max_page_count", "mmap_size", "analysis_limit", "checkpoint_fullfsync", "fullfsync", "wal_autocheckpoint", "count_changes", "threads", "cache_spill",
    ];

    /// <summary>What asks for all settings; made when the first session is opened.</summary>
    private string[]? _questions;

    public override bool JoinsAmbientTransactions => false;

    internal override bool WaitsInReset => false;

    internal override bool RecyclesObjects => false;

    internal override bool ListsCommands => true;

    internal override bool ReopensAfterDispose => true;

    public override object? Remember(DbConnection connection) =>
        new Description(ReadSettings(connection), Read(connection, Foreign).TrueForAll(SqliteWords.IsOwn));

    public override ValueTask<bool> ResetAsync(DbConnection connection, DbSessionInfo session, CancellationToken cancellationToken) =>
        new(Reset(connection, session));

    public override bool Reset(DbConnection connection, DbSessionInfo session)
    {
        // Who had the provider's connection may have replaced functions, collations and hooks, or left a statement under way: nothing tells.
        if (session.WasLent)
        {
            return false;
        }

        var before = (Description)session.Remembered!;
        SessionTraces traces = before.HasOnlyOwn ? session.Traces ?? SessionTraces.Anything : SessionTraces.Anything;
        if (traces >= SessionTraces.Objects)
        {
            RollBack(connection);
            foreach (string statement in Read(connection, Leftovers))
            {
                if (statement.Length == 0)
                {
                    return false;
                }

                Execute(connection, statement);
            }
        }

        if (traces == SessionTraces.Rows || (traces != SessionTraces.Nothing && Read(connection, "SELECT changes() <> 0 OR last_insert_rowid() <> 0")[0] != "0"))
        {
            Execute(connection, Forget);
        }

        return traces < SessionTraces.Anything || ReadSettings(connection) == before.Settings;
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

    private string ReadSettings(DbConnection connection) =>
        string.Join(';', (_questions ??= NewQuestions(connection)).SelectMany(question => Read(connection, question)));

    /// <summary>One query for the settings that the library shows as tables, and one pragma for each of the others; it ignores those that it has not.</summary>
    private static string[] NewQuestions(DbConnection connection)
    {
        ILookup<bool, string> settings = Settings.ToLookup(name => IsTable(connection, name));
        string together = "SELECT " + string.Join(" || ',' || ", settings[true].Select(static name => $"ifnull((SELECT * FROM pragma_{name}), '')"));
        return [together, "SELECT 'a' LIKE 'A'", .. settings[false].Select(static name => "PRAGMA " + name)];
    }

    private static bool IsTable(DbConnection connection, string pragma)
    {
        try
        {
            Read(connection, $"SELECT * FROM pragma_{pragma}");
            return true;
        }
        catch (DbException)
        {
            return false;
        }
    }

    private static List<string> Read(DbConnection connection, string sql)
    {
        List<string> values = [];
        using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        using DbDataReader reader = command.ExecuteReader();
        while (reader.Read())
        {
            values.Add(Convert.ToString(reader.GetValue(0), CultureInfo.InvariantCulture)!);
        }

        return values;
    }

    /// <summary>A session when it was new.</summary>
    /// <param name="Settings">What it was set to.</param>
    /// <param name="HasOnlyOwn">Whether it has no functions and tables of others, which may do anything in any statement.</param>
    private sealed record Description(string Settings, bool HasOnlyOwn);
}

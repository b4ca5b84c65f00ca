using System.Data.Common;
using System.Globalization;
using Microsoft.Data.Sqlite;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>Opens the sessions of one process of the classic experiment, and knows from outside which of them there are.</summary>
internal abstract class SessionWitness : IDisposable
{
    /// <summary>Sessions of that kind.</summary>
    public abstract DbDataSource Open(PoolKind kind);

    /// <summary>The sessions there are now: the server's process of each, or null where there is no server.</summary>
    public abstract IReadOnlyList<int?> List();

    /// <summary>Whether the session was unused before the insert that was just made in it.</summary>
    public abstract bool IsNew(DbConnection connection);

    /// <summary>Ends the looking.</summary>
    public virtual void Dispose()
    {
    }

    /// <summary>Reads one value in the session.</summary>
    protected static long Read(DbConnection connection, string sql)
    {
        using DbCommand command = connection.CreateCommand();
        command.CommandText = sql;
        return Convert.ToInt64(command.ExecuteScalar(), CultureInfo.InvariantCulture);
    }
}

/// <summary>PostgreSQL: the server lists its sessions.</summary>
internal sealed class PostgresWitness : SessionWitness
{
    private readonly NpgsqlConnection _observer = DbConnections.OpenObserver();
    private readonly HashSet<long> _known = [];
    private readonly string _application;

    /// <summary>Looks at the sessions of a process of the experiment.</summary>
    /// <param name="process">Its number.</param>
    public PostgresWitness(int process) => _application = $"experiment {process}";

    /// <inheritdoc/>
    public override DbDataSource Open(PoolKind kind)
    {
        using (var command = new NpgsqlCommand("CREATE TABLE IF NOT EXISTS visits (number int)", _observer))
        {
            command.ExecuteNonQuery();
        }

        return PoolKinds.OpenPostgres(kind, 100, application: _application);
    }

    /// <inheritdoc/>
    public override IReadOnlyList<int?> List()
    {
        using var command =
            new NpgsqlCommand("SELECT pid FROM pg_stat_activity WHERE application_name = $1 ORDER BY backend_start, pid", _observer);
        command.Parameters.Add(new() { Value = _application });
        using NpgsqlDataReader reader = command.ExecuteReader();
        var sessions = new List<int?>();
        while (reader.Read())
        {
            sessions.Add(reader.GetInt32(0));
        }

        return sessions;
    }

    /// <inheritdoc/>
    public override bool IsNew(DbConnection connection) => _known.Add(Read(connection, "SELECT pg_backend_pid()"));

    /// <inheritdoc/>
    public override void Dispose()
    {
        _observer.Dispose();
        base.Dispose();
    }
}

/// <summary>
/// SQLite: there is no server, so a session is an open file. It is new when it has changed one row only: a temporary table as a
/// mark would be gone with the reset of a pool that resets.
/// </summary>
internal sealed class SqliteWitness : SessionWitness
{
    private readonly string _file;
    private readonly bool _looksEverywhere;

    /// <summary>Looks at the sessions of a process of the experiment.</summary>
    /// <param name="process">Its number, and where its file is.</param>
    public SqliteWitness(ProbeProcess process)
    {
        _file = Path.Combine(process.Folder, $"visits-{process.Process}.db");
        _looksEverywhere = process.Process != Environment.ProcessId;
    }

    /// <summary>Why nothing can be seen here, or null.</summary>
    public static string? Missing => OperatingSystem.IsLinux() ? null : "open files are listed in /proc, which only Linux has";

    /// <inheritdoc/>
    public override DbDataSource Open(PoolKind kind)
    {
        using (var connection = new SqliteConnection($"Data Source={_file};Pooling=false"))
        {
            connection.Open();
            using SqliteCommand command = connection.CreateCommand();
            command.CommandText = "CREATE TABLE visits (number int)";
            command.ExecuteNonQuery();
        }

        return PoolKinds.OpenSqlite(kind, _file);
    }

    /// <inheritdoc/>
    public override IReadOnlyList<int?> List()
    {
        IEnumerable<string> processes = _looksEverywhere
            ? Directory.EnumerateDirectories("/proc").Where(static folder => int.TryParse(Path.GetFileName(folder), out _))
            : ["/proc/self"];
        return [.. processes.SelectMany(OpenFiles).Where(file => file == _file).Select(static _ => (int?)null)];
    }

    /// <inheritdoc/>
    public override bool IsNew(DbConnection connection) => Read(connection, "SELECT total_changes()") == 1;

    private static string[] OpenFiles(string process)
    {
        try
        {
            return [.. Directory.GetFiles(Path.Combine(process, "fd")).Select(static link => new FileInfo(link).LinkTarget ?? "")];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return []; // it has ended meanwhile, or is none of ours
        }
    }
}

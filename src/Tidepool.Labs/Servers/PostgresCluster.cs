using System.Globalization;
using System.Security.Cryptography;
using System.Text.RegularExpressions;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>
/// A PostgreSQL server of its own for a test or a lab, with a random password. Making one takes about a second.
/// </summary>
/// <remarks>It is fast and forgets: nothing is synced to disk. As root it runs as <c>postgres</c> or <c>nobody</c>.</remarks>
internal sealed partial class PostgresCluster : ThrowAwayServer
{
    private const string Product = "PostgreSQL";

    /// <summary>The application's name of sessions that serve this class alone.</summary>
    private const string Own = "cluster itself";

    private static readonly string[] Defaults =
    [
        "listen_addresses = '127.0.0.1'", "dynamic_shared_memory_type = 'mmap'", "shared_buffers = '16MB'",
        "fsync = 'off'", "full_page_writes = 'off'",
        "synchronous_commit = 'off'", "wal_level = 'minimal'", "max_wal_senders = '0'", "min_wal_size = '2MB'",
        "autovacuum = 'off'", "jit = 'off'",
    ];

    private readonly string _password;

    private PostgresCluster(ServerSupervisor supervisor, string password)
        : base(Product, supervisor) => _password = password;

    /// <summary>Why no server can run here, with the line that installs it; null when one can.</summary>
    public static string? Missing => PostgresPrograms.Missing;

    /// <summary>Makes a cluster and starts its server.</summary>
    /// <param name="settings">Lines of <c>postgresql.conf</c> that replace the fast defaults, such as <c>max_connections</c>; null for
    /// none.</param>
    /// <param name="cancellationToken">Gives up, and leaves nothing behind.</param>
    /// <exception cref="ArgumentException">A setting's name or value is none, or it is one of those that keep the server on the loopback
    /// address and in its folder.</exception>
    /// <exception cref="LabServerException">PostgreSQL is missing or did not start; the message says what to install, or what the
    /// server said.</exception>
    public static async Task<PostgresCluster> StartAsync(
        IReadOnlyDictionary<string, string>? settings = null, CancellationToken cancellationToken = default)
    {
        string[] lines =
            [.. Defaults, .. (settings ?? new Dictionary<string, string>()).Select(static setting => ToLine(setting.Key, setting.Value))];
        if (PostgresPrograms.Missing is { } missing)
        {
            throw new LabServerException(missing);
        }

        string password = Convert.ToHexString(RandomNumberGenerator.GetBytes(16));
        ServerSupervisor supervisor = await ServerSupervisor.StartAsync(
            Product,
            ServerUser.AsOneOf(PostgresPrograms.Users)!,
            "server.sh",
            ["postgres", PostgresPrograms.Folder!, ServerPlace.Folder, .. lines],
            password,
            cancellationToken).ConfigureAwait(false);
        var cluster = new PostgresCluster(supervisor, password);
        await cluster.LaunchAsync(cancellationToken).ConfigureAwait(false);
        return cluster;
    }

    /// <inheritdoc/>
    public override string ConnectionStringTo(int port) => new NpgsqlConnectionStringBuilder
    {
        Host = "127.0.0.1",
        Port = port,
        Username = "postgres",
        Password = _password,
        Database = "postgres",
        SslMode = SslMode.Disable,
        GssEncryptionMode = GssEncryptionMode.Disable,
    }.ConnectionString;

    /// <summary>
    /// Lets the server refuse new sessions (57P03) from soon on, and stop when the last one has ended.
    /// <see cref="ThrowAwayServer.StopAsync"/> ends the waiting.
    /// </summary>
    public Task DrainAsync() => TellAsync("drain");

    /// <summary>Lets the server read its settings again. It does so soon, not at once.</summary>
    public Task ReloadAsync() => TellAsync("reload");

    /// <summary>Changes a setting for good, reloads, and waits until new sessions have it.</summary>
    /// <param name="name">The setting, one that needs no restart.</param>
    /// <param name="value">The value as <c>SHOW</c> prints it, or null for the one of the start.</param>
    public async Task AlterSystemAsync(string name, string? value)
    {
        string line = ToLine(name, value ?? "");
        await ExecuteAsync(value is null ? $"ALTER SYSTEM RESET {name}" : $"ALTER SYSTEM SET {line}").ConfigureAwait(false);
        long loaded = await ReadAsync<long>(LoadTime).ConfigureAwait(false);
        await ReloadAsync().ConfigureAwait(false);
        await WaitAsync(
            async () =>
                value is null
                    ? await ReadAsync<long>(LoadTime).ConfigureAwait(false) > loaded
                    : await ReadAsync<string>($"SHOW {name}").ConfigureAwait(false) == value,
            $"new sessions have {name} = {value ?? "what it was"}").ConfigureAwait(false);
    }

    /// <summary>Ends one session as an administrator does (57P01); returns when it is gone.</summary>
    /// <param name="process">Its process.</param>
    public async Task TerminateAsync(int process)
    {
        await ExecuteAsync($"SELECT pg_terminate_backend({process.ToString(CultureInfo.InvariantCulture)})").ConfigureAwait(false);
        await WaitAsync(
            async () => (await ListSessionsAsync().ConfigureAwait(false)).All(session => session.Process != process),
            $"session {process} is gone").ConfigureAwait(false);
    }

    /// <summary>Ends all sessions of clients; returns when they are gone.</summary>
    /// <returns>How many there were.</returns>
    public async Task<int> TerminateAllAsync()
    {
        int[] processes = [.. (await ListSessionsAsync().ConfigureAwait(false)).Select(static session => session.Process)];
        await ExecuteAsync(
            $"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ANY "
                + $"('{{{string.Join(',', processes)}}}')").ConfigureAwait(false);
        await WaitAsync(
            async () => !(await ListSessionsAsync().ConfigureAwait(false)).Any(session => processes.Contains(session.Process)),
            "all sessions are gone").ConfigureAwait(false);
        return processes.Length;
    }

    /// <summary>
    /// Kills a server process with SIGKILL, which makes the server end all others (57P02) and recover; returns when it accepts
    /// connections again.
    /// </summary>
    /// <param name="process">The process of a session.</param>
    public async Task CrashAsync(int process)
    {
        int before = CountRecoveries();
        await TellAsync($"kill {process.ToString(CultureInfo.InvariantCulture)}").ConfigureAwait(false);
        await WaitAsync(() => Task.FromResult(CountRecoveries() > before), "the server has noticed").ConfigureAwait(false);
        await WaitUntilReadyAsync().ConfigureAwait(false);
    }

    /// <summary>Waits until a session can be opened.</summary>
    public Task WaitUntilReadyAsync() => WaitAsync(
        async () =>
        {
            try
            {
                await ExecuteAsync("SELECT 1").ConfigureAwait(false);
                return true;
            }
            catch (NpgsqlException)
            {
                return false;
            }
        },
        "the server accepts connections");

    /// <summary>Opens a session that no pool knows.</summary>
    public Task<NpgsqlConnection> OpenAsync() => OpenAsync("cluster");

    private async Task<NpgsqlConnection> OpenAsync(string name)
    {
        var connection = new NpgsqlConnection($"{ConnectionString};Pooling=false;Application Name={name}");
        try
        {
            await connection.OpenAsync().ConfigureAwait(false);
            return connection;
        }
        catch
        {
            await connection.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Runs statements in a session of their own.</summary>
    public async Task ExecuteAsync(string sql)
    {
        await using NpgsqlConnection connection = await OpenAsync(Own).ConfigureAwait(false);
        await using var command = new NpgsqlCommand(sql, connection);
        await command.ExecuteNonQueryAsync().ConfigureAwait(false);
    }

    /// <summary>Reads one value in a session of its own.</summary>
    public async Task<T> ReadAsync<T>(string sql)
    {
        await using NpgsqlConnection connection = await OpenAsync(Own).ConfigureAwait(false);
        await using var command = new NpgsqlCommand(sql, connection);
        return (T)(await command.ExecuteScalarAsync().ConfigureAwait(false))!;
    }

    /// <summary>The sessions of clients, oldest first; without those that ask, which may end a moment after they were closed.</summary>
    public async Task<IReadOnlyList<PostgresSession>> ListSessionsAsync()
    {
        await using NpgsqlConnection connection = await OpenAsync(Own).ConfigureAwait(false);
        await using var command = new NpgsqlCommand(
            $"""
            SELECT pid, application_name, coalesce(state, ''), query, backend_start FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND application_name <> '{Own}' ORDER BY backend_start, pid
            """,
            connection);
        await using NpgsqlDataReader reader = await command.ExecuteReaderAsync().ConfigureAwait(false);
        var sessions = new List<PostgresSession>();
        while (await reader.ReadAsync().ConfigureAwait(false))
        {
            sessions.Add(
                new(
                    reader.GetInt32(0),
                    reader.GetString(1),
                    reader.GetString(2),
                    reader.GetString(3),
                    reader.GetFieldValue<DateTimeOffset>(4)));
        }

        return sessions;
    }

    /// <summary>What the server wrote to its log.</summary>
    public string ReadLog() => File.ReadAllText(Path.Combine(Folder, "log"));

    private const string LoadTime = "SELECT (extract(epoch FROM pg_conf_load_time()) * 1000000)::bigint";

    private int CountRecoveries() => ReadLog().Split("all server processes terminated; reinitializing").Length;

    private static string ToLine(string name, string value)
    {
        if (!SettingName().IsMatch(name) || name is "port" or "listen_addresses" or "unix_socket_directories")
        {
            throw new ArgumentException(
                $"'{name}' is not a setting that can be given: it must be a name of postgresql.conf, and not one of port, "
                    + "listen_addresses and unix_socket_directories.",
                nameof(name));
        }

        if (value.AsSpan().IndexOfAny('\n', '\r', '\0') >= 0)
        {
            throw new ArgumentException($"The value '{value}' of {name} has more than one line.", nameof(value));
        }

        return $"{name} = '{value.Replace("'", "''", StringComparison.Ordinal)}'";
    }

    [GeneratedRegex("^[a-z_][a-z0-9_.]*$")]
    private static partial Regex SettingName();
}

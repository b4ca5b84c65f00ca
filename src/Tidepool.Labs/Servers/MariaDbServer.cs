using System.Globalization;
using System.Security.Cryptography;
using MySqlConnector;

namespace Tidepool.Labs;

/// <summary>
/// A MariaDB server of its own for a test or a lab, on the loopback address, with a random password and an empty database
/// <c>lab</c>. Disposal stops it and removes its folder; so does the end of this process, also by Ctrl+C or SIGKILL. Making one takes a
/// few seconds. Safe to use from several threads.
/// </summary>
/// <remarks>It is fast and forgets: nothing is synced to disk. As root it runs as <c>mysql</c> or <c>nobody</c>.</remarks>
internal sealed class MariaDbServer : IAsyncDisposable, IDisposable
{
    /// <summary>The longest that a change of the server's state is waited for.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private static readonly string[] Defaults =
    [
        "bind-address = 127.0.0.1", "skip-name-resolve", "skip-log-bin", "performance_schema = off", "innodb_flush_log_at_trx_commit = 0",
        "innodb_doublewrite = 0", "innodb_buffer_pool_size = 16M", "innodb_log_file_size = 4M", "innodb_fast_shutdown = 2",
        "innodb_use_native_aio = 0", "key_buffer_size = 1M", "max_connect_errors = 1000000", "thread_cache_size = 32",
    ];

    private readonly ServerSupervisor _supervisor;
    private readonly string _password;

    private MariaDbServer(ServerSupervisor supervisor, string password)
    {
        _supervisor = supervisor;
        _password = password;
    }

    /// <summary>Why no server can run here, with the line that installs it; null when one can.</summary>
    public static string? Missing => MariaDbPrograms.Missing;

    /// <summary>Its folder; the server's log is the file <c>log</c> in it.</summary>
    public string Folder => _supervisor.Folder;

    /// <summary>The port on 127.0.0.1; the same for its whole life.</summary>
    public int Port { get; private set; }

    /// <summary>The server's process, or null while it is stopped.</summary>
    public int? ServerProcess { get; private set; }

    /// <summary>For MySqlConnector: the administrator over TCP, without TLS. Says nothing about pooling.</summary>
    public string ConnectionString => ConnectionStringTo(Port);

    /// <summary>Makes a server and starts it.</summary>
    /// <param name="settings">Lines of <c>my.cnf</c> that replace the fast defaults, such as <c>max_connections</c>; null for none.</param>
    /// <param name="cancellationToken">Gives up, and leaves nothing behind.</param>
    /// <exception cref="LabServerException">MariaDB is missing or did not start; the message says what to install, or what the
    /// server said.</exception>
    public static async Task<MariaDbServer> StartAsync(
        IReadOnlyDictionary<string, string>? settings = null, CancellationToken cancellationToken = default)
    {
        if (Missing is { } missing)
        {
            throw new LabServerException(missing);
        }

        string[] lines = [.. Defaults, .. (settings ?? new Dictionary<string, string>()).Select(static one => $"{one.Key} = {one.Value}")];
        string password = Convert.ToHexString(RandomNumberGenerator.GetBytes(16));
        ServerSupervisor supervisor = await ServerSupervisor.StartAsync(
            "MariaDB",
            ServerUser.AsOneOf(MariaDbPrograms.Users)!,
            "server.sh",
            ["mariadb", $"{MariaDbPrograms.Server}:{MariaDbPrograms.Installer}", ServerPlace.Folder, .. lines],
            password,
            cancellationToken).ConfigureAwait(false);
        var server = new MariaDbServer(supervisor, password);
        try
        {
            (server.Port, server.ServerProcess) = await supervisor.StartServerAsync(cancellationToken).ConfigureAwait(false);
            return server;
        }
        catch
        {
            await server.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>The connection string with another port of the loopback address, such as a proxy's.</summary>
    public string ConnectionStringTo(int port) => new MySqlConnectionStringBuilder
    {
        Server = "127.0.0.1",
        Port = (uint)port,
        UserID = "root",
        Password = _password,
        Database = "lab",
        SslMode = MySqlSslMode.None,
    }.ConnectionString;

    /// <summary>Stops the server; returns when its process is gone. Does nothing when it is stopped.</summary>
    /// <param name="isImmediate">Whether it ends at once, and recovers at the next start.</param>
    public async Task StopAsync(bool isImmediate = false)
    {
        await _supervisor.TellAsync(isImmediate ? "stop QUIT" : "stop INT").ConfigureAwait(false);
        ServerProcess = null;
    }

    /// <summary>Starts the stopped server again, on the same port; returns when it accepts connections.</summary>
    /// <exception cref="LabServerException">It is running, or did not start.</exception>
    public async Task StartAgainAsync() => ServerProcess = await _supervisor.StartServerAsync(Port).ConfigureAwait(false);

    /// <summary>Stops and starts.</summary>
    /// <param name="isImmediate">Whether it ends at once, and recovers at the next start.</param>
    public async Task RestartAsync(bool isImmediate = false)
    {
        await StopAsync(isImmediate).ConfigureAwait(false);
        await StartAgainAsync().ConfigureAwait(false);
    }

    /// <summary>Ends all sessions of clients as an administrator does; returns when they are gone.</summary>
    /// <returns>How many there were.</returns>
    public async Task<int> KillAllAsync()
    {
        IReadOnlyList<long> sessions = await ListSessionsAsync().ConfigureAwait(false);
        await KillAsync(sessions).ConfigureAwait(false);
        return sessions.Count;
    }

    /// <summary>Ends sessions as an administrator does; returns when they are gone.</summary>
    /// <param name="sessions">Their numbers.</param>
    public async Task KillAsync(params IReadOnlyList<long> sessions)
    {
        foreach (long session in sessions)
        {
            try
            {
                await ExecuteAsync(string.Create(CultureInfo.InvariantCulture, $"KILL {session}")).ConfigureAwait(false);
            }
            catch (MySqlException gone) when (gone.ErrorCode == MySqlErrorCode.NoSuchThread)
            {
                // It has ended by itself.
            }
        }

        long deadline = Environment.TickCount64 + (long)Patience.TotalMilliseconds;
        while ((await ListSessionsAsync().ConfigureAwait(false)).Intersect(sessions).Any())
        {
            if (Environment.TickCount64 > deadline)
            {
                throw new LabServerException($"MariaDB: waited {Patience.TotalSeconds} s in vain until killed sessions are gone.");
            }

            await Task.Delay(10).ConfigureAwait(false);
        }
    }

    /// <summary>The numbers of the sessions of clients, oldest first, without the one that asks.</summary>
    public async Task<IReadOnlyList<long>> ListSessionsAsync()
    {
        MySqlConnection connection = await OpenAsync().ConfigureAwait(false);
        await using (connection.ConfigureAwait(false))
        {
            using var command = new MySqlCommand(
                """
                SELECT ID FROM information_schema.PROCESSLIST
                WHERE COMMAND NOT IN ('Daemon', 'Killed') AND USER NOT IN ('system user', 'event_scheduler')
                    AND ID <> CONNECTION_ID() ORDER BY ID
                """,
                connection);
            MySqlDataReader reader = await command.ExecuteReaderAsync().ConfigureAwait(false);
            await using (reader.ConfigureAwait(false))
            {
                var sessions = new List<long>();
                while (await reader.ReadAsync().ConfigureAwait(false))
                {
                    sessions.Add(reader.GetInt64(0));
                }

                return sessions;
            }
        }
    }

    /// <summary>Opens a session that no pool knows.</summary>
    public async Task<MySqlConnection> OpenAsync()
    {
        var connection = new MySqlConnection(ConnectionString + ";Pooling=false;Allow User Variables=true");
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
        MySqlConnection connection = await OpenAsync().ConfigureAwait(false);
        await using (connection.ConfigureAwait(false))
        {
            using var command = new MySqlCommand(sql, connection);
            await command.ExecuteNonQueryAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Reads one value in a session of its own.</summary>
    public async Task<T> ReadAsync<T>(string sql)
    {
        MySqlConnection connection = await OpenAsync().ConfigureAwait(false);
        await using (connection.ConfigureAwait(false))
        {
            using var command = new MySqlCommand(sql, connection);
            return (T)Convert.ChangeType(
                (await command.ExecuteScalarAsync().ConfigureAwait(false))!, typeof(T), CultureInfo.InvariantCulture);
        }
    }

    /// <summary>Stops the server at once and removes its folder; returns when both is done.</summary>
    public ValueTask DisposeAsync() => _supervisor.DisposeAsync();

    /// <inheritdoc cref="DisposeAsync"/>
    public void Dispose() => _supervisor.Dispose();
}

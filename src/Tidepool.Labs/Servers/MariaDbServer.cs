using System.Globalization;
using System.Security.Cryptography;
using MySqlConnector;

namespace Tidepool.Labs;

/// <summary>
/// A MariaDB server of its own for a test or a lab, with a random password and an empty database <c>lab</c>. Making one takes a few
/// seconds.
/// </summary>
/// <remarks>It is fast and forgets: nothing is synced to disk. As root it runs as <c>mysql</c> or <c>nobody</c>.</remarks>
internal sealed class MariaDbServer : ThrowAwayServer
{
    private const string Product = "MariaDB";

    private static readonly string[] Defaults =
    [
        "bind-address = 127.0.0.1", "skip-name-resolve", "skip-log-bin", "performance_schema = off", "innodb_flush_log_at_trx_commit = 0",
        "innodb_doublewrite = 0", "innodb_buffer_pool_size = 16M", "innodb_log_file_size = 4M", "innodb_fast_shutdown = 2",
        "innodb_use_native_aio = 0", "key_buffer_size = 1M", "max_connect_errors = 1000000", "thread_cache_size = 32",
    ];

    private readonly string _password;

    private MariaDbServer(ServerSupervisor supervisor, string password)
        : base(Product, supervisor) => _password = password;

    /// <summary>Why no server can run here, with the line that installs it; null when one can.</summary>
    public static string? Missing => MariaDbPrograms.Missing;

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
            Product,
            ServerUser.AsOneOf(MariaDbPrograms.Users)!,
            "server.sh",
            ["mariadb", $"{MariaDbPrograms.Server}:{MariaDbPrograms.Installer}", ServerPlace.Folder, .. lines],
            password,
            cancellationToken).ConfigureAwait(false);
        var server = new MariaDbServer(supervisor, password);
        await server.LaunchAsync(cancellationToken).ConfigureAwait(false);
        return server;
    }

    /// <inheritdoc/>
    public override string ConnectionStringTo(int port) => new MySqlConnectionStringBuilder
    {
        Server = "127.0.0.1",
        Port = (uint)port,
        UserID = "root",
        Password = _password,
        Database = "lab",
        SslMode = MySqlSslMode.None,
    }.ConnectionString;

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

        await WaitAsync(
            async () => !(await ListSessionsAsync().ConfigureAwait(false)).Intersect(sessions).Any(),
            "killed sessions are gone").ConfigureAwait(false);
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
}

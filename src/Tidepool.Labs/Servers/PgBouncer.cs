using System.Diagnostics;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>
/// A PgBouncer of its own before a server, on the loopback address; gone with its disposal, or with the end of this process.
/// </summary>
internal sealed class PgBouncer : IAsyncDisposable, IDisposable
{
    /// <summary>
    /// Owns the program and its folder; ends both when its input ends. Runs as the user of the server, because the program refuses to run
    /// as root. The configuration, which has the password, comes by the input up to a line of two dashes.
    /// </summary>
    private const string Script =
        """
        umask 077
        folder=$(mktemp -d /tmp/tidepool-pgb.XXXXXX) || exit 1
        trap 'kill $bouncer 2>/dev/null; wait $bouncer; rm -rf "${folder:?}"' EXIT
        file=users
        while read -r line && [ "$line" != -- ]; do
          case $line in '[databases]') file=ini ;; esac
          printf '%s\n' "$line" >>"$folder/$file"
        done
        printf 'auth_file = %s/users\n' "$folder" >>"$folder/ini"
        "$1" -q "$folder/ini" </dev/null >&2 &
        bouncer=$!
        read -r line
        """;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private readonly Process _shell;
    private readonly Task<string> _told;

    private PgBouncer(Process shell, int port, string connectionString)
    {
        _shell = shell;
        Port = port;
        ConnectionString = connectionString;
        _told = shell.StandardError.ReadToEndAsync();
    }

    /// <summary>Why none can run here, with the line that installs it; null when one can.</summary>
    internal static string? Missing =>
        PostgresCluster.Missing ?? (Program is null ? "PgBouncer is missing. Install it with: apt-get install pgbouncer" : null);

    internal int Port { get; }

    /// <summary>For Npgsql: the database of the server, through the pooler.</summary>
    internal string ConnectionString { get; }

    private static string? Program { get; } = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':').Append("/usr/sbin")
        .Select(static folder => Path.Combine(folder, "pgbouncer")).FirstOrDefault(File.Exists);

    /// <summary>Starts one.</summary>
    /// <param name="connectionString">Where it leads: a server on 127.0.0.1, for Npgsql; its user is the pooler's only one.</param>
    /// <param name="mode">Its word for the mode: session or transaction.</param>
    /// <param name="poolSize">Connections to the server.</param>
    /// <param name="more">Another line of its configuration, or nothing.</param>
    /// <exception cref="LabServerException">It did not start; the message has what it said.</exception>
    internal static async Task<PgBouncer> StartAsync(string connectionString, string mode, int poolSize = 4, string more = "")
    {
        for (int attempt = 1; ; attempt++)
        {
            PgBouncer bouncer = Start(
                new NpgsqlConnectionStringBuilder(connectionString), mode, poolSize, ServerPlace.FindFreePort(), more);
            if (await bouncer.IsReadyAsync().ConfigureAwait(false))
            {
                return bouncer;
            }

            await bouncer.DisposeAsync().ConfigureAwait(false);
            if (attempt == 5)
            {
                throw new LabServerException($"PgBouncer did not start: {await bouncer._told.ConfigureAwait(false)}");
            }
        }
    }

    /// <summary>Ends it and removes its folder; returns when both is done.</summary>
    public async ValueTask DisposeAsync()
    {
        _shell.StandardInput.Close();
        await _shell.WaitForExitAsync().ConfigureAwait(false);
        _shell.Dispose();
    }

    /// <inheritdoc cref="DisposeAsync"/>
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();

    private static PgBouncer Start(NpgsqlConnectionStringBuilder there, string mode, int poolSize, int port, string more)
    {
        string[] command = ["setsid", .. ServerUser.AsOneOf(PostgresPrograms.Users)!, "/bin/sh", "-c", Script, "pgbouncer.sh", Program!];
        Process shell = Process.Start(new ProcessStartInfo(command[0], command[1..])
        {
            RedirectStandardInput = true,
            RedirectStandardError = true,
            WorkingDirectory = "/",
        })!;
        shell.StandardInput.Write(
            $"""
            "{there.Username}" "{there.Password}"
            [databases]
            {there.Database} = host=127.0.0.1 port={there.Port}
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = {port}
            unix_socket_dir =
            auth_type = scram-sha-256
            pool_mode = {mode}
            default_pool_size = {poolSize}
            max_client_conn = 2000
            {more}
            --

            """);
        shell.StandardInput.Flush();
        there.Port = port;
        return new PgBouncer(shell, port, there.ConnectionString);
    }

    /// <summary>Whether it listens; false when it has ended, over a port that another program took meanwhile.</summary>
    private async Task<bool> IsReadyAsync()
    {
        var watch = Stopwatch.StartNew();
        while (!_shell.HasExited && !_told.IsCompleted && watch.Elapsed < Patience)
        {
            try
            {
                var connection = new NpgsqlConnection(ConnectionString + ";Pooling=false");
                await using (connection.ConfigureAwait(false))
                {
                    await connection.OpenAsync().ConfigureAwait(false);
                    return true;
                }
            }
            catch (NpgsqlException)
            {
                await Task.Delay(20).ConfigureAwait(false);
            }
        }

        return false;
    }
}

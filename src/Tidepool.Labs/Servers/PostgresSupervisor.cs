using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>
/// The shell that owns a server. It ends when its input ends, and takes the server and the folder with it, so nothing is left
/// behind however this process ends. One command at a time; safe to call from several threads.
/// </summary>
internal sealed class PostgresSupervisor : IAsyncDisposable, IDisposable
{
    private readonly Process _shell;
    private readonly Task<string> _errors;
    private readonly SemaphoreSlim _gate = new(1);
    private bool _disposed;

    private PostgresSupervisor(Process shell)
    {
        _shell = shell;
        _errors = shell.StandardError.ReadToEndAsync();
    }

    /// <summary>The number of the shell's process.</summary>
    public int Id => _shell.Id;

    /// <summary>The folder of the cluster.</summary>
    public string Folder { get; private set; } = "";

    /// <summary>Starts the shell and lets it make a cluster.</summary>
    /// <param name="place">Where its folder is made.</param>
    /// <param name="password">The password of the user postgres; it appears on no command line.</param>
    /// <param name="settings">Lines of postgresql.conf.</param>
    /// <param name="cancellationToken">Gives up, and leaves nothing behind.</param>
    /// <exception cref="PostgresClusterException">PostgreSQL is missing, or initdb failed; the message has what it said.</exception>
    public static async Task<PostgresSupervisor> StartAsync(
        string place, string password, IEnumerable<string> settings, CancellationToken cancellationToken)
    {
        if (PostgresPrograms.Missing is { } missing)
        {
            throw new PostgresClusterException(missing);
        }

        string[] command =
            [
                "setsid", .. PostgresPrograms.AsServerUser()!,
                "/bin/sh", "-c", ReadScript(), "postgres.sh",
                PostgresPrograms.Folder!, place, .. settings
            ];
        var supervisor = new PostgresSupervisor(Process.Start(new ProcessStartInfo(command[0], command[1..])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = "/", // one that the other user may enter
        })!);
        try
        {
            supervisor.Folder = await supervisor.TellAsync(password, cancellationToken).ConfigureAwait(false);
            return supervisor;
        }
        catch
        {
            await supervisor.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Sends a command and waits for its answer.</summary>
    /// <returns>What follows "ok".</returns>
    /// <exception cref="PostgresClusterException">The answer is an error, or the shell has ended.</exception>
    /// <exception cref="OperationCanceledException">Cancelled before it was sent. A command that was sent is waited for: its answer would
    /// be taken for that of the next.</exception>
    public async Task<string> TellAsync(string command, CancellationToken cancellationToken = default)
    {
        await _gate.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            await _shell.StandardInput.WriteLineAsync(command).ConfigureAwait(false);
            await _shell.StandardInput.FlushAsync(CancellationToken.None).ConfigureAwait(false);
            string? answer = await _shell.StandardOutput.ReadLineAsync(CancellationToken.None).ConfigureAwait(false);
            return answer is "ok" ? ""
                : answer?.StartsWith("ok ", StringComparison.Ordinal) == true ? answer[3..]
                : throw new PostgresClusterException(
                    $"PostgreSQL: {answer ?? $"its shell ended early. {await _errors.ConfigureAwait(false)}"}");
        }
        catch (IOException)
        {
            throw new PostgresClusterException($"PostgreSQL: its shell ended early. {await _errors.ConfigureAwait(false)}");
        }
        finally
        {
            _gate.Release();
        }
    }

    /// <summary>Stops the server at once and removes its folder; returns when both is done.</summary>
    public async ValueTask DisposeAsync()
    {
        if (await CloseInputAsync().ConfigureAwait(false))
        {
            await _shell.WaitForExitAsync().ConfigureAwait(false);
            _shell.Dispose();
        }
    }

    /// <inheritdoc cref="DisposeAsync"/>
    public void Dispose() => DisposeAsync().AsTask().GetAwaiter().GetResult();

    private async Task<bool> CloseInputAsync()
    {
        await _gate.WaitAsync().ConfigureAwait(false);
        try
        {
            if (_disposed)
            {
                return false;
            }

            _disposed = true;
            try
            {
                _shell.StandardInput.Close();
            }
            catch (IOException)
            {
                // The shell has ended, and with it the reader of what was still in the buffer.
            }

            return true;
        }
        finally
        {
            _gate.Release();
        }
    }

    private static string ReadScript()
    {
        using Stream stream = typeof(PostgresSupervisor).Assembly.GetManifestResourceStream("postgres.sh")!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}

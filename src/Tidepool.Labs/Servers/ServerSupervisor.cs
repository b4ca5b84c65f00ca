using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Labs;

/// <summary>
/// The shell that owns a server. It ends when its input ends, and takes the server and the folder with it, so nothing is left
/// behind however this process ends. One command at a time; safe to call from several threads.
/// </summary>
internal sealed class ServerSupervisor : IAsyncDisposable, IDisposable
{
    private readonly Process _shell;
    private readonly Task<string> _errors;
    private readonly SemaphoreSlim _gate = new(1);
    private readonly string _product;
    private bool _disposed;

    private ServerSupervisor(string product, Process shell)
    {
        _product = product;
        _shell = shell;
        _errors = shell.StandardError.ReadToEndAsync();
    }

    /// <summary>The number of the shell's process.</summary>
    public int Id => _shell.Id;

    /// <summary>The folder of the server.</summary>
    public string Folder { get; private set; } = "";

    /// <summary>Starts the shell and lets it make a server's folder.</summary>
    /// <param name="product">The server's name in messages.</param>
    /// <param name="asUser">The command in front of the shell that makes it run as a user whom the server accepts.</param>
    /// <param name="script">The shell's script, a resource of this assembly.</param>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="password">The first line of its input; it appears on no command line.</param>
    /// <param name="cancellationToken">Gives up, and leaves nothing behind.</param>
    /// <exception cref="LabServerException">The server's folder could not be made; the message has what its programs said.</exception>
    public static async Task<ServerSupervisor> StartAsync(
        string product,
        IReadOnlyList<string> asUser,
        string script,
        IEnumerable<string> arguments,
        string password,
        CancellationToken cancellationToken)
    {
        string[] command = ["setsid", .. asUser, "/bin/sh", "-c", ReadScript(script), script, .. arguments];
        var supervisor = new ServerSupervisor(product, Process.Start(new ProcessStartInfo(command[0], command[1..])
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
    /// <exception cref="LabServerException">The answer is an error, or the shell has ended.</exception>
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
                : throw new LabServerException(
                    $"{_product}: {answer ?? $"its shell ended early. {await _errors.ConfigureAwait(false)}"}");
        }
        catch (IOException)
        {
            throw new LabServerException($"{_product}: its shell ended early. {await _errors.ConfigureAwait(false)}");
        }
        finally
        {
            _gate.Release();
        }
    }

    /// <summary>Starts the server on a port.</summary>
    /// <returns>The server's first process.</returns>
    /// <exception cref="LabServerException">It is running, or did not start.</exception>
    public async Task<int> StartServerAsync(int port) => int.Parse(
        await TellAsync($"start {port.ToString(CultureInfo.InvariantCulture)}").ConfigureAwait(false), CultureInfo.InvariantCulture);

    /// <summary>Starts the server on a port that is free.</summary>
    /// <returns>The port, and the server's first process.</returns>
    /// <exception cref="LabServerException">It did not start.</exception>
    public async Task<(int Port, int Process)> StartServerAsync(CancellationToken cancellationToken)
    {
        for (int attempt = 0; ; attempt++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            int port = ServerPlace.FindFreePort();
            try
            {
                return (port, await StartServerAsync(port).ConfigureAwait(false));
            }
            catch (LabServerException failure) when (
                attempt < 10 && failure.Message.Contains("Address already in use", StringComparison.Ordinal))
            {
                // Another program was faster: another port.
            }
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

    private static string ReadScript(string name)
    {
        using Stream stream = typeof(ServerSupervisor).Assembly.GetManifestResourceStream(name)!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }
}

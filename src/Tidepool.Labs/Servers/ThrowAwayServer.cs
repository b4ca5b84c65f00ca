namespace Tidepool.Labs;

/// <summary>
/// A database server of its own for a test or a lab, on the loopback address. Disposal stops it and removes its folder; so does the end of
/// this process, also by Ctrl+C or SIGKILL. Safe to use from several threads.
/// </summary>
/// <param name="product">What messages call it.</param>
/// <param name="supervisor">The process that owns it.</param>
internal abstract class ThrowAwayServer(string product, ServerSupervisor supervisor) : IAsyncDisposable, IDisposable
{
    /// <summary>The longest that a change of the server's state is waited for.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    /// <summary>Its folder; the server's log is the file <c>log</c> in it.</summary>
    public string Folder => supervisor.Folder;

    /// <summary>The port on 127.0.0.1; the same for its whole life.</summary>
    public int Port { get; private set; }

    /// <summary>The server's first process, or null while it is stopped.</summary>
    public int? ServerProcess { get; private set; }

    /// <summary>The process that owns the server.</summary>
    public int SupervisorProcess => supervisor.Id;

    /// <summary>The administrator over TCP, without TLS. Says nothing about pooling.</summary>
    public string ConnectionString => ConnectionStringTo(Port);

    /// <summary>The connection string with another port of the loopback address, such as a proxy's.</summary>
    public abstract string ConnectionStringTo(int port);

    /// <summary>Stops the server; returns when its processes are gone. Does nothing when it is stopped.</summary>
    /// <param name="isImmediate">Whether it ends at once, and recovers at the next start.</param>
    public async Task StopAsync(bool isImmediate = false)
    {
        await TellAsync(isImmediate ? "stop QUIT" : "stop INT").ConfigureAwait(false);
        ServerProcess = null;
    }

    /// <summary>Starts the stopped server again, on the same port; returns when it accepts connections.</summary>
    /// <exception cref="LabServerException">It is running, or did not start.</exception>
    public async Task StartAgainAsync() => ServerProcess = await supervisor.StartServerAsync(Port).ConfigureAwait(false);

    /// <summary>Stops and starts.</summary>
    /// <param name="isImmediate">Whether it ends at once, and recovers at the next start.</param>
    public async Task RestartAsync(bool isImmediate = false)
    {
        await StopAsync(isImmediate).ConfigureAwait(false);
        await StartAgainAsync().ConfigureAwait(false);
    }

    /// <summary>Stops the server at once and removes its folder; returns when both is done.</summary>
    public ValueTask DisposeAsync() => supervisor.DisposeAsync();

    /// <inheritdoc cref="DisposeAsync"/>
    public void Dispose() => supervisor.Dispose();

    /// <summary>Starts it for the first time; what fails leaves nothing behind.</summary>
    /// <exception cref="LabServerException">It did not start; the message has what the server said.</exception>
    protected async Task LaunchAsync(CancellationToken cancellationToken)
    {
        try
        {
            (Port, ServerProcess) = await supervisor.StartServerAsync(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            await DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Sends a command to the process that owns the server.</summary>
    protected Task TellAsync(string command) => supervisor.TellAsync(command);

    /// <summary>Waits until something is so.</summary>
    /// <exception cref="LabServerException">It was not for a minute.</exception>
    protected async Task WaitAsync(Func<Task<bool>> isSo, string what)
    {
        long deadline = Environment.TickCount64 + (long)Patience.TotalMilliseconds;
        while (!await isSo().ConfigureAwait(false))
        {
            if (Environment.TickCount64 > deadline)
            {
                throw new LabServerException($"{product}: waited {Patience.TotalSeconds} s in vain until {what}.");
            }

            await Task.Delay(10).ConfigureAwait(false);
        }
    }
}

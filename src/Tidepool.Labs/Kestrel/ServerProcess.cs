namespace Tidepool.Labs;

/// <summary>A running <see cref="ServerProgram"/> on a core of its own; one question at a time.</summary>
internal sealed class ServerProcess : IDisposable
{
    private readonly PinnedProcess _process;

    private ServerProcess(PinnedProcess process)
    {
        _process = process;
        Ports = process.Receive<ServerPorts>();
    }

    /// <summary>Where it listens.</summary>
    public ServerPorts Ports { get; }

    /// <summary>Starts a server and waits until it listens.</summary>
    /// <exception cref="LabProcessException">It did not start.</exception>
    public static ServerProcess Start(ChildCommand command, int core, KestrelMemory memory, bool watches)
    {
        string[] watch = watches ? [ServerProgram.Watch] : [];
        return new(PinnedProcess.Start("The server", command, core, [ServerProgram.Argument, memory.ToString(), .. watch]));
    }

    /// <summary>Asks for its state.</summary>
    /// <exception cref="LabProcessException">It ended, or is silent.</exception>
    public ServerState Ask() => _process.Ask<ServerState>("state");

    /// <summary>Lets it answer the requests that it holds.</summary>
    /// <exception cref="LabProcessException">It ended, or is silent.</exception>
    public void Release() => _process.Ask<ServerState>(ServerProgram.Release);

    /// <summary>Lets it collect all garbage, and asks for its state then.</summary>
    /// <exception cref="LabProcessException">It ended, or is silent.</exception>
    public ServerState Collect() => _process.Ask<ServerState>(ServerProgram.Collect);

    /// <inheritdoc/>
    public void Dispose() => _process.Dispose();
}

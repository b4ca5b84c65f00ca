using System.Diagnostics;
using System.Text;
using System.Text.Json;

namespace Tidepool.Labs;

/// <summary>A running <see cref="ServerProgram"/> on a core of its own; one question at a time.</summary>
internal sealed class ServerProcess : IDisposable
{
    private static readonly TimeSpan LongestAnswer = TimeSpan.FromMinutes(1);

    private readonly Process _process;
    private readonly StringBuilder _errors = new();

    private ServerProcess(Process process)
    {
        _process = process;
        _process.ErrorDataReceived += (_, line) =>
        {
            lock (_errors)
            {
                _errors.AppendLine(line.Data);
            }
        };
        _process.BeginErrorReadLine();
        Ports = Receive<ServerPorts>();
    }

    /// <summary>Where it listens.</summary>
    public ServerPorts Ports { get; }

    /// <summary>Starts a server and waits until it listens.</summary>
    /// <exception cref="LabProcessException">It did not start.</exception>
    public static ServerProcess Start(ChildCommand command, int core, KestrelMemory memory, bool watches)
    {
        string[] watch = watches ? [ServerProgram.Watch] : [];
        var (program, arguments) = CorePair.Pin(
            core, command.FileName, [.. command.LeadingArguments, ServerProgram.Argument, memory.ToString(), .. watch]);
        var info = new ProcessStartInfo(program, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        return new(Process.Start(info) ?? throw new LabProcessException("The server did not start."));
    }

    /// <summary>Asks for its state.</summary>
    /// <exception cref="LabProcessException">It ended, or is silent.</exception>
    public ServerState Ask() => Ask("state");

    /// <summary>Lets it answer the requests that it holds.</summary>
    /// <exception cref="LabProcessException">It ended, or is silent.</exception>
    public void Release() => Ask(ServerProgram.Release);

    /// <summary>Lets it collect all garbage, and asks for its state then.</summary>
    /// <exception cref="LabProcessException">It ended, or is silent.</exception>
    public ServerState Collect() => Ask(ServerProgram.Collect);

    /// <inheritdoc/>
    public void Dispose()
    {
        try
        {
            _process.Kill(entireProcessTree: true);
            _process.WaitForExit();
        }
        catch (InvalidOperationException)
        {
            // It has ended by itself.
        }

        _process.Dispose();
    }

    private ServerState Ask(string line)
    {
        try
        {
            _process.StandardInput.WriteLine(line);
            _process.StandardInput.Flush();
        }
        catch (IOException)
        {
            throw Ended();
        }

        return Receive<ServerState>();
    }

    private T Receive<T>()
    {
        var reading = _process.StandardOutput.ReadLineAsync();
        if (!reading.Wait(LongestAnswer))
        {
            Dispose();
            throw new LabProcessException("The server did not answer in time.");
        }

        string line = reading.Result ?? throw Ended();
        try
        {
            return MessageLine.Read<T>(line);
        }
        catch (JsonException)
        {
            throw new LabProcessException($"Instead of an answer the server said: {line}");
        }
    }

    private LabProcessException Ended()
    {
        _process.WaitForExit(TimeSpan.FromSeconds(2));
        lock (_errors)
        {
            return new LabProcessException($"The server ended early. {_errors.ToString().Trim()}".TrimEnd());
        }
    }
}

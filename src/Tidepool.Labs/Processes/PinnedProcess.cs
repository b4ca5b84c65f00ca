using System.Diagnostics;
using System.Text.Json;

namespace Tidepool.Labs;

/// <summary>A program on a core of its own that answers lines of its input with lines of JSON; one at a time.</summary>
internal sealed class PinnedProcess : IDisposable
{
    private static readonly TimeSpan LongestAnswer = TimeSpan.FromMinutes(1);

    private readonly ChildProcess _child;
    private readonly Process _process;
    private readonly string _name;

    private PinnedProcess(Process process, string name)
    {
        _child = new ChildProcess(process);
        _process = process;
        _name = name;
    }

    /// <summary>The number of the process.</summary>
    public int Id => _process.Id;

    /// <summary>What it has written to its standard error so far, without white space at the ends.</summary>
    public string Errors => _child.Errors;

    /// <summary>Starts this program, to do a part of it.</summary>
    /// <param name="name">What messages call it, such as <c>The server</c>.</param>
    /// <param name="command">This program.</param>
    /// <param name="core">The core that it gets.</param>
    /// <param name="arguments">What tells the program its part.</param>
    /// <exception cref="LabProcessException">It did not start.</exception>
    public static PinnedProcess Start(string name, ChildCommand command, int core, params IEnumerable<string> arguments)
    {
        var (program, pinned) = CorePair.Pin(core, command.FileName, [.. command.LeadingArguments, .. arguments]);
        return Start(name, new ProcessStartInfo(program, pinned)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        });
    }

    /// <summary>Starts a command that pins itself; its input, output and errors are redirected.</summary>
    /// <exception cref="LabProcessException">It did not start.</exception>
    public static PinnedProcess Start(string name, ProcessStartInfo info) =>
        new(Process.Start(info) ?? throw new LabProcessException($"{name} did not start."), name);

    /// <summary>Sends a line and reads the answer.</summary>
    /// <exception cref="LabProcessException">It ended, is silent, or says something else.</exception>
    public T Ask<T>(string line)
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

        return Receive<T>();
    }

    /// <summary>Reads the next line.</summary>
    /// <exception cref="LabProcessException">It ended, is silent, or says something else.</exception>
    public T Receive<T>()
    {
        var reading = _process.StandardOutput.ReadLineAsync();
        if (!reading.Wait(LongestAnswer))
        {
            Dispose();
            throw new LabProcessException($"{_name} did not answer in time.");
        }

        string line = reading.Result ?? throw Ended();
        try
        {
            return MessageLine.Read<T>(line);
        }
        catch (JsonException)
        {
            throw new LabProcessException($"{_name} gave no answer, but said: {line}");
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _child.Dispose();

    private LabProcessException Ended()
    {
        _process.WaitForExit(TimeSpan.FromSeconds(2));
        return new LabProcessException($"{_name} ended early. {_child.Errors}".TrimEnd());
    }
}

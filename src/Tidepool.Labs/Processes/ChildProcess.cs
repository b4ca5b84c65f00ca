using System.Diagnostics;
using System.Text;

namespace Tidepool.Labs;

/// <summary>A process that this one talks to: collects what it writes to its standard error, and ends it with its children.</summary>
internal sealed class ChildProcess : IDisposable
{
    private readonly StringBuilder _errors = new();

    /// <summary>Begins to read the standard error of a process, which must be redirected.</summary>
    /// <param name="process">The process; disposed with this.</param>
    public ChildProcess(Process process)
    {
        Process = process;
        process.ErrorDataReceived += (_, line) =>
        {
            lock (_errors)
            {
                _errors.AppendLine(line.Data);
            }
        };
        process.BeginErrorReadLine();
    }

    /// <summary>The process itself.</summary>
    public Process Process { get; }

    /// <summary>What it has written to its standard error so far, without white space at the ends.</summary>
    public string Errors
    {
        get
        {
            lock (_errors)
            {
                return _errors.ToString().Trim();
            }
        }
    }

    /// <summary>Kills it and its children, and waits for its end.</summary>
    public void Dispose()
    {
        try
        {
            Process.Kill(entireProcessTree: true);
            Process.WaitForExit();
        }
        catch (InvalidOperationException)
        {
            // It has ended by itself.
        }

        Process.Dispose();
    }
}

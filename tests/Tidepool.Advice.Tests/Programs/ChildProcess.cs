using System.Diagnostics;

namespace Tidepool.Advice.Tests.Programs;

/// <summary>One of the programs, in a process of its own that ends with the test.</summary>
internal sealed class ChildProcess : IDisposable
{
    private readonly Process _process;

    private ChildProcess(Process process) => _process = process;

    /// <summary>What runs assemblies.</summary>
    public static string Host { get; } =
        Environment.ProcessPath is { } path && Path.GetFileNameWithoutExtension(path) == "dotnet" ? path : "dotnet";

    public int Id => _process.Id;

    /// <summary>Starts a program and waits until it says that it is ready.</summary>
    public static ChildProcess Start(params string[] arguments)
    {
        var start = new ProcessStartInfo(Host) { RedirectStandardInput = true, RedirectStandardOutput = true, UseShellExecute = false };
        start.ArgumentList.Add(typeof(ChildProcess).Assembly.Location);
        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        var child = new ChildProcess(Process.Start(start)!);
        Assert.Equal(WatchedProgram.Ready, child._process.StandardOutput.ReadLine());
        return child;
    }

    /// <summary>Writes a line and reads the answer.</summary>
    public string Ask(string line = "")
    {
        _process.StandardInput.WriteLine(line);
        return _process.StandardOutput.ReadLine() ?? throw new InvalidOperationException("the program has ended");
    }

    /// <summary>Lets the program come to its end.</summary>
    public void End()
    {
        _process.StandardInput.Close();
        Assert.True(_process.WaitForExit(TimeSpan.FromSeconds(60)), "the program did not end");
    }

    /// <summary>Ends the program without asking it.</summary>
    public void Kill()
    {
        _process.Kill();
        _process.WaitForExit();
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            Kill();
        }

        _process.Dispose();
    }
}

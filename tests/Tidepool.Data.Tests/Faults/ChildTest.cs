using System.Diagnostics;

namespace Tidepool.Data.Tests.Faults;

/// <summary>A part of a test in a process of its own: this assembly as a program.</summary>
internal sealed class ChildTest : IDisposable
{
    /// <summary>The variable of the environment with the connection string, which has a password and so is on no command line.</summary>
    public const string Variable = "TIDEPOOL_TEST_SERVER";

    /// <summary>Longer than any part takes. Less than the test has, so that one that hangs tells what it said and is stopped.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    private readonly Process _process;
    private readonly Task<string> _errors;

    private ChildTest(Process process)
    {
        _process = process;
        _errors = process.StandardError.ReadToEndAsync();
    }

    /// <summary>The number of the process; of the command in front when there is one that does not become it.</summary>
    public int Id => _process.Id;

    /// <summary>Starts a part.</summary>
    /// <param name="server">What the part connects to.</param>
    /// <param name="part">Its name.</param>
    /// <param name="front">A command that runs it.</param>
    public static ChildTest Start(string server, string part, params string[] front)
    {
        string[] command = [.. front, "dotnet", typeof(ChildTest).Assembly.Location, part];
        var start =
            new ProcessStartInfo(command[0], command[1..])
            {
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
                RedirectStandardError = true,
            };
        start.Environment[Variable] = server;
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return new(Process.Start(start)!);
    }

    /// <summary>Waits for a line.</summary>
    public async Task ReadAsync(string line)
    {
        string? read = await WithinAsync(_process.StandardOutput.ReadLineAsync());
        if (read != line)
        {
            Assert.Fail($"Not '{line}' but: {read}\n{await WithinAsync(_process.StandardOutput.ReadToEndAsync())}\n{await _errors}");
        }
    }

    /// <summary>Sends a line.</summary>
    public async Task WriteAsync(string line)
    {
        await _process.StandardInput.WriteLineAsync(line);
        await _process.StandardInput.FlushAsync();
    }

    /// <summary>Sends a signal.</summary>
    public async Task SignalAsync(string signal)
    {
        using var kill = Process.Start("kill", [$"-{signal}", $"{Id}"]);
        await kill.WaitForExitAsync();
        Assert.Equal(0, kill.ExitCode);
    }

    /// <summary>Waits for its end, which must be a good one.</summary>
    public async Task EndAsync()
    {
        string output = await WithinAsync(_process.StandardOutput.ReadToEndAsync());
        await _process.WaitForExitAsync();
        Assert.True(_process.ExitCode == 0, $"{output}\n{await _errors}");
    }

    private async Task<T> WithinAsync<T>(Task<T> reading)
    {
        if (await Task.WhenAny(reading, Task.Delay(Patience)) != reading)
        {
            _process.Kill(entireProcessTree: true);
            Assert.Fail($"Not over after {Patience.TotalMinutes} minutes. It said: {await reading}\n{await _errors}");
        }

        return await reading;
    }

    public void Dispose()
    {
        _process.Kill(entireProcessTree: true);
        _process.WaitForExit();
        _process.Dispose();
    }
}

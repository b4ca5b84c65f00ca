using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Labs.Tests.Servers;

/// <summary>A process of its own that holds a cluster, in a temporary folder of its own, until it is stopped.</summary>
internal sealed class HeldCluster : IDisposable
{
    private readonly Process _holder;
    private readonly string _place;

    private HeldCluster(Process holder, string place)
    {
        _holder = holder;
        _place = place;
    }

    /// <summary>What the process does: says "begin", makes a cluster, says which processes it has, and waits.</summary>
    public static async Task HoldAsync()
    {
        Console.WriteLine("begin");
        await using PostgresCluster cluster = await PostgresCluster.StartAsync();
        Console.WriteLine($"{cluster.ServerProcess} {cluster.SupervisorProcess}");
        await Task.Delay(Timeout.Infinite);
    }

    /// <summary>Starts the process, as the leader of its own group.</summary>
    public static HeldCluster Start()
    {
        string place = Directory.CreateTempSubdirectory("held").FullName;
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(place, (UnixFileMode)0b111_111_111); // the server's user makes its folder here
        }

        // Programs that a script has started in the background ignore Ctrl+C, and so would those that they start.
        var start = new ProcessStartInfo(
            "setsid",
            ["env", "--default-signal", "dotnet", typeof(HeldCluster).Assembly.Location, "hold-cluster"]) { RedirectStandardOutput = true };
        start.Environment["TMPDIR"] = place;
        start.Environment["DOTNET_EnableDiagnostics"] = "0"; // whose pipes stay in the folder of a process that is killed
        return new(Process.Start(start)!, place);
    }

    /// <summary>Waits until it begins to make the cluster.</summary>
    public async Task BeginAsync() => Assert.Equal("begin", await _holder.StandardOutput.ReadLineAsync());

    /// <summary>Waits until it has the cluster.</summary>
    /// <returns>The server's first process, and the shell that owns it.</returns>
    public async Task<(int Server, int Supervisor)> ReadyAsync()
    {
        string line = await _holder.StandardOutput.ReadLineAsync() ?? throw new InvalidOperationException("The holder has ended.");
        string[] numbers = line.Split(' ');
        return (int.Parse(numbers[0], CultureInfo.InvariantCulture), int.Parse(numbers[1], CultureInfo.InvariantCulture));
    }

    /// <summary>Sends a signal to the process, or to its whole group as a terminal does.</summary>
    public async Task EndAsync(string signal, bool group = false)
    {
        using var kill = Process.Start("kill", [$"-{signal}", "--", group ? $"-{_holder.Id}" : $"{_holder.Id}"]);
        await kill.WaitForExitAsync();
        await _holder.WaitForExitAsync();
    }

    /// <summary>Waits until no process works in the folder and the folder is empty.</summary>
    public async Task IsGoneAsync()
    {
        for (int tries = 0; ; tries++)
        {
            string[] left = [.. Directory.GetFileSystemEntries(_place), .. Processes()];
            if (left.Length == 0)
            {
                return;
            }

            Assert.True(tries < 6000, $"Left after a minute: {string.Join(", ", left)}");
            await Task.Delay(10);
        }
    }

    public void Dispose()
    {
        _holder.Kill();
        _holder.WaitForExit();
        _holder.Dispose();
        Directory.Delete(_place, recursive: true);
    }

    private IEnumerable<string> Processes()
    {
        foreach (string folder in Directory.GetDirectories("/proc").Where(static folder => char.IsAsciiDigit(Path.GetFileName(folder)[0])))
        {
            string command;
            try
            {
                command = File.ReadAllText(Path.Combine(folder, "cmdline")).Replace('\0', ' ');
            }
            catch (IOException)
            {
                continue; // it has ended meanwhile
            }

            if (command.Contains(_place, StringComparison.Ordinal))
            {
                yield return $"{Path.GetFileName(folder)} {command}";
            }
        }
    }
}

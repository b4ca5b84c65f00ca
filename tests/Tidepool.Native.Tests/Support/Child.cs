using System.Diagnostics;

namespace Tidepool.Native.Tests.Support;

/// <summary>The test assembly as a program of its own: scenarios that need a fresh process, or end it, run in a child.</summary>
public static class Child
{
    /// <summary>The entry point of the assembly; the test runner does not use it.</summary>
    public static int Main(string[] args)
    {
        ArgumentNullException.ThrowIfNull(args);
        if (args is [string name] && Scenarios.Find(name) is { } scenario)
        {
            scenario();
            return 0;
        }

        Console.Error.WriteLine("This is a test assembly: run it with 'dotnet test'.");
        return 2;
    }

    /// <summary>Runs one scenario in a child process.</summary>
    /// <param name="scenario">The method of <see cref="Scenarios"/>.</param>
    /// <param name="folder">Where the assembly lies; null for where it lies now.</param>
    /// <param name="environment">Variables to set; null takes one away.</param>
    internal static (int Code, string Output, string Error) Run(
        Action scenario, string? folder = null, params (string Name, string? Value)[] environment)
    {
        ProcessStartInfo start = new(
            Environment.ProcessPath is { } path && Path.GetFileNameWithoutExtension(path) == "dotnet" ? path : "dotnet")
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.ArgumentList.Add("exec");
        start.ArgumentList.Add(
            folder is null ? typeof(Child).Assembly.Location : Path.Combine(folder, Path.GetFileName(typeof(Child).Assembly.Location)));
        start.ArgumentList.Add(scenario.Method.Name);
        start.Environment["DOTNET_NOLOGO"] = "1";
        start.Environment["DOTNET_DbgEnableMiniDump"] = "0";
        start.Environment.Remove("TIDEPOOL_CHECKS");
        foreach ((string name, string? value) in environment)
        {
            start.Environment[name] = value;
        }

        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> error = process.StandardError.ReadToEndAsync();
        Assert.True(process.WaitForExit(TimeSpan.FromMinutes(2)), "The child process did not end.");
        return (process.ExitCode, output.GetAwaiter().GetResult(), error.GetAwaiter().GetResult());
    }
}

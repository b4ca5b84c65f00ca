using System.Diagnostics;

namespace Tidepool.Labs.Tests.Processes;

/// <summary>The command line as a process.</summary>
internal static class ToolProgram
{
    public static string Path { get; } = System.IO.Path.Combine(AppContext.BaseDirectory, "Tidepool.Tool.dll");

    public static async Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments)
    {
        using var process = Process.Start(new ProcessStartInfo("dotnet", [Path, .. arguments])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        await process.WaitForExitAsync();
        return (process.ExitCode, await output, await errors);
    }
}

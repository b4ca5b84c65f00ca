using System.Diagnostics;

namespace Tidepool.Labs.Tests.Processes;

/// <summary>The command line as a process.</summary>
internal static class ToolProgram
{
    public static string Path { get; } = System.IO.Path.Combine(AppContext.BaseDirectory, "Tidepool.Tool.dll");

    public static Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments) =>
        RunInAsync(Environment.CurrentDirectory, arguments);

    public static Task<(int Code, string Output, string Errors)> RunInAsync(string folder, params string[] arguments) =>
        RunProgramAsync(folder, "dotnet", [Path, .. arguments]);

    public static async Task<(int Code, string Output, string Errors)> RunProgramAsync(string folder, string program, string[] arguments)
    {
        using var process = Process.Start(new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        await process.WaitForExitAsync();
        return (process.ExitCode, await output, await errors);
    }
}

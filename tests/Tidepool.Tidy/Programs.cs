using System.Diagnostics;

namespace Tidepool.Tidy;

/// <summary>Programs outside .NET that a rule uses.</summary>
internal static class Programs
{
    public static bool IsInstalled(string program) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
            .Any(folder => File.Exists(Path.Combine(folder, program)));

    /// <summary>Runs a program in the root of the repository with nothing on its standard input.</summary>
    public static (int ExitCode, string Output) Run(string program, params string[] arguments) =>
        RunIn(Repository.Root, program, arguments);

    public static (int ExitCode, string Output) RunIn(string folder, string program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using Process process = Process.Start(start)!;
        process.StandardInput.Close();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd() + errors.Result;
        process.WaitForExit();
        return (process.ExitCode, output);
    }
}

/// <summary>A theory that is skipped when the native library is missing, and then names the command that builds it.</summary>
public sealed class NeedsNativeLibraryAttribute : TheoryAttribute
{
    public NeedsNativeLibraryAttribute()
    {
        if (!TidepoolNative.IsAvailable)
        {
            Skip = "The native library is missing. Build it with: eng/build-native release tidepool";
        }
    }
}

/// <summary>A fact that is skipped when a program is missing, and then names the command that installs it.</summary>
public sealed class NeedsProgramAttribute : FactAttribute
{
    public NeedsProgramAttribute(string program)
    {
        if (!Programs.IsInstalled(program))
        {
            Skip = $"{program} is missing. Install it with: apt-get install {program}";
        }
    }
}

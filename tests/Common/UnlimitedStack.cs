using System.Diagnostics;

namespace Tidepool.Tests.Common;

/// <summary>Whether a process can be started whose main thread's stack has no limit.</summary>
public static class UnlimitedStack
{
    /// <summary>The command that lifts the limit, in front of the program.</summary>
    public const string Command = "ulimit -s unlimited";

    private static readonly Lazy<string?> s_missing = new(Look);

    /// <summary>Why not; null where it can.</summary>
    public static string? Missing => s_missing.Value;

    private static string? Look()
    {
        if (!OperatingSystem.IsLinux())
        {
            return "the range of a main thread without a stack limit is a question of Linux only";
        }

        using Process shell = Process.Start(new ProcessStartInfo("/bin/sh", ["-c", Command]) { RedirectStandardError = true })!;
        string said = shell.StandardError.ReadToEnd();
        shell.WaitForExit();
        return shell.ExitCode == 0
            ? null
            : $"This shell refuses '{Command}' ({said.Trim()}). Raise the hard limit: ulimit -H -s unlimited, as root";
    }
}

/// <summary>A test that is skipped, with the reason, where the limit of the stack cannot be lifted.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class UnlimitedStackFactAttribute : Xunit.FactAttribute
{
    public UnlimitedStackFactAttribute() => Skip = UnlimitedStack.Missing;
}

/// <summary>Tests that are skipped, with the reason, where the limit of the stack cannot be lifted.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class UnlimitedStackTheoryAttribute : Xunit.TheoryAttribute
{
    public UnlimitedStackTheoryAttribute() => Skip = UnlimitedStack.Missing;
}

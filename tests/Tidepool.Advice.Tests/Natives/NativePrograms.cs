using System.ComponentModel;
using System.Diagnostics;
using System.Reflection;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>A fact about native programs: skipped where the compiler or the library is missing, and then says how to get it.</summary>
public sealed class NativeProgramFactAttribute : FactAttribute
{
    public NativeProgramFactAttribute() => Skip = NativePrograms.WhyNot;
}

/// <summary>A fact about C++ code: skipped where the compiler is missing.</summary>
public sealed class CompilerFactAttribute : FactAttribute
{
    public CompilerFactAttribute() => Skip = NativePrograms.WhyNoCompiler;
}

/// <summary>Compiles C++, the planted programs once.</summary>
internal static class NativePrograms
{
    private static readonly Lazy<string> BuiltPlanted = new(static () => Build("planted"));
    private static readonly Lazy<string> BuiltCounted = new(static () => Build("counted"));

    /// <summary>Why nothing can be compiled; null where it can.</summary>
    public static string? WhyNoCompiler { get; } =
        !OperatingSystem.IsLinux() ? "Native programs are looked at on Linux only."
        : !CanRun("g++") ? "g++ is missing: apt-get install g++"
        : null;

    /// <summary>Why there are no programs; null where there are.</summary>
    public static string? WhyNot { get; } =
        WhyNoCompiler ?? (!CanRun("addr2line") ? "addr2line is missing: apt-get install binutils" : FindLibrary());

    /// <summary>The program of <c>planted.cpp</c>, with debugging information.</summary>
    public static string Planted => BuiltPlanted.Value;

    /// <summary>The program of <c>counted.cpp</c>, with debugging information.</summary>
    public static string Counted => BuiltCounted.Value;

    /// <summary>The folder of the repository.</summary>
    public static string Root { get; } = typeof(NativePrograms).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
        .Single(static attribute => attribute.Key == "RepositoryRoot").Value!;

    /// <summary>Runs a program to its end; the test fails when that is not 0.</summary>
    public static void Run(string program, params string[] arguments)
    {
        using Process process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true })!;
        string errors = process.StandardError.ReadToEnd();
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, $"{program} {string.Join(' ', arguments)}\n{errors}");
    }

    private static string Build(string name)
    {
        string program = Path.Combine(AppContext.BaseDirectory, name);
        string source = Path.Combine(Root, "tests", "Tidepool.Advice.Tests", "Natives", name + ".cpp");
        Run("g++", "-std=c++20", "-O2", "-g", "-pthread", "-o", program, source);
        return program;
    }

    private static bool CanRun(string program)
    {
        try
        {
            using Process process = Process.Start(new ProcessStartInfo(program, ["--version"]) { RedirectStandardOutput = true })!;
            process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0;
        }
        catch (Win32Exception)
        {
            return false;
        }
    }

    private static string? FindLibrary()
    {
        try
        {
            PreloadLibrary.Find();
            return null;
        }
        catch (TargetException failure)
        {
            return failure.Message;
        }
    }
}

using System.ComponentModel;
using System.Diagnostics;
using System.Reflection;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>A fact about native programs: skipped where the compiler or the library is missing, and then says how to get it.</summary>
public sealed class NativeProgramFactAttribute : FactAttribute
{
    public NativeProgramFactAttribute() => Skip = NativePrograms.WhyNot;
}

/// <summary>Compiles the planted programs, once.</summary>
internal static class NativePrograms
{
    private static readonly Lazy<string> Built = new(Build);

    /// <summary>Why there are none; null where there are.</summary>
    public static string? WhyNot { get; } =
        !OperatingSystem.IsLinux() ? "Native programs are looked at on Linux only."
        : !CanRun("g++") ? "g++ is missing: apt-get install g++"
        : !CanRun("addr2line") ? "addr2line is missing: apt-get install binutils"
        : FindLibrary();

    /// <summary>The program of <c>planted.cpp</c>, with debugging information.</summary>
    public static string Planted => Built.Value;

    private static string Source => Path.Combine(
        typeof(NativePrograms).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(static attribute => attribute.Key == "RepositoryRoot").Value!,
        "tests", "Tidepool.Advice.Tests", "Natives", "planted.cpp");

    private static string Build()
    {
        string program = Path.Combine(AppContext.BaseDirectory, "planted");
        using Process compiler = Process.Start("g++", ["-std=c++20", "-O2", "-g", "-pthread", "-o", program, Source]);
        compiler.WaitForExit();
        Assert.Equal(0, compiler.ExitCode);
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

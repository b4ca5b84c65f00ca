using System.Diagnostics;
using Tidepool.Tests.Common;
using Xunit.Sdk;

namespace Tidepool.Labs.Tests.Natives;

/// <summary>Brings the drivers up to date before the first test that runs one.</summary>
internal static class NativeDrivers
{
    private static readonly Lazy<(int Code, string Output)> Building = new(Build);

    /// <summary>What is missing here, or null.</summary>
    public static string? Missing { get; } =
        !OperatingSystem.IsLinux() ? "The drivers are for Linux."
        : PreloadPrograms.IsOnPath("cmake")
            && PreloadPrograms.IsOnPath(Environment.GetEnvironmentVariable("CXX") is { Length: > 0 } compiler ? compiler : "c++") ? null
        : "cmake or a C++ compiler is missing. Install them with: apt-get install cmake g++";

    /// <summary>Builds; a failure fails the test.</summary>
    public static void NeedBuild()
    {
        var (code, output) = Building.Value;
        Assert.True(code == 0, output);
    }

    private static (int, string) Build()
    {
        var start = new ProcessStartInfo(Path.Combine(Repository.Root, "eng", "build-native"), ["release", "lab"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return (process.ExitCode, output + errors.Result);
    }
}

/// <summary>A fact about the drivers: skipped, with the line that installs what is missing, where they cannot be built.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class DriverFactAttribute : FactAttribute, ITraitAttribute
{
    public DriverFactAttribute() => Skip = NativeDrivers.Missing;
}

/// <summary>A theory about the drivers.</summary>
[AttributeUsage(AttributeTargets.Method)]
[TraitDiscoverer(EnvironmentTrait.Name, "Tidepool.Labs.Tests")]
internal sealed class DriverTheoryAttribute : TheoryAttribute, ITraitAttribute
{
    public DriverTheoryAttribute() => Skip = NativeDrivers.Missing;
}

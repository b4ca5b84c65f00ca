using System.Globalization;
using System.Runtime;
using System.Runtime.InteropServices;
using System.Text;

namespace Tidepool.Labs;

/// <summary>What a result must say about where it was measured. It names no host and no user.</summary>
internal sealed record MachineInfo
{
    /// <summary>Short name: system, architecture, cores, processor. The folder of committed results is called so.</summary>
    public required string Name { get; init; }

    /// <summary>The processor as it calls itself.</summary>
    public required string Processor { get; init; }

    /// <summary>Processors the process may use.</summary>
    public required int Cores { get; init; }

    /// <summary>Memory the collector may use, in GiB.</summary>
    public required double MemoryGiB { get; init; }

    /// <summary>The operating system.</summary>
    public required string System { get; init; }

    /// <summary>The runtime and its version.</summary>
    public required string Runtime { get; init; }

    /// <summary>Workstation or server, concurrent or not.</summary>
    public required string Collector { get; init; }

    /// <summary>Reads the facts of this machine; the children inherit the settings of this process.</summary>
    public static MachineInfo OfThisMachine()
    {
        string processor = ReadProcessor();
        string architecture = RuntimeInformation.OSArchitecture.ToString().ToLowerInvariant();
        string system =
            OperatingSystem.IsLinux() ? "linux" : OperatingSystem.IsMacOS() ? "macos" : OperatingSystem.IsWindows() ? "windows" : "other";
        string name = string.Create(
            CultureInfo.InvariantCulture, $"{system}-{architecture}-{Environment.ProcessorCount}core-{Slug(processor)}");
        return new MachineInfo
        {
            Name = name,
            Processor = processor,
            Cores = Environment.ProcessorCount,
            MemoryGiB = Math.Round(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / (double)(1 << 30), 1),
            System = RuntimeInformation.OSDescription,
            Runtime = $"{RuntimeInformation.FrameworkDescription} {RuntimeInformation.RuntimeIdentifier}",
            Collector = (GCSettings.IsServerGC ? "server" : "workstation") + (IsConcurrent() ? ", concurrent" : ""),
        };
    }

    private static bool IsConcurrent() =>
        GC.GetConfigurationVariables().TryGetValue("ConcurrentGC", out object? value) && Equals(value, true);

    private static string ReadProcessor()
    {
        const string Info = "/proc/cpuinfo";
        string? line = File.Exists(Info)
            ? File.ReadLines(Info).FirstOrDefault(text => text.StartsWith("model name", StringComparison.Ordinal))
            : null;
        return line?[(line.IndexOf(':', StringComparison.Ordinal) + 1)..].Trim()
            ?? Environment.GetEnvironmentVariable("PROCESSOR_IDENTIFIER")
            ?? "unnamed processor";
    }

    private static string Slug(string text)
    {
        var slug = new StringBuilder();
        foreach (char character in text.ToLowerInvariant())
        {
            if (char.IsAsciiLetterOrDigit(character))
            {
                slug.Append(character);
            }
            else if (slug.Length > 0 && slug[^1] != '-')
            {
                slug.Append('-');
            }
        }

        return slug.ToString().Trim('-');
    }
}

using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;

namespace Tidepool.Advice;

/// <summary>Reads of a process what the base class library does not show. Elsewhere than on Linux parts of it stay unknown.</summary>
internal static class SystemProcess
{
    /// <summary>The user of this process, as a number; null where that is not known.</summary>
    public static string? User { get; } = OwnerOf(Environment.ProcessId);

    /// <summary>The user that a process runs as, as a number; null where that is not known.</summary>
    public static string? OwnerOf(int id)
    {
        string? line = ReadLines($"/proc/{id}/status").FirstOrDefault(static line => line.StartsWith("Uid:", StringComparison.Ordinal));
        return line?.Split('\t', StringSplitOptions.RemoveEmptyEntries) is [_, _, var effective, ..] ? effective : null;
    }

    /// <summary>The words of its command line; none where they are not known.</summary>
    public static string[] CommandLineOf(int id) =>
        ReadLines($"/proc/{id}/cmdline") is [var text, ..]
            ? [.. text.Split('\0', StringSplitOptions.RemoveEmptyEntries).Select(Printable)]
            : [];

    /// <summary>Text of another program without what a terminal would take for a command.</summary>
    internal static string Printable(string text) =>
        string.Create(text.Length, text, static (letters, from) =>
        {
            for (int i = 0; i < letters.Length; i++)
            {
                letters[i] = char.IsControl(from[i]) ? '?' : from[i];
            }
        });

    /// <summary>Whether it has ended, and its parent has not asked yet how; false where that is not known.</summary>
    public static bool IsZombie(int id) =>
        ReadLines($"/proc/{id}/status").Any(static line => line.StartsWith("State:\tZ", StringComparison.Ordinal));

    /// <summary>The files that it has loaded; none where they may not be read.</summary>
    public static string[] ModulesOf(Process process)
    {
        // The class library leaves out what is mapped for reading only, as the runtime maps assemblies.
        if (ReadLines($"/proc/{process.Id}/maps") is { Length: > 0 } maps)
        {
            return [.. maps.Select(static line => line.IndexOf('/', StringComparison.Ordinal) is >= 0 and var path ? line[path..] : "")
                .Where(static path => path.Length > 0).Distinct()];
        }

        try
        {
            return [.. process.Modules.Cast<ProcessModule>().Select(static module => module.FileName)];
        }
        catch (Exception failure) when (failure is Win32Exception or InvalidOperationException or NotSupportedException)
        {
            return [];
        }
    }

    /// <summary>The most memory that it has had in use at once, in bytes; null when it has ended or may not be read.</summary>
    public static long? PeakBytesOf(Process process)
    {
        if (OperatingSystem.IsLinux())
        {
            string? line = ReadLines($"/proc/{process.Id}/status")
                .FirstOrDefault(static line => line.StartsWith("VmHWM:", StringComparison.Ordinal));
            return line?.Split((char[])[' ', '\t'], StringSplitOptions.RemoveEmptyEntries) is [_, var kilobytes, ..]
                ? long.Parse(kilobytes, CultureInfo.InvariantCulture) * 1024
                : null;
        }

        try
        {
            process.Refresh();
            return process.PeakWorkingSet64;
        }
        catch (Exception failure) when (failure is Win32Exception or InvalidOperationException or NotSupportedException)
        {
            return null;
        }
    }

    /// <summary>Whether a runtime of .NET is loaded in it, as far as that may be read.</summary>
    public static bool IsRuntimeLoaded(int id)
    {
        try
        {
            using var process = Process.GetProcessById(id);
            return HasRuntime(ModulesOf(process));
        }
        catch (ArgumentException)
        {
            return false;
        }
    }

    /// <summary>Whether a runtime of .NET is among the modules of a process.</summary>
    public static bool HasRuntime(IEnumerable<string> modules) =>
        modules.Any(static module => Path.GetFileNameWithoutExtension(module) is "libcoreclr" or "coreclr");

    private static string[] ReadLines(string path)
    {
        try
        {
            return File.Exists(path) ? File.ReadAllLines(path) : [];
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            return [];
        }
    }
}

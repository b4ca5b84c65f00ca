using System.Diagnostics;

namespace Tidepool.Labs;

/// <summary>Where the native library and the drivers of the lab were built.</summary>
internal static class NativeBuild
{
    /// <summary>
    /// Environment variable that names the folder of the build, in place of <c>artifacts/native/release</c> of the clone.
    /// </summary>
    public const string Variable = "TIDEPOOL_NATIVE_BUILD";

    /// <summary>What to say when there is no build.</summary>
    public static string Missing => Repository is null
        ? "needs programs that a clone of the repository builds: ./tidepool lab native, with cmake and g++ (apt-get install cmake g++)"
        : "the native library is not built: ./tidepool lab native builds it, with cmake and g++ (apt-get install cmake g++)";

    private static readonly string[] SettingsOfAllocators =
        ["LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_", "MIMALLOC_", "TCMALLOC_", "TBB_MALLOC_", "TBBMALLOC_", "TIDEPOOL_", "PYTHONMALLOC"];

    /// <summary>The repository, or null outside of a clone.</summary>
    public static string? Repository { get; } = FindRepository();

    /// <summary>Whether there is no place where a build could be: outside of a clone, unless the variable names a folder.</summary>
    public static bool IsNowhere => Folder is null;

    private static string? Folder { get; } =
        Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } folder ? folder
        : Repository is { } repository ? Path.Combine(repository, "artifacts", "native", "release")
        : null;

    /// <summary>The file of the build, or null when it was not built.</summary>
    /// <param name="path">Its place in the build's folder.</param>
    public static string? Find(string path) =>
        OperatingSystem.IsLinux() && Folder is { } folder && Path.GetFullPath(Path.Combine(folder, path)) is var full && File.Exists(full)
            ? full
            : null;

    /// <summary>A driver or a tool of the lab, or null when it was not built.</summary>
    public static string? Program(string name) => Find(Path.Combine("bench", $"tidepool-bench-{name}"));

    /// <summary>The start of a program whose input and output are pipes, with no setting of an allocator but the given library.</summary>
    /// <param name="program">The program.</param>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="preload">The library to preload, or null.</param>
    /// <param name="setting">An environment variable that is set to 1, or null.</param>
    public static ProcessStartInfo ToStartInfo(
        string program, IEnumerable<string> arguments, string? preload = null, string? setting = null)
    {
        var info = new ProcessStartInfo(program, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        foreach (string name in info.Environment.Keys.Where(IsSetting).ToArray())
        {
            info.Environment.Remove(name);
        }

        if (preload is not null)
        {
            info.Environment["LD_PRELOAD"] = preload;
        }

        if (setting is not null)
        {
            info.Environment[setting] = "1";
        }

        return info;
    }

    private static bool IsSetting(string variable) =>
        SettingsOfAllocators.Any(setting => variable.StartsWith(setting, StringComparison.Ordinal));

    private static string? FindRepository()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
            {
                return folder.FullName;
            }
        }

        return null;
    }
}

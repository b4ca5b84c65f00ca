using System.Runtime.InteropServices;

namespace Tidepool.Labs;

/// <summary>Libraries that the system's packages bring.</summary>
internal static partial class SystemLibraries
{
    private const string DpkgStatus = "/var/lib/dpkg/status";

    private static readonly Lazy<Dictionary<string, string>> Packages = new(ReadPackages);

    /// <summary>The C library's name and version.</summary>
    public static string CLibrary { get; } = ReadCLibrary();

    /// <summary>The file of a library, or null when it is not installed.</summary>
    public static string? Find(string file) => Folders().Select(folder => Path.Combine(folder, file)).FirstOrDefault(File.Exists);

    /// <summary>The version of an installed package; where packages are of another kind, the name of the library's real file.</summary>
    public static string VersionOf(string package, string path) =>
        Packages.Value.GetValueOrDefault(package)
        ?? Path.GetFileName(File.ResolveLinkTarget(path, returnFinalTarget: true)?.FullName ?? path);

    /// <summary>The version of an installed package, or null.</summary>
    public static string? VersionOf(string package) => Packages.Value.GetValueOrDefault(package);

    private static IEnumerable<string> Folders()
    {
        string architecture = RuntimeInformation.OSArchitecture switch
        {
            Architecture.X64 => "x86_64",
            Architecture.Arm64 => "aarch64",
            var other => other.ToString().ToLowerInvariant(),
        };
        return [$"/usr/lib/{architecture}-linux-gnu", $"/lib/{architecture}-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    }

    private static Dictionary<string, string> ReadPackages()
    {
        var versions = new Dictionary<string, string>(StringComparer.Ordinal);
        string? package = null;
        bool installed = false;
        foreach (string line in File.Exists(DpkgStatus) ? File.ReadLines(DpkgStatus) : [])
        {
            if (line.StartsWith("Package: ", StringComparison.Ordinal))
            {
                package = line["Package: ".Length..];
            }
            else if (line.StartsWith("Status: ", StringComparison.Ordinal))
            {
                installed = line.EndsWith(" installed", StringComparison.Ordinal);
            }
            else if (package is not null && installed && line.StartsWith("Version: ", StringComparison.Ordinal))
            {
                versions[package] = line["Version: ".Length..];
            }
        }

        return versions;
    }

    private static string ReadCLibrary()
    {
        try
        {
            return OperatingSystem.IsLinux() ? $"glibc {Marshal.PtrToStringUTF8(GnuGetLibcVersion())}" : "not of Linux";
        }
        catch (Exception failure) when (failure is EntryPointNotFoundException or DllNotFoundException)
        {
            return "not glibc";
        }
    }

    [LibraryImport("libc", EntryPoint = "gnu_get_libc_version")]
    private static partial IntPtr GnuGetLibcVersion();
}

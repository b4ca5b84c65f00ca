using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tidepool;

/// <summary>
/// Finds the native library: the file that TIDEPOOL_NATIVE names, else next to this assembly, else in runtimes/RID/native there, else where
/// the host says that packages keep their native parts. Never where the system keeps its libraries: what lies there may be of another
/// version.
/// </summary>
internal static class NativeLoader
{
    /// <summary>The environment variable that names the file.</summary>
    internal const string Variable = "TIDEPOOL_NATIVE";

    /// <summary>What makes the library in a checkout.</summary>
    internal const string BuildCommand = "eng/build-native release tidepool";

    private static readonly Lock Gate = new();
    private static nint s_handle;
    private static string? s_path;

    /// <summary>The file's name on this system.</summary>
    internal static string FileName { get; } =
        OperatingSystem.IsWindows() ? "tidepool.dll" : OperatingSystem.IsMacOS() ? "libtidepool.dylib" : "libtidepool.so";

    /// <summary>The file that was loaded, or null.</summary>
    internal static string? LoadedPath => Volatile.Read(ref s_path);

    /// <summary>Whether what was loaded is the checked library. A field, because every birth of a buffer asks.</summary>
    internal static bool IsChecked { get; private set; }

    [ModuleInitializer]
    [SuppressMessage(
        "Usage", "CA2255",
        Justification = "A resolver must be there before the first call, and a library has no other start.")]
    internal static void Register() =>
        NativeLibrary.SetDllImportResolver(
            typeof(NativeLoader).Assembly, static (name, _, _) => name == NativeMethods.Library ? Load() : 0);

    /// <summary>Loads the library unless it is loaded.</summary>
    /// <exception cref="DllNotFoundException">It is in none of the places, cannot be loaded, or has another version.</exception>
    internal static nint Load() =>
        TryLoad(out nint handle, out string? problem) ? handle : throw new DllNotFoundException(problem);

    /// <summary>Loads the library unless it is loaded. A failure is not remembered: the next call looks again.</summary>
    internal static bool TryLoad(out nint handle, [NotNullWhen(false)] out string? problem)
    {
        lock (Gate)
        {
            problem = null;
            if (s_handle == 0)
            {
                problem = Find(out s_path, out s_handle);
            }

            handle = s_handle;
            return problem is null;
        }
    }

    /// <summary>The files that are looked at, in order.</summary>
    internal static IEnumerable<string> Places()
    {
        if (Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } named)
        {
            return [Path.GetFullPath(named)]; // a file that is named is loaded, or it is an error
        }

        string folder = $"runtimes{Path.DirectorySeparatorChar}{Rid}{Path.DirectorySeparatorChar}native";
        string hosts = AppContext.GetData("NATIVE_DLL_SEARCH_DIRECTORIES") as string ?? string.Empty;
        return new[] { AssemblyFolder, AppContext.BaseDirectory }
            .SelectMany(place => new[] { place, Path.Combine(place, folder) })
            .Concat(hosts.Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries))
            .Where(static place => place.Length > 0)
            .Select(static place => Path.GetFullPath(Path.Combine(place, FileName)))
            .Distinct(StringComparer.Ordinal);
    }

    /// <summary>linux-x64 and the like: the folder of packages, without a distribution's name.</summary>
    private static string Rid
    {
        get
        {
            string system = OperatingSystem.IsWindows() ? "win" : OperatingSystem.IsMacOS() ? "osx" : "linux";
            string libc = RuntimeInformation.RuntimeIdentifier.Contains("musl", StringComparison.Ordinal) ? "-musl" : string.Empty;
            return $"{system}{libc}-{RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant()}";
        }
    }

    [UnconditionalSuppressMessage("SingleFile", "IL3000", Justification = "Empty there, and then the base directory is the place.")]
    private static string AssemblyFolder => Path.GetDirectoryName(typeof(NativeLoader).Assembly.Location) ?? string.Empty;

    /// <summary>What is wrong, or null when the library was loaded.</summary>
    private static string? Find(out string? path, out nint handle)
    {
        string[] places = [.. Places()];
        path = Array.Find(places, File.Exists);
        handle = 0;
        if (path is null)
        {
            return $"{FileName}, the native library of Tidepool, is not there. Looked at: {string.Join(", ", places)}. "
                + $"In a checkout of Tidepool this builds it: {BuildCommand} (then build again). Elsewhere set {Variable} to the file.";
        }

        string? problem = Open(path, out handle);
        path = problem is null ? path : null;
        return problem;
    }

    private static unsafe string? Open(string path, out nint handle)
    {
        try
        {
            handle = NativeLibrary.Load(path);
        }
        catch (Exception failure) when (failure is DllNotFoundException or BadImageFormatException)
        {
            handle = 0;
            return $"{path} is there and cannot be loaded: {failure.Message} In a checkout of Tidepool this builds it: {BuildCommand}";
        }

        int version = NativeLibrary.TryGetExport(handle, "tp_version", out nint export) ? ((delegate* unmanaged[Cdecl]<int>)export)() : 0;
        if (version / 100 == NativeMethods.HeaderVersion / 100)
        {
            IsChecked = ((delegate* unmanaged[Cdecl]<byte>)NativeLibrary.GetExport(handle, "tp_is_checked"))() != 0;
            return null;
        }

        NativeLibrary.Free(handle);
        handle = 0;
        return $"{path} is not the native library that this assembly needs: it has version {Text(version)}, wanted is "
            + $"{Text(NativeMethods.HeaderVersion)}. "
            + $"In a checkout of Tidepool this builds it: {BuildCommand}";
    }

    internal static string Text(int version) => version == 0 ? "(none)" : $"{version / 10_000}.{version / 100 % 100}.{version % 100}";
}

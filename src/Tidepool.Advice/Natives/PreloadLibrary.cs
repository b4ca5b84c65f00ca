namespace Tidepool.Advice;

/// <summary>Finds the library that records the allocations of a native program.</summary>
internal static class PreloadLibrary
{
    /// <summary>Environment variable that names its file.</summary>
    public const string Variable = "TIDEPOOL_PRELOAD";

    private const string FileName = "libtidepool-preload.so";

    /// <summary>The file.</summary>
    /// <exception cref="TargetException">It is nowhere, or the loader cannot preload it from where it is.</exception>
    public static string Find() => Find(Environment.GetEnvironmentVariable(Variable));

    /// <summary>The file that is named, or where nothing is, the one that was built or installed.</summary>
    /// <exception cref="TargetException">It is nowhere, or the loader cannot preload it from where it is.</exception>
    internal static string Find(string? named)
    {
        if (!OperatingSystem.IsLinux())
        {
            throw new TargetException(TargetProblem.OutOfReach, "native programs are looked at on Linux only: their malloc is preloaded.");
        }

        string[] places = string.IsNullOrEmpty(named) ? [.. Places()] : [named];
        string file = places.FirstOrDefault(File.Exists) ?? throw new TargetException(
            TargetProblem.OutOfReach,
            $"{FileName}, which records what a native program allocates, is in none of: {string.Join(", ", places)}. In a clone build "
                + "it: eng/build-native release tidepool_preload. Elsewhere install the package tidepool-preload, or name the file in "
                + $"{Variable}.");
        file = Path.GetFullPath(file);
        return file.AsSpan().IndexOfAny(' ', ':') < 0
            ? file
            : throw new TargetException(
                TargetProblem.OutOfReach, $"the loader cannot preload a library whose path has a space or a colon: {file}");
    }

    private static IEnumerable<string> Places()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
            {
                yield return Path.Combine(folder.FullName, "artifacts", "native", "release", FileName);
            }
        }

        yield return Path.Combine("/usr/local/lib", FileName);
        string machine = System.Runtime.InteropServices.RuntimeInformation.ProcessArchitecture switch
        {
            System.Runtime.InteropServices.Architecture.Arm64 => "aarch64",
            _ => "x86_64",
        };
        yield return Path.Combine($"/usr/local/lib/{machine}-linux-gnu", FileName);
        yield return Path.Combine($"/usr/lib/{machine}-linux-gnu", FileName);
        yield return Path.Combine("/usr/lib", FileName);
    }
}

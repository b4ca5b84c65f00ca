namespace Tidepool.Packages;

/// <summary>
/// Two clones of what this clone has, changes included, at paths of different length, and the packages made from each. Everything
/// lies in artifacts/packed, which begins empty with each run; NuGet's folder for packages is one of its own there.
/// </summary>
internal static class Clones
{
    private static readonly Lazy<Task<string>> LazyFirst = new(CloneWithChangesAsync);
    private static readonly Lazy<Task<string>> LazySecond = new(CloneOfFirstAsync);
    private static readonly Lazy<Task<Feed>> LazyFeed = new(() => PackAsync(LazyFirst.Value, "feed"));
    private static readonly Lazy<Task<Feed>> LazyOther = new(() => PackAsync(LazySecond.Value, "other"));

    /// <summary>What this machine lacks to make packages, with the command that installs it; or null.</summary>
    public static string? Missing { get; } = FindMissing();

    /// <summary>The folder of a clone that nothing is packed from.</summary>
    public static string Scratch(string name) => Path.Combine(Folder, name);

    /// <summary>Packages made from the first clone.</summary>
    public static Task<Feed> FeedAsync() => LazyFeed.Value;

    /// <summary>Packages made from the second clone.</summary>
    public static Task<Feed> OtherAsync() => LazyOther.Value;

    /// <summary>The first clone.</summary>
    public static Task<string> FirstAsync() => LazyFirst.Value;

    /// <summary>NuGet's own packages are used where they lie, and new ones do not go there.</summary>
    public static Dictionary<string, string> Variables => new()
    {
        ["NUGET_PACKAGES"] = Path.Combine(Folder, "nuget"),
        ["RestoreAdditionalProjectFallbackFolders"] = OwnPackages,
    };

    /// <summary>No variable but those that every program here has.</summary>
    public static Dictionary<string, string> None { get; } = [];

    private static string Folder { get; } = Repository.At("artifacts/packed");

    private static string OwnPackages => Environment.GetEnvironmentVariable("NUGET_PACKAGES")
        ?? Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".nuget", "packages");

    /// <summary>A commit with what is changed here is made in the clone only, at the time of the commit below it.</summary>
    private static async Task<string> CloneWithChangesAsync()
    {
        if (Directory.Exists(Folder))
        {
            Directory.Delete(Folder, recursive: true);
        }

        string clone = Path.Combine(Folder, "one");
        Directory.CreateDirectory(Folder);
        await GitAsync(Repository.Root, "clone", "--quiet", Repository.Root, clone);
        string changed = (await GitAsync(Repository.Root, "ls-files", "-z", "--modified", "--others", "--exclude-standard")).Output;
        foreach (string file in changed.Split('\0', StringSplitOptions.RemoveEmptyEntries).Distinct())
        {
            string target = Path.Combine(clone, file);
            if (File.Exists(Repository.At(file)))
            {
                Directory.CreateDirectory(Path.GetDirectoryName(target)!);
                File.Copy(Repository.At(file), target, overwrite: true);
            }
            else
            {
                File.Delete(target);
            }
        }

        if (changed.Length > 0)
        {
            await GitAsync(clone, "add", "--all");
            await GitAsync(
                clone, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "changes");
        }

        return clone;
    }

    private static async Task<string> CloneOfFirstAsync()
    {
        string clone = Path.Combine(Folder, "another", "place", "two");
        await GitAsync(Folder, "clone", "--quiet", await LazyFirst.Value, clone);
        return clone;
    }

    private static async Task<Feed> PackAsync(Task<string> clone, string name)
    {
        string source = await clone;
        string folder = Path.Combine(Folder, name);
        Dictionary<string, string> variables = new() { ["RunAnalyzers"] = "false" }; // they have run, and change nothing in a package
        Ended packed = await Programs.RunAsync(source, variables, Path.Combine(source, "tidepool"), "pack", folder);
        return new(folder, [.. packed.Lines.Order(StringComparer.Ordinal)]);
    }

    /// <summary>Runs git in a folder.</summary>
    public static Task<Ended> GitAsync(string folder, params string[] arguments) => Programs.RunAsync(folder, None, "git", arguments);

    private static string? FindMissing()
    {
        if (!OperatingSystem.IsLinux())
        {
            return "packages are made on Linux only";
        }

        string[] folders = (Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator);
        string[] missing = [.. ((string[])["git", "cmake", "g++"]).Where(p => !folders.Any(f => File.Exists(Path.Combine(f, p))))];
        return missing.Length > 0
            ? $"packages are made with git, cmake and g++. Install them with: apt-get install {string.Join(' ', missing)}"
            : !Path.Exists(Repository.At(".git")) ? "packages are compared between clones, and this folder is none" : null;
    }
}

/// <summary>A folder of packages.</summary>
/// <param name="Folder">Its path.</param>
/// <param name="Files">What <c>./tidepool pack</c> said it made.</param>
internal sealed record Feed(string Folder, string[] Files)
{
    private const string Core = "Tidepool.";

    /// <summary>The version of all packages: that of the first file, which is the core's.</summary>
    public string Version => Path.GetFileNameWithoutExtension(Files[0])[Core.Length..];

    /// <summary>Without folder and version.</summary>
    public string[] Names => [.. Files.Select(file => Path.GetFileName(file).Replace($".{Version}", "", StringComparison.Ordinal))];

    /// <summary>The path of a package or its symbols.</summary>
    public string Find(string package, string extension = "nupkg") => Path.Combine(Folder, $"{package}.{Version}.{extension}");
}

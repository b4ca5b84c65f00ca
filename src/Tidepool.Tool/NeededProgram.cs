namespace Tidepool.Tool;

/// <summary>One line of <c>eng/programs</c>: what the repository uses beside the .NET SDK's own.</summary>
/// <param name="Need">Who needs it: <see cref="Required"/> for every verb.</param>
/// <param name="Signs">Commands or files; one of them shows that it is there.</param>
/// <param name="Package">Its Debian package.</param>
/// <param name="Purpose">What it is for.</param>
internal sealed record NeededProgram(string Need, string[] Signs, string Package, string Purpose)
{
    /// <summary>Nothing works without it.</summary>
    public const string Required = "required";

    /// <summary>What the user knows it by: the command, or the package of a library.</summary>
    public string Name => Signs[0].StartsWith('/') ? Package : Signs[0];

    /// <summary>The list, which is packed into this assembly.</summary>
    public static NeededProgram[] ReadAll()
    {
        using var stream = typeof(NeededProgram).Assembly.GetManifestResourceStream("programs")!;
        using var text = new StreamReader(stream);
        return [.. Parse(text.ReadToEnd())];
    }

    /// <summary>Whether it is on this machine.</summary>
    public bool IsThere() => Signs.Any(static sign => sign.StartsWith('/') ? IsFile(sign) : FindCommand(sign) is not null);

    /// <summary>Where a command is on the path; null when it is not.</summary>
    public static string? FindCommand(string command)
    {
        string[] names = OperatingSystem.IsWindows() ? [command + ".exe", command + ".cmd"] : [command];
        return (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .SelectMany(folder => names.Select(name => Path.Combine(folder, name)))
            .FirstOrDefault(File.Exists);
    }

    private static IEnumerable<NeededProgram> Parse(string text) =>
        from line in text.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
        where !line.StartsWith('#')
        let parts = line.Split('|', StringSplitOptions.TrimEntries)
        select new NeededProgram(parts[0], parts[1].Split(' '), parts[2], parts[3]);

    /// <summary>Whether a file is there; a star stands for one folder.</summary>
    private static bool IsFile(string path)
    {
        int star = path.IndexOf("/*/", StringComparison.Ordinal);
        return star < 0
            ? File.Exists(path)
            : Directory.Exists(path[..star])
                && Directory.EnumerateDirectories(path[..star]).Any(folder => File.Exists(folder + path[(star + 2)..]));
    }
}

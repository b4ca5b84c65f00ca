namespace Tidepool.Tidy;

/// <summary>The files of the repository, as the rules see them: everything that is not ignored or made by a build.</summary>
internal static class Repository
{
    /// <summary>The folder that holds Tidepool.slnx.</summary>
    public static string Root { get; } = FindRoot();

    /// <summary>Paths of all files, relative to the root, with forward slashes, sorted.</summary>
    public static IReadOnlyList<string> Files { get; } = [.. List(Root).Order(StringComparer.Ordinal)];

    /// <summary>Headers and sources in C and C++.</summary>
    public static IEnumerable<string> NativeCode =>
        new[] { ".h", ".hpp", ".c", ".cpp" }.SelectMany(static extension => Under("native/", extension));

    public static IEnumerable<string> Under(string folder, string extension) =>
        Files.Where(file => file.StartsWith(folder, StringComparison.Ordinal) && file.EndsWith(extension, StringComparison.Ordinal));

    public static string Path(string relative) => System.IO.Path.Combine(Root, relative);

    public static string Read(string relative) => File.ReadAllText(Path(relative));

    private static string FindRoot()
    {
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(System.IO.Path.Combine(folder.FullName, "Tidepool.slnx")))
        {
            folder = folder.Parent;
        }
        return folder?.FullName ?? throw new InvalidOperationException("Tidepool.slnx is in no folder above the tests.");
    }

    private static IEnumerable<string> List(string root)
    {
        var ignored = File.ReadAllLines(System.IO.Path.Combine(root, ".gitignore"))
            .Where(line => line.EndsWith('/'))
            .Select(line => line.TrimEnd('/'))
            .Append(".git")
            .ToHashSet(StringComparer.Ordinal);
        var waiting = new Stack<string>([root]);
        while (waiting.TryPop(out string? folder))
        {
            foreach (string child in Directory.GetDirectories(folder).Where(d => !ignored.Contains(System.IO.Path.GetFileName(d))))
            {
                waiting.Push(child);
            }
            // In a worktree .git is a file.
            foreach (string file in Directory.GetFiles(folder).Where(f => System.IO.Path.GetFileName(f) != ".git"))
            {
                yield return System.IO.Path.GetRelativePath(root, file).Replace('\\', '/');
            }
        }
    }
}

namespace Tidepool.Labs;

/// <summary>Where the programs of PostgreSQL are on this machine, and as whom they can run.</summary>
internal static class PostgresPrograms
{
    private const string Install = "Install it with: apt-get install postgresql";
    private const string DebianFolder = "/usr/lib/postgresql";
    
    /// <summary>Those it may run as, where this process may not run it.</summary>
    public static IReadOnlyList<string> Users { get; } = ["postgres", "nobody"];


    /// <summary>
    /// The folder that has both <c>initdb</c> and <c>postgres</c>: that of the path, else Debian's with the highest version, else null.
    /// </summary>
    public static string? Folder { get; } = Find(Environment.GetEnvironmentVariable("PATH") ?? "", DebianFolder);

    /// <summary>Why no server can run here, with the line that installs it; null when one can.</summary>
    public static string? Missing { get; } =
        !OperatingSystem.IsLinux() ? "The throw-away PostgreSQL server is for Linux."
        : Folder is null ? $"PostgreSQL is missing: no initdb on the path and none in {DebianFolder}. {Install}"
        : !PreloadPrograms.IsOnPath("setsid") ? "setsid is missing. Install it with: apt-get install util-linux"
        : Environment.IsPrivilegedProcess && ServerUser.AsOneOf(Users) is null
            ? $"PostgreSQL does not run as root, and there is no user {string.Join(" or ", Users)} "
                + $"to run as, or no setpriv, runuser or su. {Install}"
            : null;

    /// <summary>Looks in the folders of a path, then in the version folders of another.</summary>
    internal static string? Find(string path, string versions)
    {
        IEnumerable<string> onPath = path.Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries).SelectMany(WithTarget);
        IEnumerable<string> inVersions = Directory.Exists(versions)
            ? Directory.GetDirectories(versions)
                .OrderByDescending(static folder => double.TryParse(Path.GetFileName(folder), out double version) ? version : 0)
                .Select(static folder => Path.Combine(folder, "bin"))
            : [];
        return onPath.Concat(inVersions).FirstOrDefault(static folder =>
            File.Exists(Path.Combine(folder, "initdb")) && File.Exists(Path.Combine(folder, "postgres")));
    }

    /// <summary>The folder, and the one that its initdb is a link into.</summary>
    private static IEnumerable<string> WithTarget(string folder)
    {
        yield return folder;
        if (new FileInfo(Path.Combine(folder, "initdb")) is { Exists: true } program
            && program.ResolveLinkTarget(returnFinalTarget: true) is FileInfo { DirectoryName: { } target })
        {
            yield return target;
        }
    }
}

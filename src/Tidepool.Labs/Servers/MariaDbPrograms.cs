namespace Tidepool.Labs;

/// <summary>Where the programs of MariaDB are on this machine, and as whom they can run.</summary>
internal static class MariaDbPrograms
{
    /// <summary>Debian's packages of the programs alone: the package mariadb-server would run a server of its own, too.</summary>
    private const string Install = "Install it with: apt-get install mariadb-server-core mariadb-client-core";

    private static readonly string[] Needed = ["mariadbd", "mariadb-install-db", "my_print_defaults"];

    /// <summary>Those it may run as, where this process may not run it.</summary>
    public static IReadOnlyList<string> Users { get; } = ["mysql", "nobody"];

    /// <summary>Where the server's program is, or null.</summary>
    public static string? Server { get; } = Find(Needed[0]);

    /// <summary>Where the program that makes its files is, or null.</summary>
    public static string? Installer { get; } = Find(Needed[1]);

    /// <summary>Why no server can run here, with the line that installs it; null when one can.</summary>
    public static string? Missing { get; } =
        !OperatingSystem.IsLinux() ? "The throw-away MariaDB server is for Linux."
        : Needed.FirstOrDefault(static program => Find(program) is null) is { } program ? $"MariaDB is missing: no {program}. {Install}"
        : !PreloadPrograms.IsOnPath("setsid") ? "setsid is missing. Install it with: apt-get install util-linux"
        : Environment.IsPrivilegedProcess && ServerUser.AsOneOf(Users) is null
            ? $"MariaDB does not run as root, and there is no user {string.Join(" or ", Users)} "
                + $"to run as, or no setpriv, runuser or su. {Install}"
            : null;

    /// <summary>The folders of the path, and one that is not always on it.</summary>
    private static string? Find(string program) => (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
        .Append("/usr/sbin").Select(folder => Path.Combine(folder, program)).FirstOrDefault(File.Exists);
}

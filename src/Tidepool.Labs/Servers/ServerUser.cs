namespace Tidepool.Labs;

/// <summary>As whom a throw-away server runs: most refuse to run as root.</summary>
internal static class ServerUser
{
    /// <summary>
    /// The command in front of a program that makes it run as the first of some users that there is; empty when this process is no
    /// root's, null when there is no such user, or no program that changes to it.
    /// </summary>
    public static IReadOnlyList<string>? AsOneOf(IReadOnlyList<string> users)
    {
        if (!Environment.IsPrivilegedProcess)
        {
            return [];
        }

        return users.FirstOrDefault(static user => UserLine(user) is not null) is not { } user ? null
            : PreloadPrograms.IsOnPath("setpriv") ? ["setpriv", $"--reuid={user}", $"--regid={UserLine(user)![3]}", "--clear-groups", "--"]
            : PreloadPrograms.IsOnPath("runuser") ? ["runuser", "-u", user, "--"]
            : PreloadPrograms.IsOnPath("su") ? ["su", "-s", "/bin/sh", "-c", "exec \"$@\"", user, "--", "sh"]
            : null;
    }

    private static string[]? UserLine(string user) =>
        File.ReadLines("/etc/passwd").Select(static line => line.Split(':')).FirstOrDefault(line => line.Length > 3 && line[0] == user);
}

using System.Reflection;

namespace Tidepool.Labs;

/// <summary>Which Tidepool this is: the version, and the commit it was built from where the build knew it.</summary>
internal static class BuildVersion
{
    private const int ShortLength = 12;

    private static readonly string[] Parts = (typeof(BuildVersion).Assembly
        .GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "unknown").Split('+', 2);

    /// <summary>The version, such as <c>0.1.0</c>.</summary>
    public static string Number => Parts[0];

    /// <summary>The commit as hexadecimal digits; null where the sources were built outside git.</summary>
    public static string? Commit { get; } = Parts.Length == 2 && IsCommit(Parts[1]) ? Parts[1] : null;

    /// <summary>Version and commit in one line.</summary>
    public static string Text => Commit is null ? Number : $"{Number} (commit {Shorten(Commit)})";

    /// <summary>As many digits as people need to find a commit.</summary>
    public static string Shorten(string commit) => commit.Length > ShortLength ? commit[..ShortLength] : commit;

    /// <summary>Whether a text can be the name of a commit.</summary>
    internal static bool IsCommit(string text) => text.Length is >= 7 and <= 64 && text.All(char.IsAsciiHexDigit);
}

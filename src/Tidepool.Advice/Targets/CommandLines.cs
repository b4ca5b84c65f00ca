namespace Tidepool.Advice;

/// <summary>Names programs by their command lines.</summary>
internal static class CommandLines
{
    private static readonly string[] WithValue =
        ["--additionalprobingpath", "--depsfile", "--runtimeconfig", "--fx-version", "--roll-forward", "--additional-deps"];

    /// <summary>The program's name: the assembly that <c>dotnet</c> runs, else the executable; without folder and extension.</summary>
    /// <param name="words">The words of the command line.</param>
    /// <param name="fallback">The system's name of the process, where there are no words.</param>
    public static string NameOf(IReadOnlyList<string> words, string fallback)
    {
        if (words.Count == 0)
        {
            return fallback;
        }

        string host = Trim(words[0]);
        if (host != "dotnet")
        {
            return host;
        }

        for (int i = 1; i < words.Count; i++)
        {
            if (WithValue.Contains(words[i], StringComparer.OrdinalIgnoreCase))
            {
                i++;
            }
            else if (words[i].EndsWith(".dll", StringComparison.OrdinalIgnoreCase))
            {
                return Trim(words[i]);
            }
            else if (!words[i].StartsWith('-') && words[i] != "exec")
            {
                return $"{host} {words[i]}"; // a command of the SDK
            }
        }

        return host;
    }

    /// <summary>Whether a command builds a program and starts it as another process.</summary>
    public static bool IsDotnetRun(IReadOnlyList<string> words) =>
        words is [var host, "run", ..] && Path.GetFileNameWithoutExtension(host) == "dotnet";

    private static string Trim(string path)
    {
        string name = path[(path.LastIndexOfAny(['/', '\\']) + 1)..];
        return name.EndsWith(".dll", StringComparison.OrdinalIgnoreCase) || name.EndsWith(".exe", StringComparison.OrdinalIgnoreCase)
            ? name[..^4]
            : name;
    }
}

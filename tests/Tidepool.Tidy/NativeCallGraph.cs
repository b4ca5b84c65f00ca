using System.Text.RegularExpressions;

namespace Tidepool.Tidy;

/// <summary>
/// Answers which function of the native library names which in its body. By text: good enough for functions with names of their own.
/// </summary>
internal static partial class NativeCallGraph
{
    private static readonly Lazy<ILookup<string, (string File, HashSet<string> Names)>> Bodies = new(() => Read()
        .ToLookup(body => body.Name, body => (body.File, body.Names)));

    /// <summary>Whether the source defines a function or class of this name.</summary>
    public static bool Defines(string name) => Bodies.Value.Contains(name);

    /// <summary>Whether a function calls another one, itself or by functions of its own file.</summary>
    public static bool Calls(string caller, string named)
    {
        var home = Bodies.Value[caller].Select(body => body.File).ToHashSet();
        var visited = new HashSet<string> { caller };
        var waiting = new Stack<string>(visited);
        while (waiting.TryPop(out string? function))
        {
            foreach (var (_, names) in Bodies.Value[function].Where(body => home.Contains(body.File)))
            {
                if (names.Contains(named))
                {
                    return true;
                }

                foreach (string name in names.Where(name => Bodies.Value[name].Any(body => home.Contains(body.File)) && visited.Add(name)))
                {
                    waiting.Push(name);
                }
            }
        }

        return false;
    }

    private static IEnumerable<(string Name, string File, HashSet<string> Names)> Read() =>
        from file in Repository.Under("native/", ".h").Concat(Repository.Under("native/", ".cpp"))
        where file.StartsWith("native/src/", StringComparison.Ordinal) || file.StartsWith("native/include/", StringComparison.Ordinal)
        let text = Comment().Replace(Repository.Read(file), "")
        from head in Function().Matches(text).Concat(Class().Matches(text))
        let names = Name().Matches(BodyAt(text, head.Index + head.Length - 1)).Select(match => match.Value).ToHashSet()
        select (head.Groups["name"].Value, file, names);

    /// <summary>From an opening brace to its closing one.</summary>
    private static string BodyAt(string text, int brace)
    {
        int depth = 0;
        for (int i = brace; i < text.Length; i++)
        {
            depth += text[i] switch { '{' => 1, '}' => -1, _ => 0 };
            if (depth == 0)
            {
                return text[brace..i];
            }
        }

        return text[brace..];
    }

    [GeneratedRegex("//.*")]
    private static partial Regex Comment();

    [GeneratedRegex(
        @"^[^\n;{}()=]*\b(?<name>(?!(if|for|while|switch|return|catch)\b)\w+)\s*\(([^;{}()]|\([^()]*\))*\)[^;{}()]*\{",
        RegexOptions.Multiline)]
    private static partial Regex Function();

    [GeneratedRegex(@"^(class|struct) (?<name>\w+)[^;{]*\{", RegexOptions.Multiline)]
    private static partial Regex Class();

    [GeneratedRegex(@"\b[A-Za-z_]\w*\b")]
    private static partial Regex Name();
}

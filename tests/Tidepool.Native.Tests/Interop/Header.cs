using System.Text.RegularExpressions;

namespace Tidepool.Native.Tests.Interop;

/// <summary>tidepool.h as data: functions, structs and enums.</summary>
internal sealed partial class Header
{
    private readonly string _text;

    public Header(string text)
    {
        _text = Comments().Replace(text, " ");
        Functions = [.. Function().Matches(_text).Select(m => new HeaderFunction(
            m.Groups["name"].Value, Normal(m.Groups["type"].Value), [.. Split(m.Groups["parameters"].Value)]))];
        Structs = Struct().Matches(_text).ToDictionary(m => m.Groups["name"].Value, m => Fields(m.Groups["body"].Value));
        Enums = Enumeration().Matches(_text).ToDictionary(m => m.Groups["name"].Value, m => Values(m.Groups["body"].Value));
        Version = (10_000 * Macro("MAJOR")) + (100 * Macro("MINOR")) + Macro("PATCH");
    }

    public IReadOnlyList<HeaderFunction> Functions { get; }

    public IReadOnlyDictionary<string, (string Type, string Name)[]> Structs { get; }

    public IReadOnlyDictionary<string, (string Name, int Value)[]> Enums { get; }

    public int Version { get; }

    public static Header Read() =>
        new(File.ReadAllText(Path.Combine(Support.NativeLibraryFiles.Root, "native", "include", "tidepool", "tidepool.h")));

    private static IEnumerable<(string Type, string Name)> Split(string parameters) =>
        Normal(parameters) == "void" ? [] : parameters.Split(',').Select(Normal).Select(Typed);

    /// <summary>"const char* name" is type "const char*", name "name".</summary>
    private static (string Type, string Name) Typed(string declaration)
    {
        int at = declaration.LastIndexOf(' ');
        return (declaration[..at].Trim(), declaration[(at + 1)..]);
    }

    private static (string Type, string Name)[] Fields(string body) =>
        [.. body.Split(';', StringSplitOptions.RemoveEmptyEntries).Select(Normal).Where(f => f.Length > 0).Select(Typed)];

    private static (string Name, int Value)[] Values(string body)
    {
        int next = 0;
        var values = new List<(string Name, int Value)>();
        foreach (string entry in body.Split(',').Select(Normal).Where(e => e.Length > 0))
        {
            string[] parts = entry.Split('=', StringSplitOptions.TrimEntries);
            next = parts.Length > 1 ? int.Parse(parts[1], System.Globalization.CultureInfo.InvariantCulture) : next;
            values.Add((parts[0], next++));
        }

        return [.. values];
    }

    private int Macro(string part) =>
        int.Parse(
            Regex.Match(_text, $@"#define TIDEPOOL_VERSION_{part} (\d+)").Groups[1].Value,
            System.Globalization.CultureInfo.InvariantCulture);

    private static string Normal(string text) =>
        Spaces().Replace(text, " ").Trim().Replace(" *", "* ", StringComparison.Ordinal)
            .Replace("*  ", "* ", StringComparison.Ordinal).Replace("* *", "**", StringComparison.Ordinal);

    [GeneratedRegex(@"/\*.*?\*/", RegexOptions.Singleline)]
    private static partial Regex Comments();

    [GeneratedRegex(@"TP_EXPORT (?<type>[\w ]+?[\s*]+)(?<name>tp_\w+)\((?<parameters>[^)]*)\) TP_NOTHROW[^;]*;")]
    private static partial Regex Function();

    [GeneratedRegex(@"typedef struct (?<name>tp_\w+) \{(?<body>[^}]*)\}")]
    private static partial Regex Struct();

    [GeneratedRegex(@"typedef enum (?<name>tp_\w+) \{(?<body>[^}]*)\}")]
    private static partial Regex Enumeration();

    [GeneratedRegex(@"\s+")]
    private static partial Regex Spaces();
}

internal sealed record HeaderFunction(string Name, string Type, (string Type, string Name)[] Parameters);

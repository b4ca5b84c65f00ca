using System.Text.RegularExpressions;

namespace Tidepool.Advice;

/// <summary>Reads the tags of a measurement as the metrics event source writes them: <c>a=1,b=2</c>, without escapes.</summary>
internal static partial class MeterTags
{
    /// <summary>The tags by name. A comma begins a tag only where a name and an equals sign follow it.</summary>
    public static IReadOnlyDictionary<string, string> Parse(string tags)
    {
        var parsed = new Dictionary<string, string>(StringComparer.Ordinal);
        MatchCollection names = TagName().Matches(tags);
        for (int i = 0; i < names.Count; i++)
        {
            int start = names[i].Index + names[i].Length;
            int end = i + 1 < names.Count ? names[i + 1].Index : tags.Length;
            parsed[names[i].Groups["name"].Value] = tags[start..end];
        }

        return parsed;
    }

    [GeneratedRegex(@"(?:^|,)(?<name>[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*)=")]
    private static partial Regex TagName();
}

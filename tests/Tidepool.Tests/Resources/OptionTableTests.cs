using System.Globalization;
using System.Reflection;
using System.Text.RegularExpressions;
using Tidepool.Data;

namespace Tidepool.Tests.Resources;

/// <summary>The tables of options on docs/resource-pool.md: every option, once, with its default.</summary>
public sealed partial class OptionTableTests
{
    [Theory]
    [InlineData(typeof(ResourcePoolOptions), "Options of a resource pool")]
    [InlineData(typeof(PooledDbOptions), "Options of database connections")]
    public void The_table_has_every_option_with_its_default(Type type, string heading)
    {
        ArgumentNullException.ThrowIfNull(type);
        object defaults = type == typeof(ResourcePoolOptions) ? new ResourcePoolOptions { MaxSize = 1 } : new PooledDbOptions();
        var expected = type.GetProperties().ToDictionary(
            static option => option.Name, option => option.Name == "MaxSize" ? "required" : TextOf(option, defaults));
        var listed = RowsBelow(heading).ToDictionary(static row => row.Groups["name"].Value, static row => row.Groups["default"].Value);
        Assert.Equal(expected.Keys.Order(StringComparer.Ordinal), listed.Keys.Order(StringComparer.Ordinal));
        Assert.All(listed, row => Assert.True(expected[row.Key] is not { } text || text == row.Value, $"{row.Key}: {row.Value}"));
    }

    /// <summary>The default as the page writes it; null where the page says it in words.</summary>
    private static string? TextOf(PropertyInfo option, object defaults) => option.GetValue(defaults) switch
    {
        TimeSpan time when time == Timeout.InfiniteTimeSpan => "never",
        TimeSpan { TotalSeconds: < 1 } time => $"{time.TotalMilliseconds} ms",
        TimeSpan { TotalMinutes: < 1 } time => $"{time.TotalSeconds} s",
        TimeSpan time => $"{time.TotalMinutes} min",
        int.MaxValue => "no limit",
        bool flag => flag ? "yes" : "no",
        Enum value => $"`{value}`",
        IFormattable number => number.ToString(null, CultureInfo.InvariantCulture),
        _ => null,
    };

    private static MatchCollection RowsBelow(string heading)
    {
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
        {
            folder = folder.Parent;
        }

        string page = File.ReadAllText(Path.Combine(folder!.FullName, "docs", "resource-pool.md"));
        string section = page.Split("\n## ").Single(part => part.StartsWith(heading + "\n", StringComparison.Ordinal));
        return Row().Matches(section);
    }

    [GeneratedRegex(@"^\| `(?<name>\w+)` \| (?<default>[^|]+) \|", RegexOptions.Multiline)]
    private static partial Regex Row();
}

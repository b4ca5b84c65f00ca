using System.Text.RegularExpressions;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics.Telemetry;

/// <summary>The tables of docs/signals.md have what the library emits: all of it and nothing else.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class InstrumentTableTests
{
    [Fact]
    public async Task The_page_lists_every_instrument_with_its_unit_kind_and_tags()
    {
        using var collected = new Collected();
        await using var pools = new EventfulPools();
        await pools.LiveAsync();

        string[] emitted =
        [
            .. from series in collected.Collect()
               group series by (series.Name, series.Unit, series.Kind) into instrument
               let tags = instrument.SelectMany(static series => series.Tags.Keys).Distinct().Order(StringComparer.Ordinal)
               orderby instrument.Key.Name
               select $"{instrument.Key.Name} {instrument.Key.Unit} {instrument.Key.Kind}: {string.Join(' ', tags)}",
        ];
        string[] listed =
        [
            .. from row in SignalsPage.Instruments()
               orderby row.Name
               select $"{row.Name} {row.Unit} {row.Kind}: {string.Join(' ', row.AllTags.Order(StringComparer.Ordinal))}",
        ];
        Assert.Equal(listed, emitted);
    }

    [Fact]
    public async Task The_page_lists_every_span_and_every_tag_of_a_span()
    {
        using var collected = new Collected();
        await using var pools = new EventfulPools();
        await pools.LiveAsync();

        Assert.Equal(SignalsPage.Spans().Order(), collected.Spans.Select(static span => span.OperationName).Distinct().Order());
        Assert.Equal(
            ["error.type", "tidepool.pool.key", "tidepool.pool.name"],
            collected.Spans.SelectMany(static span => span.Tags.Select(static tag => tag.Key)).Distinct().Order());
    }

    [Fact]
    public void The_page_lists_every_value_of_a_tag_that_has_few()
    {
        Assert.Equal(Enum.GetNames<MisuseKind>().Select(Tidepool.Telemetry.Snake), SignalsPage.Values("tidepool.misuse.kind"));
        Assert.Equal(Enum.GetNames<DestroyReason>().Select(Tidepool.Telemetry.Snake), SignalsPage.Values("tidepool.destroy.reason"));
    }
}

/// <summary>What docs/signals.md says.</summary>
internal static partial class SignalsPage
{
    private static readonly Lazy<string> Text = new(static () => File.ReadAllText(Path.Combine(Root(), "docs", "signals.md")));

    internal static IEnumerable<InstrumentRow> Instruments() =>
        from Match row in InstrumentPattern().Matches(Text.Value)
        let tags = from Match tag in TagPattern().Matches(row.Groups["tags"].Value) select tag.Groups[1].Value
        select new InstrumentRow(
            row.Groups["name"].Value, row.Groups["unit"].Value, row.Groups["kind"].Value, [.. tags]);

    internal static IEnumerable<string> Spans() => SpanPattern().Matches(Text.Value).Select(static row => row.Groups[1].Value);

    internal static IEnumerable<string> Values(string tag)
    {
        string row = Text.Value.Split('\n').Single(line => line.StartsWith($"| `{tag}` |", StringComparison.Ordinal));
        return TagPattern().Matches(row).Skip(1).Select(static value => value.Groups[1].Value);
    }

    internal static string Root()
    {
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "Tidepool.slnx")))
        {
            folder = folder.Parent;
        }

        return folder!.FullName;
    }

    [GeneratedRegex(
        @"^\| `(?<name>[a-z_.]+)` \| `(?<unit>[^`]+)` \| (?<kind>counter|up-down counter|histogram) \|(?<tags>[^|]*)\|",
        RegexOptions.Multiline)]
    private static partial Regex InstrumentPattern();

    [GeneratedRegex("`([a-z_.]+)`")]
    private static partial Regex TagPattern();

    [GeneratedRegex(@"^\| `(tidepool\.[a-z]+)` \| when", RegexOptions.Multiline)]
    private static partial Regex SpanPattern();
}

/// <summary>One row of the tables of instruments.</summary>
internal sealed record InstrumentRow(string Name, string Unit, string Kind, string[] Tags)
{
    private const string Conventions = "db.client.connection.";

    /// <summary>Those of the row, and that with the pool's name.</summary>
    internal IEnumerable<string> AllTags =>
        Tags.Append((Name.StartsWith(Conventions, StringComparison.Ordinal) ? Conventions : "tidepool.") + "pool.name");
}

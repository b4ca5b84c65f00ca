using System.Text.Json;
using System.Text.RegularExpressions;

namespace Tidepool.Tests.Diagnostics.Telemetry;

/// <summary>The queries of docs/grafana/tidepool.json ask for what the library emits, under the names that Prometheus gives it.</summary>
public sealed partial class DashboardTests
{
    private static readonly Dictionary<string, InstrumentRow> Known = SignalsPage.Instruments().ToDictionary(PrometheusName);

    [Fact]
    public void Every_query_names_an_instrument_and_tags_that_it_has()
    {
        List<string> problems = [];
        foreach ((string query, string? legend) in Queries())
        {
            string[] metrics = [.. MetricPattern().Matches(query).Select(static match => match.Groups[1].Value)];
            if (metrics.Length != 1 || !Known.TryGetValue(metrics[0], out InstrumentRow? row))
            {
                problems.Add($"no instrument: {query}");
                continue;
            }

            string[] by = [.. ByPattern().Matches(query).SelectMany(static match => match.Groups[1].Value.Split(", "))];
            string[] asked = [.. LabelPattern().Matches(query).Select(static match => match.Groups[1].Value), .. by];
            HashSet<string> there = [.. row.AllTags.Select(static tag => tag.Replace('.', '_')), "le"];
            problems.AddRange(asked.Where(label => !there.Contains(label)).Select(label => $"no tag {label}: {query}"));
            problems.AddRange(
                LegendPattern().Matches(legend ?? "").Select(static match => match.Groups[1].Value)
                    .Where(label => !by.Contains(label)).Select(label => $"the legend has {label}, the sum has not: {query}"));
        }

        Assert.Empty(problems);
    }

    [Fact]
    public void Every_instrument_has_a_place_on_the_dashboard()
    {
        string[] shown = [.. Queries().SelectMany(static q => MetricPattern().Matches(q.Query)).Select(static m => m.Groups[1].Value)];
        Assert.Empty(Known.Keys.Except(shown));
    }

    [Fact]
    public void Panels_have_numbers_of_their_own_and_do_not_overlap()
    {
        JsonElement[] panels = [.. Dashboard().GetProperty("panels").EnumerateArray()];
        Assert.Equal(panels.Length, panels.Select(static panel => panel.GetProperty("id").GetInt32()).Distinct().Count());
        var taken = new HashSet<(int X, int Y)>();
        foreach (JsonElement place in panels.Select(static panel => panel.GetProperty("gridPos")))
        {
            (int x, int y) = (place.GetProperty("x").GetInt32(), place.GetProperty("y").GetInt32());
            (int width, int height) = (place.GetProperty("w").GetInt32(), place.GetProperty("h").GetInt32());
            Assert.True(x + width <= 24);
            Assert.All(
                from column in Enumerable.Range(x, width)
                from line in Enumerable.Range(y, height)
                select (column, line),
                cell => Assert.True(taken.Add(cell), $"two panels at {cell}"));
        }
    }

    /// <summary>The name after the rules of OpenTelemetry's exporters: the unit and the kind are suffixes.</summary>
    private static string PrometheusName(InstrumentRow row)
    {
        string unit = row.Unit switch
        {
            "s" => "_seconds",
            "By" => "_bytes",
            _ => "", // those in braces are no units to Prometheus
        };
        string name = row.Name.Replace('.', '_');
        name += name.Contains(unit, StringComparison.Ordinal) ? "" : unit;
        return name + row.Kind switch
        {
            "counter" => "_total",
            "histogram" => "_bucket",
            _ => "",
        };
    }

    private static IEnumerable<(string Query, string? Legend)> Queries() =>
        from panel in Dashboard().GetProperty("panels").EnumerateArray()
        where panel.TryGetProperty("targets", out _)
        from target in panel.GetProperty("targets").EnumerateArray()
        select (target.GetProperty("expr").GetString()!, target.GetProperty("legendFormat").GetString());

    private static JsonElement Dashboard()
    {
        using var document = JsonDocument.Parse(File.ReadAllText(Path.Combine(SignalsPage.Root(), "docs", "grafana", "tidepool.json")));
        return document.RootElement.Clone();
    }

    [GeneratedRegex("([a-z_]+)\\{")]
    private static partial Regex MetricPattern();

    [GeneratedRegex("([a-z_]+)=~")]
    private static partial Regex LabelPattern();

    [GeneratedRegex("by \\(([^)]*)\\)")]
    private static partial Regex ByPattern();

    [GeneratedRegex("\\{\\{([a-z_]+)\\}\\}")]
    private static partial Regex LegendPattern();
}

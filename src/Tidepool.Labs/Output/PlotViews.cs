using System.Globalization;
using System.Text.Json.Nodes;

namespace Tidepool.Labs;

/// <summary>
/// What the plots of the HTML page show: a list of views for each lab, one of which is drawn at a time.
/// A view of bars compares the subjects of one cell; a view of lines follows them over lengths, on logarithmic axes.
/// </summary>
internal static class PlotViews
{
    /// <summary>The views of a lab's sections, in the order of the tables.</summary>
    public static JsonArray Of(IEnumerable<ReportSection> sections) =>
        [.. sections.SelectMany(section => section.Section.Layout switch
        {
            SectionLayout.Rows => BarsOf(section),
            SectionLayout.Matrix when AxisOf(section) is { } axis => LinesOf(section, axis),
            SectionLayout.Matrix => BarsOf(section),
            _ => MetricsOf(section),
        })];

    private static IEnumerable<JsonObject> BarsOf(ReportSection section) =>
        from cell in section.Cells
        where cell.Any(row => row.MedianNs is not null)
        select Bars(
            $"{section.Section.Title}: {section.Label(cell.Key)}",
            "ns",
            from row in cell
            where row.MedianNs is not null
            select Bar(row, row.MedianNs!.Value, row.Subject == row.Baseline ? "1.00" : NumberText.Ratio(row.Ratio)));

    private static IEnumerable<JsonObject> MetricsOf(ReportSection section) =>
        from metric in section.Rows.SelectMany(row => row.Metrics.Keys).Distinct()
        let rows = section.Rows.Where(row => row.Metrics.ContainsKey(metric)).ToArray()
        where rows.Length > 1
        select Bars(
            $"{section.Section.Title}: {NumberText.MetricName(metric)}",
            UnitOf(metric),
            rows.Select(row => Bar(row, row.Metrics[metric], "", section.Cells.Count() > 1 ? section.Label(row.Cell) : null)));

    private static IEnumerable<JsonObject> LinesOf(ReportSection section, string axis) =>
        from type in section.Rows.Where(row => row.MedianNs is not null).GroupBy(row => TypeOf(section, row.Cell, axis))
        select new JsonObject
        {
            ["title"] = type.Key.Length > 0 ? $"{section.Section.Title}: {type.Key}" : section.Section.Title,
            ["kind"] = "lines",
            ["axis"] = axis,
            ["unit"] = "ns",
            ["series"] = new JsonArray(
            [
                .. from subject in type.GroupBy(row => row.Subject)
                   select new JsonObject
                   {
                       ["name"] = subject.Key,
                       ["ours"] = subject.First().Ours,
                       ["points"] = new JsonArray([.. subject.Select(row => new JsonArray(NumberOf(row.Cell, axis), row.MedianNs!.Value))]),
                   },
            ]),
        };

    private static JsonObject Bars(string title, string unit, IEnumerable<JsonObject> items) => new()
    {
        ["title"] = title,
        ["kind"] = "bars",
        ["unit"] = unit,
        ["items"] = new JsonArray([.. items]),
    };

    private static JsonObject Bar(ReportRow row, double value, string ratio, string? label = null) => new()
    {
        ["name"] = label is null ? row.Subject : $"{row.Subject}, {label}",
        ["ours"] = row.Ours,
        ["value"] = value,
        ["min"] = row.MinNs,
        ["ratio"] = ratio,
    };

    private static string UnitOf(string metric) =>
        metric.EndsWith("_B", StringComparison.Ordinal) ? "B"
        : metric.EndsWith("_MiB", StringComparison.Ordinal) ? "MiB"
        : metric.EndsWith("_ns", StringComparison.Ordinal) ? "ns"
        : metric.EndsWith("_percent", StringComparison.Ordinal) ? "%"
        : "";

    /// <summary>The coordinate that all cells of a section have as a number, or null.</summary>
    private static string? AxisOf(ReportSection section) =>
        Array.Find(["length", "size"], axis => section.Rows.All(row => row.Cell[axis] is not null));

    private static string TypeOf(ReportSection section, Cell cell, string axis) =>
        cell.Describe(section.Section.Varies.Where(name => name != axis));

    private static int NumberOf(Cell cell, string axis) => int.Parse(cell[axis]!, CultureInfo.InvariantCulture);
}

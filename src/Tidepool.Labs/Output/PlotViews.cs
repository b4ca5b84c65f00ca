using System.Globalization;
using System.Text.Json.Nodes;

namespace Tidepool.Labs;

/// <summary>
/// What the plots of the HTML page show: a list of views for each lab, one of which is drawn at a time.
/// A view of bars compares the subjects of one cell; a view of lines follows them over lengths, on logarithmic axes.
/// </summary>
internal static class PlotViews
{
    private const string ThreadsAxis = "threads";

    /// <summary>The views of a lab's sections, in the order of the tables.</summary>
    public static JsonArray Of(IReadOnlyCollection<ReportSection> sections) =>
    [
        .. sections.SelectMany(section => section.Section.Layout switch
        {
            SectionLayout.Rows => BarsOf(section),
            SectionLayout.Matrix when AxisOf(section) is { } axis => LinesOf(section, axis),
            SectionLayout.Matrix => BarsOf(section),
            _ => MetricsOf(section),
        }),
        .. ScalingOf(sections),
    ];

    /// <summary>
    /// Lines over the number of threads, of loops that were measured with several numbers: with one thread they stand in another section.
    /// </summary>
    private static IEnumerable<JsonObject> ScalingOf(IEnumerable<ReportSection> sections) =>
        from section in sections
        where section.Section.Layout == SectionLayout.Rows
        from row in section.Rows
        where row.TimeNs is not null && row.Cell[ThreadsAxis] is not null
        group (row, section.Section.Operation) by OthersOf(row.Cell) into loop
        where loop.Select(item => item.row.Cell[ThreadsAxis]).Distinct().Count() > 1
        select Lines($"Scaling: {loop.Key}", ThreadsAxis, loop.First().Operation, loop.Select(item => item.row));

    private static IEnumerable<JsonObject> BarsOf(ReportSection section) =>
        from cell in section.Cells
        where cell.Any(row => row.TimeNs is not null)
        select Bars(
            $"{section.Section.Title}: {section.Label(cell.Key)}",
            $"time of one {section.Section.Operation}",
            "ns",
            from row in cell
            where row.TimeNs is not null
            select TimeBar(row));

    private static IEnumerable<JsonObject> MetricsOf(ReportSection section) =>
        from metric in section.Rows.SelectMany(row => row.Metrics.Keys).Distinct()
        let rows = section.Rows.Where(row => row.Metrics.ContainsKey(metric)).ToArray()
        where rows.Length > 1
        select Bars(
            $"{section.Section.Title}: {NumberText.MetricName(metric)}",
            NumberText.MetricName(metric),
            UnitOf(metric),
            rows.Select(row => MetricBar(row, metric, section.Cells.Count() > 1 ? section.Label(row.Cell) : null)));

    private static IEnumerable<JsonObject> LinesOf(ReportSection section, string axis) =>
        from type in section.Rows.Where(row => row.TimeNs is not null).GroupBy(row => TypeOf(section, row.Cell, axis))
        select Lines(
            type.Key.Length > 0 ? $"{section.Section.Title}: {type.Key}" : section.Section.Title, axis, section.Section.Operation, type);

    private static JsonObject Lines(string title, string axis, string operation, IEnumerable<ReportRow> rows) => new()
    {
        ["title"] = title,
        ["kind"] = "lines",
        ["axis"] = axis,
        ["scale"] = $"time of one {operation}",
        ["unit"] = "ns",
        ["series"] = new JsonArray(
        [
            .. from subject in rows.GroupBy(row => row.Subject)
               select new JsonObject
               {
                   ["name"] = subject.Key,
                   ["ours"] = subject.First().Ours,
                   ["points"] = new JsonArray([.. subject.OrderBy(row => NumberOf(row.Cell, axis)).Select(row => PointOf(row, axis))]),
               },
        ]),
    };

    private static JsonObject Bars(string title, string scale, string unit, IEnumerable<JsonObject> items) => new()
    {
        ["title"] = title,
        ["kind"] = "bars",
        ["scale"] = scale,
        ["unit"] = unit,
        ["items"] = new JsonArray([.. items]),
    };

    private static JsonObject TimeBar(ReportRow row)
    {
        string time = NumberText.Time(row.TimeNs);
        bool isBaseline = row.Subject == row.Baseline;
        List<string> details = [$"time {time}"];
        if (row.MinNs is { } min)
        {
            details.Add($"min {NumberText.Time(min)}");
        }

        if (isBaseline || row.Ratio is not null)
        {
            details.Add($"ratio {(isBaseline ? NumberText.Factor(1) : NumberText.Ratio(row.Ratio))}");
        }

        string ratio = isBaseline ? $"{NumberText.Factor(1)}×" : ShortRatio(row.Ratio);
        return Bar(row, row.Subject, row.TimeNs!.Value, ratio.Length > 0 ? $"{time} · {ratio}" : time, details, IntervalOf(row));
    }

    /// <summary>The interval of the ratio, at the place of the time.</summary>
    private static (double Low, double High)? IntervalOf(ReportRow row) => row is { Ratio: { } ratio, TimeNs: { } time }
        ? (time * ratio.Low / ratio.Value, time * ratio.High / ratio.Value)
        : null;

    private static JsonArray PointOf(ReportRow row, string axis)
    {
        var (low, high) = IntervalOf(row) ?? (row.TimeNs!.Value, row.TimeNs.Value);
        return [NumberOf(row.Cell, axis), row.TimeNs!.Value, low, high];
    }

    private static string ShortRatio(RatioEstimate? ratio) => ratio switch
    {
        null => "",
        { Word: RatioWord.NoDifference or RatioWord.Undecided } => NumberText.ShortRatio(ratio),
        { } known => $"{NumberText.Factor(known.Value)}×",
    };

    private static JsonObject MetricBar(ReportRow row, string metric, string? cell)
    {
        double value = row.Metrics[metric];
        string amount = NumberText.Metric(metric, value);
        return Bar(row, cell is null ? row.Subject : $"{row.Subject}, {cell}", value, amount, [amount], null);
    }

    /// <summary>Makes a bar with all its texts; the script has no words of its own and shows them as they are.</summary>
    /// <param name="row">The row of the table.</param>
    /// <param name="name">The text before the bar.</param>
    /// <param name="value">Its length.</param>
    /// <param name="label">The text after it.</param>
    /// <param name="details">The lines beside the pointer.</param>
    /// <param name="interval">The ends of the interval around the value, or null.</param>
    private static JsonObject Bar(
        ReportRow row, string name, double value, string label, IEnumerable<string> details, (double Low, double High)? interval) => new()
    {
        ["low"] = interval?.Low,
        ["high"] = interval?.High,
        ["name"] = name,
        ["ours"] = row.Ours,
        ["value"] = value,
        ["label"] = label,
        ["details"] = new JsonArray([.. details.Select(static line => (JsonNode)line)]),
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

    private static string OthersOf(Cell cell) =>
        cell.Describe(cell.Coordinates.Select(static coordinate => coordinate.Name).Where(static name => name != ThreadsAxis));

    private static int NumberOf(Cell cell, string axis) => int.Parse(cell[axis]!, CultureInfo.InvariantCulture);
}

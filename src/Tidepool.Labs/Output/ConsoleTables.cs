using Spectre.Console;

namespace Tidepool.Labs;

/// <summary>
/// The tables of one lab in a terminal. No cell of a table is ever broken into lines, so that a name stands on the line with its own
/// numbers: columns that have no room are left out, or follow in another table below.
/// </summary>
internal static class ConsoleTables
{
    /// <summary>From this width on goals are a table; below it each takes two lines.</summary>
    private const int WideGoals = 120;

    /// <summary>The columns of times.</summary>
    private static readonly TextColumn<ReportRow>[] TimeColumns =
    [
        new("time", row => row.IsEmpty ? NumberText.NotMeasured : NumberText.Time(row.TimeNs), 0),
        new("min", row => NumberText.Time(row.MinNs), 4),
        new("ratio", row => row.IsEmpty ? "" : row.Subject == row.Baseline ? "1.00" : NumberText.ShortRatio(row.Ratio), 1),
        new("95 % interval", row => NumberText.Interval(row.Ratio), 2),
        new("allocated", row => NumberText.Bytes(row.BytesPerOp), 3),
        new("gen 0/1/2 per 1000", NumberText.Collections, 5),
    ];

    /// <summary>Prints a part of a lab.</summary>
    public static void Print(IAnsiConsole console, ReportSection section)
    {
        console.WriteLine();
        console.MarkupLine($"[bold]{Markup.Escape(section.Section.Title)}[/]");
        console.MarkupLine($"[grey]{Markup.Escape(section.Section.About)}[/]");
        switch (section.Section.Layout)
        {
            case SectionLayout.Rows:
                PrintRows(console, section);
                break;
            case SectionLayout.Matrix:
                PrintMatrix(console, section);
                break;
            default:
                PrintMetrics(console, section);
                break;
        }
    }

    /// <summary>Prints a line for each subject, below the name of its cell.</summary>
    public static void PrintRows(IAnsiConsole console, ReportSection section)
    {
        TextTable<ReportRow> table = Open(section);
        List<TextColumn<ReportRow>> columns = [.. TimeColumns];
        while (columns.Count > 2 && table.WidthOf(columns) > console.Profile.Width)
        {
            columns.Remove(columns.MaxBy(column => column.Rank)!);
        }

        table.Print(console, columns, HeadingsOf(section));
        if (columns.Count < TimeColumns.Length)
        {
            var names = TimeColumns.Except(columns).Select(column => column.Heading);
            console.MarkupLine($"[grey]  Left out for want of room: {Markup.Escape(string.Join(", ", names))}.[/]");
        }

        Explain(console, section);
    }

    /// <summary>Prints the goals of the authors and the exact counts.</summary>
    public static void PrintVerdicts(IAnsiConsole console, ReportLab lab)
    {
        if (lab.Verdicts.Count == 0)
        {
            return; // a lab without bars
        }

        console.WriteLine();
        console.MarkupLine(
            $"[bold]Goals of {Markup.Escape(lab.Name)}[/]: {Markup.Escape(ConsoleReport.Summarize(lab.Verdicts))}");
        if (console.Profile.Width < WideGoals)
        {
            foreach (var verdict in lab.Verdicts)
            {
                console.MarkupLine($"  {State(verdict)} {Markup.Escape(verdict.Bar.Id)} {Value(verdict)} of {Limit(verdict)}");
                console.Write(new Padder(new Text(verdict.Detail), new Padding(4, 0, 0, 0)));
            }

            return;
        }

        var table = new Table().Border(TableBorder.Simple).AddColumn(new TableColumn("").NoWrap());
        table.AddColumn(new TableColumn("goal").NoWrap()).AddColumn(new TableColumn("value").RightAligned().NoWrap());
        table.AddColumn(new TableColumn("limit").RightAligned().NoWrap()).AddColumn("how");
        foreach (var verdict in lab.Verdicts)
        {
            table.AddRow(
                State(verdict), Markup.Escape(verdict.Bar.Id), Value(verdict), Limit(verdict), Markup.Escape(verdict.Detail));
        }

        console.Write(table);

        static string Value(Verdict verdict) => NumberText.Value(verdict.Bar, verdict.Value);
        static string Limit(Verdict verdict) => NumberText.Value(verdict.Bar, verdict.Bar.Limit);
        static string State(Verdict verdict) => $"[{Color(verdict.State)}]{verdict.Word}[/]";
    }

    private static void PrintMatrix(IAnsiConsole console, ReportSection section)
    {
        string usual = section.Section.Baseline ?? "";
        string[] others = [.. section.Rows.Select(row => row.Subject).Distinct().Where(subject => subject != usual)];
        Dictionary<string, ReportRow>[] cells = [.. section.Cells.Select(cell => cell.ToDictionary(row => row.Subject))];
        var table = new TextTable<Dictionary<string, ReportRow>>(
            cells, rows => section.Label(rows.Values.First().Cell), _ => "default");
        var time = new TextColumn<Dictionary<string, ReportRow>>(usual, rows => NumberText.Time(rows.GetValueOrDefault(usual)?.TimeNs));
        TextColumn<Dictionary<string, ReportRow>>[] columns =
            [.. others.Select(subject => new TextColumn<Dictionary<string, ReportRow>>(subject, Ratio(subject, NumberText.ShortRatio)))];
        bool isWide = table.WidthOf([time, .. columns]) <= console.Profile.Width;
        if (!isWide)
        {
            columns = [.. others.Index().Select(other => new TextColumn<Dictionary<string, ReportRow>>(
                $"({other.Index + 1})", Ratio(other.Item, NumberText.Mark)))];
        }

        PrintInParts(console, table, columns, [time], _ => null);
        console.MarkupLine(Markup.Escape($"  time of {usual}; the others as ratios to it{(isWide ? "" : $"; {NumberText.Marks}")}"));
        foreach (var (place, subject) in isWide ? [] : others.Index())
        {
            console.MarkupLine(Markup.Escape($"  ({place + 1}) {subject}"));
        }

        static Func<Dictionary<string, ReportRow>, string> Ratio(string subject, Func<RatioEstimate?, string> text) =>
            rows => text(rows.GetValueOrDefault(subject)?.Ratio);
    }

    private static void PrintMetrics(IAnsiConsole console, ReportSection section)
    {
        TextColumn<ReportRow>[] columns =
        [
            .. section.Rows.SelectMany(row => row.Metrics.Keys).Distinct().Select(metric => new TextColumn<ReportRow>(
                NumberText.MetricName(metric),
                row => row.Metrics.TryGetValue(metric, out double value) ? NumberText.Metric(metric, value) : "")),
        ];
        TextColumn<ReportRow>[] states = section.Rows.Any(row => row.IsEmpty)
            ? [new("", row => row.IsEmpty ? NumberText.NotMeasured : "")]
            : [];
        PrintInParts(console, Open(section), columns, states, HeadingsOf(section));
        Explain(console, section);
    }

    /// <summary>As many tables one below the other as the columns need; each has the names, and the first columns.</summary>
    private static void PrintInParts<TRow>(
        IAnsiConsole console,
        TextTable<TRow> table,
        TextColumn<TRow>[] columns,
        TextColumn<TRow>[] first,
        Func<TRow, string?> heading)
    {
        List<TextColumn<TRow>> part = [.. first];
        foreach (TextColumn<TRow> column in columns)
        {
            if (part.Count > first.Length && table.WidthOf(part.Append(column)) > console.Profile.Width)
            {
                table.Print(console, part, heading);
                part = [.. first];
            }

            part.Add(column);
        }

        table.Print(console, part, heading);
    }

    private static TextTable<ReportRow> Open(ReportSection section) => new(
        [.. section.Cells.SelectMany(cell => cell)], row => row.Subject, row => row.Ours ? "bold cyan" : "default");

    /// <summary>The cell above its first row, where there is something to tell it from the others.</summary>
    private static Func<ReportRow, string?> HeadingsOf(ReportSection section)
    {
        var first = section.Cells.Select(cell => cell.First().Key).ToHashSet();
        return row => first.Contains(row.Key) ? section.Label(row.Cell) : null;
    }

    /// <summary>Says below a table why rows are empty.</summary>
    private static void Explain(IAnsiConsole console, ReportSection section)
    {
        foreach (var reason in section.Rows.Where(row => row.IsEmpty).GroupBy(row => row.Dropped))
        {
            console.MarkupLine(Markup.Escape($"  {string.Join(", ", reason.Select(row => row.Subject).Distinct())}: {reason.Key}"));
        }
    }

    private static string Color(VerdictState state) => state switch
    {
        VerdictState.Pass => "green",
        VerdictState.Fail => "red",
        _ => "yellow",
    };
}

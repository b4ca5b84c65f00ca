using Spectre.Console;

namespace Tidepool.Labs;

/// <summary>Which tables a run prints.</summary>
[Flags]
internal enum ReportTables
{
    /// <summary>None: the last screen alone.</summary>
    None = 0,

    /// <summary>What was measured.</summary>
    Results = 1,

    /// <summary>What the authors aim at, and whether it is met.</summary>
    Goals = 2,
}

/// <summary>Prints results as tables.</summary>
internal static class ConsoleReport
{
    private const int PlainWidth = 150;
    private const int LongestWord = 13; // "no difference"

    /// <summary>A console of the right width: a file or a pipe has none of its own.</summary>
    public static IAnsiConsole CreateConsole(TextWriter? output = null)
    {
        bool isTerminal = output is null && !Console.IsOutputRedirected;
        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Out = new AnsiConsoleOutput(output ?? Console.Out),
            Ansi = isTerminal ? AnsiSupport.Detect : AnsiSupport.No,
            Interactive = isTerminal ? InteractionSupport.Detect : InteractionSupport.No,
        });
        if (!isTerminal)
        {
            console.Profile.Width = PlainWidth;
        }

        return console;
    }

    /// <summary>Prints the tables of every lab, then what the machine is.</summary>
    /// <param name="console">The terminal.</param>
    /// <param name="report">The run.</param>
    /// <param name="labs">Its results.</param>
    /// <param name="shows">Which tables are wanted.</param>
    public static void Print(IAnsiConsole console, LabReport report, IReadOnlyList<ReportLab> labs, ReportTables shows)
    {
        foreach (var (outcome, lab) in shows == ReportTables.None ? [] : report.Labs.Zip(labs))
        {
            bool isEmpty = lab.Rows.All(row => row.IsEmpty);
            if (isEmpty && report.Stopped)
            {
                continue;
            }

            console.WriteLine();
            console.Write(new Rule($"[bold]{Markup.Escape(lab.Name)}[/]: {Markup.Escape(outcome.Lab.Question)}").LeftJustified());
            if (isEmpty)
            {
                PrintReasons(console, lab, shows);
                continue;
            }

            if (shows.HasFlag(ReportTables.Results))
            {
                foreach (var section in ReportBuilder.Group(outcome.Plan, lab.Rows))
                {
                    PrintSection(console, section);
                }
            }

            if (shows.HasFlag(ReportTables.Goals))
            {
                PrintVerdicts(console, lab);
            }
        }

        foreach (string hint in report.Labs.SelectMany(outcome => outcome.Plan.Hints))
        {
            console.WriteLine();
            console.MarkupLine($"[yellow]{Markup.Escape(hint)}[/]");
        }

        console.WriteLine();
        PrintMachine(console, report, shows);
    }

    /// <summary>Instead of the tables of a lab that could measure nothing: why.</summary>
    private static void PrintReasons(IAnsiConsole console, ReportLab lab, ReportTables shows)
    {
        foreach (string? reason in lab.Rows.Select(row => row.Dropped).Distinct())
        {
            console.MarkupLine($"[yellow]NOT RUN[/]: {Markup.Escape(reason ?? "not measured")}");
        }

        if (shows.HasFlag(ReportTables.Goals))
        {
            console.MarkupLine($"[bold]Verdicts of {Markup.Escape(lab.Name)}[/]: {Markup.Escape(Summarize(lab.Verdicts))}");
        }
    }

    /// <summary>One line: how many verdicts of each state.</summary>
    public static string Summarize(IEnumerable<Verdict> verdicts)
    {
        var states = verdicts.GroupBy(verdict => verdict.StateText).ToDictionary(group => group.Key, group => group.Count());
        return string.Join(
            ", ",
            ((string[])["PASS", "FAIL", "UNCLEAR", "NOT RUN"]).Select(state => $"{states.GetValueOrDefault(state)} {state}"));
    }

    private static void PrintSection(IAnsiConsole console, ReportSection section)
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
                console.Write(MetricsTable(section));
                Explain(console, section);
                break;
        }
    }

    private static Table NewTable() => new Table().Border(TableBorder.Simple);

    /// <summary>The columns of times, the first to go last: on a narrow terminal those without a rank that fits are left out.</summary>
    private static readonly (string Heading, int Rank, Func<ReportRow, string> Text)[] TimeColumns =
    [
        ("median", 0, row => row.IsEmpty ? "NOT RUN" : NumberText.Time(row.MedianNs)),
        ("min", 4, row => NumberText.Time(row.MinNs)),
        ("ratio", 1, row => row.Subject == row.Baseline ? "1.00" : NumberText.ShortRatio(row.Ratio)),
        ("95 % interval", 2, row => NumberText.Interval(row.Ratio)),
        ("allocated", 3, row => NumberText.Bytes(row.BytesPerOp)),
        ("gen 0/1/2 per 1000", 5, NumberText.Collections),
    ];

    internal static void PrintRows(IAnsiConsole console, ReportSection section)
    {
        int room = console.Profile.Width - 6 - section.Rows.Max(row => row.Subject.Length);
        var columns =
            TimeColumns.Select(column => (column.Heading, column.Rank, column.Text, Width: WidthOf(column.Heading, column.Text))).ToList();
        string[] all = [.. columns.Select(column => column.Heading)];
        while (columns.Count > 2 && columns.Sum(column => column.Width + 3) > room)
        {
            columns.Remove(columns.MaxBy(column => column.Rank));
        }

        var table = NewTable().AddColumn("subject");
        columns.ForEach(column => table.AddColumn(Right(column.Heading).NoWrap()));
        foreach (var cell in section.Cells)
        {
            table.AddRow($"[underline]{Markup.Escape(section.Label(cell.Key))}[/]");
            foreach (var row in cell)
            {
                table.AddRow(
                    [Subject(row), .. columns.Select(column => row.IsEmpty ? EmptyText(column.Heading) : Markup.Escape(column.Text(row)))]);
            }
        }

        console.Write(table);
        if (columns.Count < all.Length)
        {
            console.MarkupLine(
                $"[grey]  Left out for want of room: "
                    + $"{Markup.Escape(string.Join(", ", all.Except(columns.Select(column => column.Heading))))}.[/]");
        }

        Explain(console, section);

        int WidthOf(string heading, Func<ReportRow, string> text) =>
            section.Rows.Select(row => text(row).Length).Append(heading.Length).Max();
    }

    private static string EmptyText(string heading) => heading == "median" ? "[yellow]NOT RUN[/]" : "";

    /// <summary>Says below a table why rows are empty.</summary>
    private static void Explain(IAnsiConsole console, ReportSection section)
    {
        foreach (var reason in section.Rows.Where(row => row.IsEmpty).GroupBy(row => row.Dropped))
        {
            console.MarkupLine(Markup.Escape($"  {string.Join(", ", reason.Select(row => row.Subject).Distinct())}: {reason.Key}"));
        }
    }

    private static void PrintMatrix(IAnsiConsole console, ReportSection section)
    {
        string[] subjects = [.. section.Rows.Select(row => row.Subject).Distinct()];
        string? baseline = section.Section.Baseline;
        string[] others = [.. subjects.Where(subject => subject != baseline)];
        bool numbered = others.Sum(subject => Math.Max(subject.Length, LongestWord) + 2) + 50 > console.Profile.Width;
        var table = NewTable().AddColumn("").AddColumn(Right(baseline ?? ""));
        foreach (var (place, subject) in others.Index())
        {
            table.AddColumn(Right(numbered ? $"({place + 1})" : subject));
        }

        foreach (var cell in section.Cells)
        {
            var bySubject = cell.ToDictionary(row => row.Subject);
            table.AddRow(
            [
                Markup.Escape(section.Label(cell.Key)),
                NumberText.Time(baseline is null ? null : bySubject.GetValueOrDefault(baseline)?.MedianNs),
                .. others.Select(subject => NumberText.ShortRatio(bySubject.GetValueOrDefault(subject)?.Ratio)),
            ]);
        }

        console.Write(table);
        console.MarkupLine(Markup.Escape($"  median of {baseline}; the others as ratios to it"));
        if (numbered)
        {
            console.MarkupLine(
                Markup.Escape("  " + string.Join("  ", others.Index().Select(other => $"({other.Index + 1}) {other.Item}"))));
        }
    }

    private static Table MetricsTable(ReportSection section)
    {
        string[] metrics = [.. section.Rows.SelectMany(row => row.Metrics.Keys).Distinct()];
        var table = NewTable().AddColumn("subject").AddColumn("");
        foreach (string metric in metrics)
        {
            table.AddColumn(Right(NumberText.MetricName(metric)));
        }

        if (metrics.Length == 0)
        {
            table.AddColumn("");
        }

        foreach (var row in section.Rows)
        {
            if (row.IsEmpty)
            {
                table.AddRow(Subject(row), Markup.Escape(section.Label(row.Cell)), "[yellow]NOT RUN[/]");
                continue;
            }

            table.AddRow(
            [
                Subject(row),
                Markup.Escape(section.Label(row.Cell)),
                .. metrics.Select(metric => row.Metrics.TryGetValue(metric, out double value)
                    ? NumberText.Metric(metric, value)
                    : ""),
            ]);
        }

        return table;
    }

    private static void PrintVerdicts(IAnsiConsole console, ReportLab lab)
    {
        if (lab.Verdicts.Count == 0)
        {
            return; // a lab without bars
        }

        var table = NewTable().AddColumns("", "verdict").AddColumn(Right("value")).AddColumn(Right("limit")).AddColumn("how");
        foreach (var verdict in lab.Verdicts)
        {
            table.AddRow(
                $"[{Color(verdict.State)}]{verdict.StateText}[/]",
                Markup.Escape(verdict.Bar.Id),
                NumberText.Value(verdict.Bar, verdict.Value),
                NumberText.Value(verdict.Bar, verdict.Bar.Limit),
                Markup.Escape(verdict.Detail));
        }

        console.WriteLine();
        console.MarkupLine($"[bold]Verdicts of {Markup.Escape(lab.Name)}[/]: {Markup.Escape(Summarize(lab.Verdicts))}");
        console.Write(table);
    }

    private static void PrintMachine(IAnsiConsole console, LabReport report, ReportTables shows)
    {
        var machine = report.Machine;
        console.MarkupLine(Markup.Escape(
            $"{machine.Processor}, {machine.Cores} cores, {machine.MemoryGiB} GiB; {machine.System}; {machine.Runtime}; "
                + $"{machine.Collector} collector; {report.Options.Mode.ToString().ToLowerInvariant()} run, seed {report.Options.Seed}"));
        if (shows.HasFlag(ReportTables.Results))
        {
            console.MarkupLine(NumberText.RatioWords);
        }
    }

    private static TableColumn Right(string heading) => new TableColumn(Markup.Escape(heading)).RightAligned();

    /// <summary>No indent: a name that is cut at the edge must begin on the line with its numbers.</summary>
    private static string Subject(ReportRow row) => row.Ours ? $"[bold cyan]{Markup.Escape(row.Subject)}[/]" : Markup.Escape(row.Subject);

    private static string Color(VerdictState state) => state switch
    {
        VerdictState.Pass => "green",
        VerdictState.Fail => "red",
        _ => "yellow",
    };
}

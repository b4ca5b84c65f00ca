using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>The tables of the docs, made from published figures and committed results.</summary>
internal static class DocTables
{
    internal const string NoResults = "_No results are committed yet. `./tidepool lab` shows yours._\n";

    private const string NoBars = "None: nothing is asked of this lab's rows but to stand side by side.\n";

    /// <summary>The table of all labs: the usual choice and ours, one line for each part of a lab.</summary>
    public static string Ratios(IReadOnlyList<MachineResults> machines)
    {
        var text = new StringBuilder();
        foreach (var machine in machines)
        {
            text.Append(text.Length > 0 ? "\n" : "");
            text.Append(Describe(machine, machine.Labs.Values.Select(lab => lab.File))).Append('\n');
            Head(text, "lab", "what", "usual choice", "ours", ">cells", ">ratio, best .. worst");
            foreach (var span in RatioSpan.AllOf(machine))
            {
                Row(
                    text,
                    $"[{span.Lab.Name}]({span.Lab.Name}.md)",
                    Escape(span.Part),
                    Code(span.Usual),
                    Code(span.Ours),
                    $"{span.Cells}",
                    span.Text);
            }
        }

        return text.Length > 0 ? text.ToString() : NoResults;
    }

    /// <summary>The README's five lines of the first machine.</summary>
    public static string Readme(IReadOnlyList<MachineResults> machines)
    {
        if (machines.Count == 0)
        {
            return NoResults;
        }

        var spans = RatioSpan.ForReadme(machines[0]);
        var text = new StringBuilder(Describe(machines[0], spans.Select(span => machines[0].Labs[span.Lab.Name].File))).Append('\n');
        Head(text, "what", "usual choice", "ours", ">time, best .. worst");
        foreach (var span in spans)
        {
            Row(text, $"[{Escape(span.Title)}](docs/labs/{span.Lab.Name}.md)", Code(span.Usual), Code(span.Ours), span.Text);
        }

        return text.ToString();
    }

    /// <summary>The published rows of a lab's experiments beside today's.</summary>
    public static string Published(ILab lab, IReadOnlyList<MachineResults> machines)
    {
        var text = new StringBuilder();
        foreach (var match in lab.Classics)
        {
            var experiment = Classics.All.Single(classic => classic.Lab == lab.Name && classic.Name == match.Experiment);
            text.Append(text.Length > 0 ? "\n" : "");
            text.Append(
                CultureInfo.InvariantCulture,
                $"**{experiment.Name}** (published: {Escape(experiment.Environment)}; today: the first machine below)\n\n");
            var today = machines.FirstOrDefault(machine => machine.Labs.ContainsKey(lab.Name))?.Labs[lab.Name].Lab;
            ClassicTable.Write(text, experiment, match, today);
        }

        return text.ToString();
    }

    /// <summary>The committed results of a lab.</summary>
    public static string Results(ILab lab, IReadOnlyList<MachineResults> machines)
    {
        var text = new StringBuilder();
        foreach (var machine in machines.Where(machine => machine.Labs.ContainsKey(lab.Name)))
        {
            var (file, results) = machine.Labs[lab.Name];
            text.Append(text.Length > 0 ? "\n" : "").Append(Describe(machine, file));
            bool hasMatrix = false;
            foreach (var section in ReportBuilder.Group(PlanOf(lab), results.Rows))
            {
                // The other tables over all lengths are in the result file: a page is for reading.
                if (section.Section.Layout != SectionLayout.Matrix || !hasMatrix)
                {
                    WriteSection(text, section);
                }

                hasMatrix |= section.Section.Layout == SectionLayout.Matrix;
            }
        }

        return text.Length > 0 ? text.ToString() : NoResults;
    }

    /// <summary>One part of a lab's committed results, of the first machine that has it.</summary>
    public static string Part(string lab, string title, IReadOnlyList<MachineResults> machines)
    {
        var plan = PlanOf(LabCatalog.Find(lab)!);
        foreach (var machine in machines.Where(machine => machine.Labs.ContainsKey(lab)))
        {
            var (file, results) = machine.Labs[lab];
            if (ReportBuilder.Group(plan, results.Rows).FirstOrDefault(section => section.Section.Title == title) is { } part)
            {
                var text = new StringBuilder(Describe(machine, file));
                WriteTable(text.Append('\n'), part);
                return text.ToString();
            }
        }

        return NoResults;
    }

    /// <summary>The verdicts of a lab.</summary>
    public static string Verdicts(ILab lab, IReadOnlyList<MachineResults> machines)
    {
        var text = new StringBuilder();
        var measured = machines.Where(machine => machine.Labs.ContainsKey(lab.Name)).ToList();
        foreach (var machine in measured.Where(machine => machine.Labs[lab.Name].Lab.Verdicts.Count > 0))
        {
            text.Append(text.Length > 0 ? "\n" : "");
            text.Append(
                CultureInfo.InvariantCulture,
                $"`{machine.Machine}`: {ConsoleReport.Summarize(machine.Labs[lab.Name].Lab.Verdicts)}\n\n");
            Head(text, "", "what must hold", ">value", ">limit", "interval, subject");
            foreach (var verdict in machine.Labs[lab.Name].Lab.Verdicts)
            {
                Row(
                    text,
                    verdict.Word,
                    $"{Escape(verdict.Bar.Name)} (`{verdict.Bar.Id}`)",
                    NumberText.Value(verdict.Bar, verdict.Value),
                    NumberText.Value(verdict.Bar, verdict.Bar.Limit),
                    Escape(verdict.Detail));
            }
        }

        return text.Length > 0 ? text.ToString() : measured.Count > 0 ? NoBars : NoResults;
    }

    /// <summary>The heading lines of a table; a leading '>' aligns a column to the right.</summary>
    public static void Head(StringBuilder text, params IReadOnlyList<string> columns)
    {
        Row(text, [.. columns.Select(column => column.TrimStart('>'))]);
        text.Append('|').AppendJoin('|', columns.Select(column => column.StartsWith('>') ? "--:" : "---")).Append("|\n");
    }

    /// <summary>A line of a table.</summary>
    public static void Row(StringBuilder text, params IReadOnlyList<string> cells) =>
        text.Append("| ").AppendJoin(" | ", cells).Append(" |\n");

    /// <summary>A name of code.</summary>
    public static string Code(string name) => name.Contains('<', StringComparison.Ordinal) ? $"`{name}`" : name;

    /// <summary>The full plan of a lab: every row that a page may show.</summary>
    internal static LabPlan PlanOf(ILab lab) => LabPlan.Of(lab, LabMode.Full);

    private static string Describe(MachineResults machine, ResultFile file) => Describe(machine, [file]);

    /// <summary>One line: the machine, and when the results were measured.</summary>
    internal static string Describe(MachineResults machine, IEnumerable<ResultFile> files)
    {
        string Fact(string name) => string.Join(" to ", Ends(files.Select(file => file.Machine[name]?.ToString() ?? "?")));
        return $"`{machine.Machine}`: {Fact("processor")}, {Fact("cores")} cores, {Fact("system")}, {Fact("runtime")}, "
            + $"{Fact("collector")} collector; "
            + $"{Fact("mode")} run, measured {Fact("measured")}.\n";
    }

    /// <summary>The first and the last value, or the only one.</summary>
    private static string[] Ends(IEnumerable<string> values)
    {
        string[] sorted = [.. values.Distinct().Order(StringComparer.Ordinal)];
        return sorted.Length == 1 ? sorted : [sorted[0], sorted[^1]];
    }

    private static void WriteSection(StringBuilder text, ReportSection section)
    {
        text.Append(CultureInfo.InvariantCulture, $"\n### {section.Section.Title}\n\n{Escape(section.Section.About)}\n\n");
        WriteTable(text, section);
    }

    private static void WriteTable(StringBuilder text, ReportSection section)
    {
        switch (section.Section.Layout)
        {
            case SectionLayout.Rows:
                Head(text, "cell", "subject", ">time", ">min", ">ratio", ">95 % interval", ">allocated");
                foreach (var row in section.Rows)
                {
                    string ratio = row.Subject == row.Baseline ? "1.00" : NumberText.ShortRatio(row.Ratio);
                    Row(
                        text,
                        section.Label(row.Cell),
                        Subject(row),
                        NumberText.Time(row.TimeNs),
                        NumberText.Time(row.MinNs),
                        row.IsEmpty ? NumberText.NotMeasured : ratio,
                        NumberText.Interval(row.Ratio),
                        NumberText.Bytes(row.BytesPerOp));
                }

                break;
            case SectionLayout.Matrix:
                WriteMatrix(text, section);
                break;
            default:
                string[] metrics = [.. section.Rows.SelectMany(row => row.Metrics.Keys).Distinct()];
                Head(text, ["cell", "subject", .. metrics.Select(metric => ">" + NumberText.MetricName(metric))]);
                foreach (var row in section.Rows)
                {
                    Row(
                        text,
                        [
                            section.Label(row.Cell),
                            Subject(row),
                            .. metrics.Select(metric => MetricOf(row, metric))
                        ]);
                }

                break;
        }
    }

    private static void WriteMatrix(StringBuilder text, ReportSection section)
    {
        string[] subjects = [.. section.Rows.Select(row => row.Subject).Distinct().Where(subject => subject != section.Section.Baseline)];
        Head(text, ["cell", $">{Code(section.Section.Baseline!)}", .. subjects.Select(subject => ">" + Code(subject))]);
        foreach (var cell in section.Cells)
        {
            var rows = cell.ToDictionary(row => row.Subject);
            Row(
                text,
                [
                    section.Label(cell.Key),
                    NumberText.Time(rows.GetValueOrDefault(section.Section.Baseline!)?.TimeNs),
                    .. subjects.Select(subject => NumberText.Ratio(rows.GetValueOrDefault(subject)?.Ratio)),
                ]);
        }
    }

    private static string MetricOf(ReportRow row, string metric) =>
        row.Metrics.TryGetValue(metric, out double value) ? NumberText.Metric(metric, value) : NumberText.None;

    private static string Subject(ReportRow row) => row.Ours ? $"**{Code(row.Subject)}**" : Code(row.Subject);

    /// <summary>A text that may stand in a cell of a table.</summary>
    internal static string Escape(string text) =>
        text.Replace("<", "&lt;", StringComparison.Ordinal).Replace("|", "\\|", StringComparison.Ordinal);
}

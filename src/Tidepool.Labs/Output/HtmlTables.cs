using System.Text;

namespace Tidepool.Labs;

/// <summary>The tables of one lab on the page.</summary>
internal static class HtmlTables
{
    /// <summary>Heading, plot, verdicts, tables.</summary>
    public static void WriteLab(
        StringBuilder page, LabOutcome outcome, ReportLab lab, IReadOnlyList<ReportSection> sections, bool hasPlots, bool hasGoals)
    {
        LabAnswer answer = Answers.Of(outcome.Lab, outcome.Plan, lab);
        page.Append(
            $"<section class=\"lab\" id=\"{Encode(lab.Name)}\">\n<h2>{Encode(lab.Name)}</h2>\n<p "
                + $"class=\"question\">{Encode(outcome.Lab.Question)}</p>\n");
        page.Append($"<p>{HtmlAnswers.Lead(answer)} {HtmlAnswers.Sentence(answer)}</p>\n");
        if (hasPlots)
        {
            page.Append(
                $"<figure class=\"plot\" data-lab=\"{Encode(lab.Name)}\"><div class=\"choice\"><label>Show <select class=\"first\" "
                    + "aria-label=\"What the plot shows\"></select></label><label>beside <select class=\"second\" aria-label=\"What stands "
                    + "beside it\"></select></label></div><div class=\"canvases\"><div><h4></h4><div class=\"canvas\"></div></div><div "
                    + "hidden><h4></h4><div class=\"canvas\"></div></div></div><figcaption>Colour: ours. Grey: rivals. Lines through the "
                    + "ends of bars and through dots: 95&nbsp;% intervals. Hover or tap for numbers.</figcaption></figure>\n");
        }
        else
        {
            page.Append(
                "<p class=\"note\">This page was made without Node.js, so it has no plots. Install Node.js (on Debian: <code>apt-get "
                    + "install nodejs npm</code>), then <code>./tidepool build</code> and run the lab again: the build brings the "
                    + "plotting library with <code>npm ci</code>.</p>\n");
        }

        WriteVerdicts(page, "Exact counts", [.. lab.Verdicts.Where(verdict => verdict.Bar.Kind == BarKind.Count)]);
        WriteVerdicts(
            page, "Goals of the authors", [.. lab.Verdicts.Where(verdict => hasGoals && verdict.Bar.Kind == BarKind.Ratio)]);
        foreach (var section in sections)
        {
            page.Append($"<h3>{Encode(section.Section.Title)}</h3>\n<p class=\"about\">{Encode(section.Section.About)}</p>\n");
            switch (section.Section.Layout)
            {
                case SectionLayout.Rows:
                    WriteRows(page, section);
                    break;
                case SectionLayout.Matrix:
                    WriteMatrix(page, section);
                    break;
                default:
                    WriteMetrics(page, section);
                    break;
            }
        }

        page.Append("</section>\n");
    }

    /// <summary>A word as a coloured label.</summary>
    public static string Badge(string state) =>
        $"<span class=\"badge {state.ToLowerInvariant().Replace(" ", "", StringComparison.Ordinal)}\">{state}</span>";

    private static void WriteVerdicts(StringBuilder page, string title, IReadOnlyList<Verdict> verdicts)
    {
        if (verdicts.Count == 0)
        {
            return;
        }

        page.Append($"<h3>{title}</h3>\n");
        page.Append(
            "<div class=\"scroll\"><table class=\"verdicts\">\n<thead><tr><th></th><th>what must hold</th><th "
                + "class=\"n\">value</th><th class=\"n\">limit</th><th>how</th></tr></thead>\n<tbody>\n");
        foreach (var verdict in verdicts)
        {
            page.Append(
                $"<tr><td>{Badge(verdict.Word)}</td><td>{Encode(verdict.Bar.Name)}"
                    + $"<br><code>{HtmlReport.EncodeName(verdict.Bar.Id)}</code></td>");
            page.Append(
                $"<td class=\"n\" data-label=\"value\">{NumberText.Value(verdict.Bar, verdict.Value)}</td><td "
                    + $"class=\"n\" data-label=\"limit\">{NumberText.Value(verdict.Bar, verdict.Bar.Limit)}</td>");
            page.Append($"<td class=\"how\">{Encode(verdict.Detail)}</td></tr>\n");
        }

        page.Append("</tbody></table></div>\n");
    }

    private static void WriteRows(StringBuilder page, ReportSection section)
    {
        page.Append(
            "<div class=\"scroll\"><table>\n<thead><tr><th>subject</th><th class=\"n\">time</th><th class=\"n\">ratio</th><th "
                + "class=\"n\">95 % interval</th><th class=\"n\">min</th><th class=\"n\">allocated</th><th class=\"n\">gen 0 / 1 / "
                + "2<br>per 1000</th></tr></thead>\n");
        foreach (var cell in section.Cells)
        {
            page.Append($"<tbody><tr class=\"cell\"><th colspan=\"7\">{Encode(section.Label(cell.Key))}</th></tr>\n");
            foreach (var row in cell)
            {
                page.Append(SubjectCell(row));
                if (row.IsEmpty)
                {
                    page.Append($"<td colspan=\"6\">{Badge(NumberText.NotMeasured)} {Encode(row.Dropped ?? "")}</td></tr>\n");
                    continue;
                }

                string ratio = row.Subject == row.Baseline ? "1.00" : NumberText.ShortRatio(row.Ratio);
                page.Append($"<td class=\"n\">{NumberText.Time(row.TimeNs)}</td><td class=\"n {RatioClass(row)}\">{ratio}</td>");
                page.Append(
                    $"<td class=\"n\">{NumberText.Interval(row.Ratio)}</td><td class=\"n\">{NumberText.Time(row.MinNs)}</td><td "
                        + $"class=\"n\">{NumberText.Bytes(row.BytesPerOp)}</td><td class=\"n\">{NumberText.Collections(row)}</td></tr>\n");
            }

            page.Append("</tbody>\n");
        }

        page.Append("</table></div>\n");
    }

    private static void WriteMatrix(StringBuilder page, ReportSection section)
    {
        string? baseline = section.Section.Baseline;
        string[] others = [.. section.Rows.Select(row => row.Subject).Distinct().Where(subject => subject != baseline)];
        var ours = section.Rows.Where(row => row.Ours).Select(row => row.Subject).ToHashSet();
        page.Append(
            $"<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr><th>cell</th><th "
                + $"class=\"n\">{HtmlReport.EncodeName(baseline ?? "")}</th>");
        foreach (string subject in others)
        {
            page.Append($"<th class=\"n{(ours.Contains(subject) ? " ours" : "")}\">{HtmlReport.EncodeName(subject)}</th>");
        }

        page.Append("</tr></thead>\n<tbody>\n");
        foreach (var cell in section.Cells)
        {
            var bySubject = cell.ToDictionary(row => row.Subject);
            page.Append(
                $"<tr><th scope=\"row\">{Encode(section.Label(cell.Key))}</th><td "
                    + $"class=\"n\">{NumberText.Time(baseline is null ? null : bySubject.GetValueOrDefault(baseline)?.TimeNs)}</td>");
            foreach (string subject in others)
            {
                var row = bySubject.GetValueOrDefault(subject);
                string title = row is null ? "" : $" title=\"{NumberText.Time(row.TimeNs)}, {NumberText.Interval(row.Ratio)}\"";
                page.Append($"<td class=\"n {RatioClass(row)}\"{title}>{NumberText.Ratio(row?.Ratio)}</td>");
            }

            page.Append("</tr>\n");
        }

        page.Append($"</tbody></table></div>\n<p class=\"about\">Time of {Encode(baseline ?? "")}; the others as ratios to it.</p>\n");
    }

    private static void WriteMetrics(StringBuilder page, ReportSection section)
    {
        string[] metrics = [.. section.Rows.SelectMany(row => row.Metrics.Keys).Distinct()];
        page.Append("<div class=\"scroll\"><table>\n<thead><tr><th>subject</th><th></th>");
        page.AppendJoin("", metrics.Select(metric => $"<th class=\"n\">{Encode(NumberText.MetricName(metric))}</th>"));
        page.Append("</tr></thead>\n<tbody>\n");
        foreach (var row in section.Rows)
        {
            page.Append(SubjectCell(row)).Append($"<td>{Encode(section.Label(row.Cell))}</td>");
            page.Append(
                row.IsEmpty
                    ? $"<td colspan=\"{Math.Max(metrics.Length, 1)}\">{Badge(NumberText.NotMeasured)} {Encode(row.Dropped ?? "")}</td>"
                    : "");
            page.AppendJoin(
                "",
                metrics.Where(_ => !row.IsEmpty)
                    .Select(
                        metric => row.Metrics.TryGetValue(metric, out double value) ? NumberText.Metric(metric, value) : NumberText.None)
                    .Select(text => $"<td class=\"n\">{text}</td>"));
            page.Append("</tr>\n");
        }

        page.Append("</tbody></table></div>\n");
    }

    private static string SubjectCell(ReportRow row) =>
        $"<tr><th scope=\"row\"{(row.Ours ? " class=\"ours\"" : "")}>{HtmlReport.EncodeName(row.Subject)}</th>";

    /// <summary>The colour of a ratio.</summary>
    public static string RatioClass(ReportRow? row) => row?.Ratio switch
    {
        null or { Word: RatioWord.NoDifference or RatioWord.Undecided } => "",
        { Value: < 1 } => "faster",
        _ => "slower",
    };

    private static string Encode(string text) => HtmlReport.Encode(text);
}

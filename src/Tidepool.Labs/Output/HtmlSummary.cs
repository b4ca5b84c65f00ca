using System.Text;

namespace Tidepool.Labs;

/// <summary>The parts of the page that are not about one lab.</summary>
internal static class HtmlSummary
{
    /// <summary>How many verdicts of each state, and ours against the usual choice.</summary>
    public static void Write(StringBuilder page, LabReport report, IReadOnlyList<ReportLab> labs)
    {
        page.Append("<section id=\"summary\">\n<h2>Summary</h2>\n<div class=\"cards\">\n");
        foreach (var (outcome, lab) in report.Labs.Zip(labs))
        {
            page.Append(
                $"<a class=\"card\" href=\"#{Encode(lab.Name)}\"><h3>{Encode(lab.Name)}</h3>"
                    + $"<p>{Encode(outcome.Lab.Question)}</p><p class=\"counts\">");
            foreach (var state in lab.Verdicts.GroupBy(verdict => verdict.StateText).OrderBy(group => group.Key == "PASS" ? "" : group.Key))
            {
                page.Append($"<span>{state.Count()} {HtmlTables.Badge(state.Key)}</span>");
            }

            page.Append("</p></a>\n");
        }

        page.Append("</div>\n");
        WriteHeadlines(page, report, labs);
        page.Append("</section>\n");
    }

    /// <summary>What the states of a verdict mean.</summary>
    public static void WriteMeanings(StringBuilder page)
    {
        page.Append("<section id=\"meaning\">\n<h2>What the verdicts mean</h2>\n<dl>\n");
        foreach (var (state, meaning) in HtmlReport.Meanings)
        {
            page.Append($"<dt>{HtmlTables.Badge(state)}</dt><dd>{Encode(meaning)}</dd>\n");
        }

        page.Append(
            "</dl>\n<p>A ratio is the ratio of paired rounds: the subjects of a cell are measured one after another in one process, ");
        page.Append("round by round, and the whole is repeated in fresh processes, because the luck of code layout differs by process. ");
        page.Append($"The interval is a bootstrap over processes, then rounds ({PairedRatio.Redraws} redraws). ");
        page.Append(
            "<em>no difference</em> means that the whole interval lies within 5 % of 1.00, <em>undecided</em> that it includes 1.00 "
                + "and is wider.</p>\n</section>\n");
    }

    /// <summary>Where it ran, and how to run it again.</summary>
    public static void WriteEnvironment(StringBuilder page, LabReport report, IReadOnlyList<ReportLab> labs)
    {
        var machine = report.Machine;
        string mode = report.Options.Mode == LabMode.Full ? "--full" : "--quick";
        page.Append("<section id=\"environment\">\n<h2>Environment</h2>\n<div class=\"scroll\"><table class=\"facts\">\n");
        Fact(page, "processor", $"{machine.Processor}, {machine.Cores} cores");
        Fact(page, "memory", $"{machine.MemoryGiB} GiB");
        Fact(page, "system", machine.System);
        Fact(page, "runtime", machine.Runtime);
        Fact(page, "collector", machine.Collector);
        Fact(page, "processes", string.Join(", ", labs.Select(lab => $"{lab.Name} {lab.Processes}")));
        Fact(page, "seed", $"{report.Options.Seed}");
        foreach (var (name, version) in report.Labs.SelectMany(lab => lab.Plan.Rivals).DistinctBy(rival => rival.Key))
        {
            Fact(page, name, version);
        }

        var dropped = labs.SelectMany(lab => lab.Rows)
            .Where(row => row.Dropped is not null)
            .DistinctBy(row => (row.Subject, row.Dropped));
        foreach (var row in dropped.Take(10))
        {
            Fact(page, $"not run: {row.Subject}", row.Dropped!);
        }

        foreach (string hint in report.Labs.SelectMany(outcome => outcome.Plan.Hints))
        {
            Fact(page, "missing here", hint);
        }

        page.Append(
            "</table></div>\n</section>\n<section id=\"rerun\">\n<h2>Run it yourself</h2>\n<p>Your machine is the one that counts.</p>\n");
        page.Append(
            $"<pre>./tidepool lab {Encode(string.Join(' ', labs.Select(lab => lab.Name)))} {mode} "
                + $"--seed {report.Options.Seed} --html labs.html</pre>\n");
        page.Append(
            "<p><code>--full</code> measures the whole grid in seven processes; <code>--json FILE</code> keeps every number; "
                + "<code>--help</code> lists the rest.</p>\n</section>\n");
    }

    private static void WriteHeadlines(StringBuilder page, LabReport report, IReadOnlyList<ReportLab> labs)
    {
        Headline[] lines = [.. report.Labs.Zip(labs).SelectMany(pair => Headlines.Of(pair.First.Lab, pair.First.Plan, pair.Second))];
        if (lines.Length == 0)
        {
            return; // a lab whose rows are all of others
        }

        page.Append(
            "<h3>In short</h3>\n<div class=\"scroll\"><table>\n<thead><tr><th>what</th><th class=\"n\">usual choice</th><th "
                + "class=\"n\">ours</th><th class=\"n\">ratio</th></tr></thead>\n<tbody>\n");
        foreach (Headline headline in lines)
        {
            page.Append(
                $"<tr><th scope=\"row\">{Encode(headline.What)}<small>{HtmlReport.EncodeName(headline.Usual.Subject)} &rarr; <span "
                    + $"class=\"ours\">{HtmlReport.EncodeName(headline.Ours.Subject)}</span></small></th>");
            page.Append(
                $"<td class=\"n\">{NumberText.Time(headline.Usual.MedianNs)}</td><td "
                    + $"class=\"n\">{NumberText.Time(headline.Ours.MedianNs)}</td>");
            page.Append(
                $"<td class=\"n {HtmlTables.RatioClass(headline.Ours)}\">{NumberText.SpokenRatio(headline.Ours.Ratio)}</td></tr>\n");
        }

        page.Append("</tbody></table></div>\n");
    }

    private static void Fact(StringBuilder page, string name, string value) =>
        page.Append($"<tr><th scope=\"row\">{Encode(name)}</th><td>{Encode(value)}</td></tr>\n");

    private static string Encode(string text) => HtmlReport.Encode(text);
}

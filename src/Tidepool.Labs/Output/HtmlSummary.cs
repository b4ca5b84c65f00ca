using System.Text;

namespace Tidepool.Labs;

/// <summary>The parts of the page that are not about one lab.</summary>
internal static class HtmlSummary
{
    private static readonly (string Word, string Meaning)[] Meanings =
    [
        ("faster", "The whole 95 % interval of the ratio lies below 1.00, and not all of it within 5 %."),
        ("slower", "The whole interval lies above 1.00, and not all of it within 5 %."),
        ("no difference", "The whole interval lies within 5 % of 1.00."),
        ("undecided", "The interval includes 1.00 and is wider. A quieter machine or --full may decide."),
        ("PASS", "An exact count (bytes, sessions, sockets) is as it must be."),
        ("FAIL", "An exact count is not as it must be: a fault, on every machine."),
        ("not measured", "A row is missing here, or the run was stopped before it; the table says why."),
    ];

    private static readonly (string Word, string Meaning)[] GoalMeanings =
    [
        ("met", "A goal of the authors: the whole interval lies within the limit."),
        ("missed", "The whole interval lies beyond the limit. It says something about the library, and nothing about this machine."),
    ];

    /// <summary>What the words of the page mean.</summary>
    public static void WriteMeanings(StringBuilder page, bool hasGoals)
    {
        page.Append("<section id=\"meaning\">\n<h2>How to read it</h2>\n<dl>\n");
        foreach (var (word, meaning) in hasGoals ? [.. Meanings, .. GoalMeanings] : Meanings)
        {
            page.Append($"<dt>{HtmlTables.Badge(word)}</dt><dd>{Encode(meaning)}</dd>\n");
        }

        page.Append(
            "</dl>\n<p>A ratio is the ratio of paired rounds: the subjects of a cell are measured one after another in one process, ");
        page.Append("round by round, and the whole is repeated in fresh processes, because the luck of code layout differs by process. ");
        page.Append($"The interval is a bootstrap over processes, then rounds ({PairedRatio.Redraws} redraws). ");
        page.Append(
            "Times stand in these ratios to the median of the usual choice, so a row never contradicts itself. Where two ratios are "
                + "divided by each other, as beside what pools nothing, the interval is the widest that both allow.</p>\n</section>\n");
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

    private static void Fact(StringBuilder page, string name, string value) =>
        page.Append($"<tr><th scope=\"row\">{Encode(name)}</th><td>{Encode(value)}</td></tr>\n");

    private static string Encode(string text) => HtmlReport.Encode(text);
}

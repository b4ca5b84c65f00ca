using System.Text;
using System.Text.Json.Nodes;
using Tidepool.Pages;

namespace Tidepool.Labs;

/// <summary>Writes one page that needs nothing else: styles, data and the plotting library are inside.</summary>
internal static class HtmlReport
{
    /// <summary>The page's text.</summary>
    /// <param name="report">The run.</param>
    /// <param name="labs">Its results.</param>
    /// <param name="plots">The plotting library's script, or null: then the page says how to get it.</param>
    /// <param name="hasGoals">Whether what the authors aim at is shown.</param>
    public static string Write(LabReport report, IReadOnlyList<ReportLab> labs, string? plots, bool hasGoals = false)
    {
        StringBuilder page = HtmlPage.Begin("Does a pool pay? Tidepool labs", "Does a pool pay on this machine?");
        WriteHeader(page, report);
        page.Append("<main>\n");
        HtmlAnswers.Write(page, report, labs);
        var data = new JsonObject();
        foreach (var (outcome, lab) in report.Labs.Zip(labs))
        {
            var sections = ReportBuilder.Group(outcome.Plan, lab.Rows);
            data[lab.Name] = PlotViews.Of(sections);
            HtmlTables.WriteLab(page, outcome, lab, sections, plots is not null, hasGoals);
        }

        HtmlSummary.WriteMeanings(page, hasGoals);
        HtmlSummary.WriteEnvironment(page, report, labs);
        page.Append("</main>\n");
        WriteScripts(page, data, plots);
        page.Append("</body>\n</html>\n");
        return page.ToString();
    }

    /// <summary>The plotting library that was packed into this assembly, or null.</summary>
    public static string? PackedPlots() => HtmlPage.TryResource("echarts.js");

    /// <summary>Text as HTML.</summary>
    public static string Encode(string text) => HtmlPage.Encode(text);

    /// <summary>A name of code or an id as HTML: it may be broken before a dot and nowhere else.</summary>
    public static string EncodeName(string name) => HtmlPage.EncodeName(name);

    private static void WriteHeader(StringBuilder page, LabReport report)
    {
        string mode = report.Options.Mode == LabMode.Full ? "Full run" : "Quick tour";
        page.Append(
            $"<p>Tidepool labs, {Encode(mode.ToLowerInvariant())}: {Encode(report.Machine.Processor)}, {report.Machine.Cores} cores, "
                + $"{Encode(report.Machine.Runtime)}.");
        page.Append(report.Stopped ? " <strong>Stopped before its end: what was done until then.</strong>" : "");
        page.Append(
            " <a href=\"#meaning\">How to read it</a> <a href=\"#environment\">Environment</a> <a href=\"#rerun\">Run it yourself</a>");
        page.Append("</p>\n</header>\n");
    }

    private static void WriteScripts(StringBuilder page, JsonObject data, string? plots)
    {
        if (plots is null)
        {
            return;
        }

        // A closing tag inside a string of the library would end the element.
        page.Append("<script>").Append(plots.Replace("</script", "<\\/script", StringComparison.OrdinalIgnoreCase)).Append("</script>\n");
        page.Append("<script type=\"application/json\" id=\"views\">").Append(data.ToJsonString()).Append("</script>\n");
        page.Append("<script>\n").Append(HtmlPage.Resource("page.js")).Append("</script>\n");
    }
}

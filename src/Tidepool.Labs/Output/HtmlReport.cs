using System.Net;
using System.Text;
using System.Text.Json.Nodes;

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
        var page = new StringBuilder();
        page.Append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        page.Append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.Append("<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n");
        page.Append("<title>Does a pool pay? Tidepool labs</title>\n<style>\n").Append(Resource("page.css"));
        page.Append("</style>\n</head>\n<body>\n");
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
    public static string? PackedPlots() => TryResource("echarts.js");

    /// <summary>Text as HTML.</summary>
    public static string Encode(string text) => WebUtility.HtmlEncode(text);

    /// <summary>A name of code or an id as HTML: it may be broken before a dot and nowhere else.</summary>
    public static string EncodeName(string name) => Encode(name).Replace(".", "<wbr>.", StringComparison.Ordinal);

    private static void WriteHeader(StringBuilder page, LabReport report)
    {
        string mode = report.Options.Mode == LabMode.Full ? "Full run" : "Quick tour";
        page.Append("<header>\n<div class=\"brand\"><span class=\"mark\" aria-hidden=\"true\"></span>");
        page.Append("<h1>Does a pool pay on this machine?</h1></div>\n");
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
        page.Append("<script>\n").Append(Resource("page.js")).Append("</script>\n");
    }

    /// <summary>The text of a file that is packed into this assembly.</summary>
    internal static string Resource(string name) =>
        TryResource(name) ?? throw new InvalidOperationException($"The assembly lacks '{name}'.");

    private static string? TryResource(string name)
    {
        using var stream = typeof(HtmlReport).Assembly.GetManifestResourceStream(name);
        return stream is null ? null : new StreamReader(stream).ReadToEnd();
    }
}

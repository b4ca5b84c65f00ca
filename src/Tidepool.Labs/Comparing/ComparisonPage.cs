using System.Globalization;
using System.Text;
using Tidepool.Pages;

namespace Tidepool.Labs;

/// <summary>Writes a comparison as one page that needs nothing else, in the style of the page of the labs.</summary>
internal static class ComparisonPage
{
    /// <summary>Half the width of the picture of an interval; a factor of two reaches its edge.</summary>
    private const double Half = 60;

    /// <summary>The page's text.</summary>
    public static string Write(ResultComparison comparison, ComparisonOptions options)
    {
        var sections = ComparisonReport.Sections(comparison, options).Where(static section => section.Rows.Count > 0).ToArray();
        StringBuilder page = HtmlPage.Begin(
            "Tidepool: two results compared",
            "Two results compared",
            "svg.interval { display: block; width: 120px; height: 14px; stroke: currentColor; fill: currentColor; }\n");
        WriteHeader(page, comparison, sections);
        page.Append("<main>\n");
        WriteFiles(page, comparison, options);
        for (int i = 0; i < sections.Length; i++)
        {
            WriteRows(page, $"part{i}", sections[i].Title, sections[i].Rows);
        }

        WriteMissing(page, comparison);
        page.Append("</main>\n</body>\n</html>\n");
        return page.ToString();
    }

    private static void WriteHeader(
        StringBuilder page, ResultComparison comparison, (string Title, IReadOnlyList<ComparedRow> Rows)[] sections)
    {
        page.Append($"<p>{Encode(ComparisonReport.Summarize(comparison))}</p>\n<nav>");
        for (int i = 0; i < sections.Length; i++)
        {
            page.Append($"<a href=\"#part{i}\">{Encode(sections[i].Title.ToLowerInvariant())}</a>");
        }

        page.Append("</nav>\n</header>\n");
    }

    private static void WriteFiles(StringBuilder page, ResultComparison comparison, ComparisonOptions options)
    {
        page.Append("<h2>What was compared</h2>\n<div class=\"scroll\"><table class=\"facts\"><tbody>\n");
        page.Append($"<tr><th>A: {Encode(options.NameA)}</th><td>{Encode(ComparisonReport.Describe(comparison.A))}</td></tr>\n");
        page.Append($"<tr><th>B: {Encode(options.NameB)}</th><td>{Encode(ComparisonReport.Describe(comparison.B))}</td></tr>\n");
        page.Append("</tbody></table></div>\n");
        string[] differences = [.. comparison.Differences()];
        if (options.IsSame)
        {
            page.Append("<p class=\"note\">Both are the same result: nothing can differ.</p>\n");
        }

        if (differences.Length > 0)
        {
            string lines = string.Join("<br>", differences.Select(Encode));
            page.Append($"<p class=\"note\">Not runs of one kind on one machine; a change may come from that:<br>{lines}</p>\n");
        }

        page.Append($"<p class=\"about\">{Encode(ComparisonReport.Reading)}</p>\n");
        if (options.FailAbove is { } limit)
        {
            int above = comparison.Above(limit).Count();
            string text = string.Create(CultureInfo.InvariantCulture, $"{ComparisonReport.Count(above)} above {limit:0.00###}");
            page.Append($"<p><span class=\"badge {(above == 0 ? "pass" : "fail")}\">{text} with the whole interval</span></p>\n");
        }
    }

    private static void WriteRows(StringBuilder page, string id, string title, IReadOnlyList<ComparedRow> rows)
    {
        page.Append($"<h2 id=\"{id}\">{Encode(title)}</h2>\n<p class=\"about\">{ComparisonReport.Count(rows.Count)}. ");
        page.Append("The picture has the interval of B/A: the line in its middle is 1.00, its edges are half and twice.</p>\n");
        page.Append("<div class=\"scroll\"><table>\n<thead><tr><th>what</th><th class=\"n\">A</th><th class=\"n\">B</th>");
        page.Append("<th class=\"n\">B/A</th><th class=\"n\">95 % interval</th><th>faster | slower</th></tr></thead>\n<tbody>\n");
        foreach (var row in rows)
        {
            string subject = Encode(row.A.Subject);
            string name = row.A.Ours ? $"<span class=\"ours\">{subject}</span>" : subject;
            string word = row.Change.Word switch
            {
                RatioWord.Faster => " faster",
                RatioWord.Slower => " slower",
                _ => "",
            };
            page.Append($"<tr><th>{Encode(row.Lab)}: {name}<small>{Encode(row.A.Cell.Describe())}</small></th>");
            page.Append($"<td class=\"n\">{NumberText.Factor(row.A.Ratio!.Value.Value)}</td>");
            page.Append($"<td class=\"n\">{NumberText.Factor(row.B.Ratio!.Value.Value)}</td>");
            page.Append($"<td class=\"n{word}\">{NumberText.Factor(row.Change.Value)}</td>");
            page.Append($"<td class=\"n\">{NumberText.Interval(row.Change)}</td><td class=\"{word.Trim()}\">{Picture(row)}</td></tr>\n");
        }

        page.Append("</tbody></table></div>\n");
    }

    private static string Picture(ComparedRow row) => string.Create(
        CultureInfo.InvariantCulture,
        $"<svg class=\"interval\" viewBox=\"0 0 120 14\" aria-hidden=\"true\"><path d=\"M60 0V14\" opacity=\"0.35\"/>"
            + $"<path d=\"M{Place(row.Change.Low):0.#} 7H{Place(row.Change.High):0.#}\" stroke-width=\"2\"/>"
            + $"<circle cx=\"{Place(row.Change.Value):0.#}\" cy=\"7\" r=\"3\"/></svg>");

    /// <summary>Where a factor is in the picture, on a logarithmic scale.</summary>
    private static double Place(double factor) => Half + (Half * Math.Clamp(Math.Log2(factor), -1, 1));

    private static void WriteMissing(StringBuilder page, ResultComparison comparison)
    {
        string[] lines =
        [
            .. comparison.LabsOnlyInA.Select(static lab => $"Missing in B, the whole lab: {lab}"),
            .. comparison.LabsOnlyInB.Select(static lab => $"Missing in A, the whole lab: {lab}"),
            .. from row in comparison.LoneRows
               select $"Missing in {row.Lacking} ({row.Reason}): {row.Lab}: {row.Key.Subject}: {row.Key.Cell.Describe()}",
        ];
        if (lines.Length > 0)
        {
            page.Append("<h2>Only in one of them</h2>\n<ul>\n");
            page.AppendJoin("", lines.Select(static line => $"<li>{Encode(line)}</li>\n")).Append("</ul>\n");
        }
    }

    private static string Encode(string text) => HtmlPage.Encode(text);
}

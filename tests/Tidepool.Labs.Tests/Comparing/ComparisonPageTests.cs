using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Tidepool.Labs.Tests.Comparing;

public class ComparisonPageTests
{
    [Fact]
    public void Every_row_that_changed_is_on_the_page_with_its_numbers_and_where_its_interval_lies()
    {
        string page = Write(MadeUpResult.Of(1.0, 1.0, 1.0, 0.5), MadeUpResult.Of(1.2, 1.5, 0.5, 0.5));

        Assert.Contains("4 rows in both: 2 slower in B, 1 faster, 1 without difference, 0 undecided.", page, StringComparison.Ordinal);
        Assert.True(page.IndexOf("<h2 id=\"part0\">Slower in B</h2>", StringComparison.Ordinal)
            < page.IndexOf("<h2 id=\"part1\">Faster in B</h2>", StringComparison.Ordinal));
        string[] rows = [.. Regex.Matches(page, "<tr><th>fake: .*?</tr>").Select(static row => row.Value)];
        Assert.Equal(3, rows.Length);
        Assert.Contains("<small>2</small>", rows[0], StringComparison.Ordinal);
        Assert.Contains("<td class=\"n\">1.00</td><td class=\"n\">1.50</td>", rows[0], StringComparison.Ordinal);
        Assert.Contains("<td class=\"n slower\">1.50</td>", rows[0], StringComparison.Ordinal);
        Assert.Contains("cx=\"0\"", rows[2], StringComparison.Ordinal); // half the time is at the left edge
        Assert.InRange(double.Parse(Regex.Match(rows[0], "cx=\"([0-9.]+)\"").Groups[1].Value, null), 90, 97);
    }

    [Fact]
    public void The_page_is_one_well_formed_file_that_asks_for_nothing()
    {
        string page = Write(MadeUpResult.Of(1.0, 1.0), MadeUpResult.Of(2.0), failAbove: 1.05);

        // Elements that HTML leaves open are closed for the check.
        string body = Regex.Replace(page[page.IndexOf("<header>", StringComparison.Ordinal)..], "</body>.*", "", RegexOptions.Singleline);
        XElement.Parse($"<body>{body.Replace("<br>", "<br/>", StringComparison.Ordinal)}</body>");
        Assert.DoesNotContain("http", page, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("<script", page, StringComparison.Ordinal);
        Assert.Contains("<span class=\"badge fail\">1 row above 1.05 with the whole interval</span>", page, StringComparison.Ordinal);
        Assert.Contains("<li>Missing in B (no such row): fake: Ours&lt;T&gt;: 2</li>", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Runs_of_another_machine_are_named()
    {
        var other = MadeUpResult.Json(1.0);
        other["machine"]!["processor"] = "<another>";

        string page = Write(MadeUpResult.Of(1.0), ResultJson.Read(other.ToJsonString()));

        Assert.Contains("in A, &lt;another&gt; in B.", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<another>", page, StringComparison.Ordinal);
    }

    private static string Write(ResultFile a, ResultFile b, double? failAbove = null) => ComparisonPage.Write(
        ResultComparison.Of(a, b), new() { NameA = "a.json", NameB = "b.json", FailAbove = failAbove });
}

using System.Text.RegularExpressions;

namespace Tidepool.Labs.Tests.Output;

public partial class HtmlReportTests
{
    private const string FakePlots = "window.echarts = { note: '</script>' };";

    [Fact]
    public void The_page_loads_nothing()
    {
        string page = Page(FakePlots);

        Assert.DoesNotMatch(Loads(), page);
    }

    [Fact]
    public void The_plotting_library_that_was_packed_loads_nothing_either()
    {
        if (HtmlReport.PackedPlots() is { } plots)
        {
            Assert.DoesNotMatch(Loads(), Page(plots));
        }
        else
        {
            Assert.Contains("npm ci", Page(null), StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Without_the_plotting_library_the_page_has_every_table_and_says_how_to_get_plots()
    {
        string page = Page(null);

        Assert.Contains("npm ci", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<script", page, StringComparison.Ordinal);
        Assert.Equal(Page(FakePlots).Split("<table").Length, page.Split("<table").Length);
    }

    [Fact]
    public void The_page_opens_with_the_answer_and_its_picture()
    {
        string opening = Between(Page(FakePlots), "<section id=\"answers\">", "</section>");

        Assert.Contains(">Pays</span>", opening, StringComparison.Ordinal);
        Assert.Contains(
            "<b>Ours&lt;T&gt;</b> takes 0.40 of the time of <b>Rival&lt;T&gt;</b> (faster).", opening, StringComparison.Ordinal);
        Assert.Contains("<g class=\"faster\">", opening, StringComparison.Ordinal);
        Assert.DoesNotContain("class=\"badge", opening, StringComparison.Ordinal);
    }

    [Fact]
    public void Where_nothing_was_compared_the_page_says_so_without_a_picture()
    {
        var nothing = FakeLab.Report(new LabResults(seed: 1));

        string opening = Between(
            HtmlReport.Write(nothing, [.. nothing.Labs.Select(ReportBuilder.Build)], FakePlots), "<section id=\"answers\">", "</section>");

        Assert.Contains(">Not measured</span>", opening, StringComparison.Ordinal);
        Assert.DoesNotContain("<svg", opening, StringComparison.Ordinal);
    }

    [Fact]
    public void Names_are_text_and_not_markup()
    {
        string page = Page(FakePlots);

        Assert.Contains("Title &lt;b&gt;", page, StringComparison.Ordinal);
        Assert.Contains("Ours&lt;T&gt;", page, StringComparison.Ordinal);
        Assert.Contains("Is &lt;ours&gt; faster &amp; smaller?", page, StringComparison.Ordinal);
        Assert.DoesNotContain("Ours<T>", page, StringComparison.Ordinal);
    }

    [Fact]
    public void A_closing_tag_inside_the_library_does_not_end_the_script() =>
        Assert.Contains("<\\/script>'", Page(FakePlots), StringComparison.Ordinal);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Exact_counts_are_shown_to_everybody_and_goals_where_they_are_wanted(bool hasGoals)
    {
        string page = Page(FakePlots, hasGoals);

        Assert.All(["fake.bytes", "fake.held"], id => Assert.True(Shows(id)));
        Assert.All(["fake.fast", "fake.absent"], id => Assert.Equal(hasGoals, Shows(id)));
        Assert.All(["PASS", "FAIL", "not measured"], word => Assert.True(Explains(word)));
        Assert.All(["met", "missed"], word => Assert.Equal(hasGoals, Explains(word)));

        bool Shows(string id) => page.Contains($"<code>{HtmlReport.EncodeName(id)}</code>", StringComparison.Ordinal);
        bool Explains(string word) => page.Contains($">{word}</span></dt>", StringComparison.Ordinal);
    }

    [Fact]
    public void A_goal_that_is_missed_is_never_called_a_failure()
    {
        var results = new LabResults(seed: 1);
        results.Add(FakeLab.Rival, 0, 0, FakeLab.Samples(10, 0));
        results.Add(FakeLab.Ours, 0, 0, FakeLab.Samples(9, 0));
        var report = FakeLab.Report(results);
        ReportLab[] labs = [.. report.Labs.Select(ReportBuilder.Build)];
        Assert.Equal(VerdictState.Fail, labs[0].Verdicts.Single(verdict => verdict.Bar.Id == "fake.fast").State);

        string page = HtmlReport.Write(report, labs, FakePlots, hasGoals: true);

        Assert.Contains("<span class=\"badge missed\">missed</span></td>", page, StringComparison.Ordinal);
        Assert.DoesNotContain("<span class=\"badge fail\">FAIL</span></td>", page, StringComparison.Ordinal);
    }

    [Fact]
    public void The_page_says_where_it_ran_and_how_to_run_it_again()
    {
        string page = Page(FakePlots);

        Assert.Contains(HtmlReport.Encode(MachineInfo.OfThisMachine().Processor), page, StringComparison.Ordinal);
        Assert.Contains("./tidepool lab fake --quick --seed 7 --html", page, StringComparison.Ordinal);
    }

    [Fact]
    public void A_stopped_run_says_so()
    {
        var report = FakeLab.Report(stopped: true);

        Assert.Contains(
            "Stopped before its end",
            HtmlReport.Write(report, [.. report.Labs.Select(ReportBuilder.Build)], null),
            StringComparison.Ordinal);
    }

    private static string Page(string? plots, bool hasGoals = false)
    {
        var report = FakeLab.Report();
        return HtmlReport.Write(report, [.. report.Labs.Select(ReportBuilder.Build)], plots, hasGoals);
    }

    private static string Between(string page, string begin, string end)
    {
        int from = page.IndexOf(begin, StringComparison.Ordinal);
        return page[from..page.IndexOf(end, from, StringComparison.Ordinal)];
    }

    /// <summary>Ways in which a page fetches something: a source, a style sheet, an import, a request.</summary>
    [GeneratedRegex(
        """(\b(src|href)\s*=\s*["']?(https?:)?//)|@import|url\(\s*["']?https?:""" +
        """|\bfetch\(\s*["']|importScripts\(|<link[^>]+stylesheet""")]
    private static partial Regex Loads();
}

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
    public void Where_no_row_is_ours_there_is_no_empty_short_table()
    {
        var nothing = FakeLab.Report(new LabResults(seed: 1));

        Assert.Contains("<h3>In short</h3>", Page(FakePlots), StringComparison.Ordinal);
        Assert.DoesNotContain(
            "<h3>In short</h3>",
            HtmlReport.Write(nothing, [.. nothing.Labs.Select(ReportBuilder.Build)], FakePlots),
            StringComparison.Ordinal);
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

    [Fact]
    public void Every_verdict_is_shown_and_every_state_explained()
    {
        string page = Page(FakePlots);

        Assert.All(
            ["fake.fast", "fake.absent", "fake.bytes", "fake.held"],
            (string id) => Assert.Contains($"<code>{HtmlReport.EncodeName(id)}</code>", page, StringComparison.Ordinal));
        Assert.All(
            ["PASS", "FAIL", "UNCLEAR", "NOT RUN"],
            (string state) => Assert.Contains($">{state}</span></dt>", page, StringComparison.Ordinal));
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

    private static string Page(string? plots)
    {
        var report = FakeLab.Report();
        return HtmlReport.Write(report, [.. report.Labs.Select(ReportBuilder.Build)], plots);
    }

    /// <summary>Ways in which a page fetches something: a source, a style sheet, an import, a request.</summary>
    [GeneratedRegex(
        """(\b(src|href)\s*=\s*["']?(https?:)?//)|@import|url\(\s*["']?https?:""" +
        """|\bfetch\(\s*["']|importScripts\(|<link[^>]+stylesheet""")]
    private static partial Regex Loads();
}

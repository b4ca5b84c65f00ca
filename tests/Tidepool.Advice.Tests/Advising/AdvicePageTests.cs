using System.Text;
using System.Text.RegularExpressions;
using Tidepool.Advice.Tests.Comparing;

namespace Tidepool.Advice.Tests.Advising;

public sealed class AdvicePageTests
{
    [Fact]
    public void The_page_loads_nothing_and_says_what_the_report_says()
    {
        string page = AdvicePage.Write(MadeUpAdvice.Many(3, 1, "Orders.Api.Handle"));
        Assert.DoesNotMatch(@"(src|href)=""(?!#|data:)|@import|url\(|<script", page);
        string[] parts =
        [
            "What should orders pool?", "Sites: 3 to pool, 3 not to, 3 undecided.", "Orders<wbr>.Api<wbr>.Handle0", "Api.cs:12",
            "strings &lt;cannot&gt; be reused.", "using BufferLease&lt;byte&gt;", "sampled", "pool 0 (Buffers)",
            "a buffer was returned twice.",
        ];
        Assert.All(parts, part => Assert.Contains(part, page, StringComparison.Ordinal));
        Assert.DoesNotContain("not on this page", page, StringComparison.Ordinal);
        Assert.All(
            Regex.Matches(page, "href=\"#([a-z0-9]+)\""),
            link => Assert.Contains($"id=\"{link.Groups[1].Value}\"", page, StringComparison.Ordinal));
    }

    [Fact]
    public void Sites_pools_and_points_are_capped_and_the_page_says_so()
    {
        string page = AdvicePage.Write(MadeUpAdvice.Many(100, 130, "Orders.Api.Handle"));
        Assert.Equal(AdvicePage.MostSites, Regex.Count(page, "<div class=\"answer\">"));
        Assert.Contains("100 more sites are not on this page", page, StringComparison.Ordinal);
        Assert.Equal(AdvicePage.MostPools, Regex.Count(page, "<h3>pool "));
        Assert.Contains("30 more pools are not on this page", page, StringComparison.Ordinal);
        Match curve = Regex.Match(page, "<path d=\"(M[^\"]*)\"/></svg>");
        Assert.Equal(AdvicePictures.MostPoints, Regex.Count(curve.Groups[1].Value, "[ML]"));
    }

    [Fact]
    public void Pools_without_rentals_share_a_line_and_take_no_place_of_others()
    {
        AdviceReport report = MadeUpAdvice.Many(1, AdvicePage.MostPools, "Orders.Api.Handle");
        PoolAdvice one = report.Pools.Pools[0];
        PoolAdvice Unused(string name) => one with
        {
            Name = name, RentedPerSecond = 0, Findings = [one.Findings[0] with { Verdict = PoolVerdict.NotEnoughEvidence }],
        };
        PoolAdvice[] unused = [Unused("<spare>"), .. Enumerable.Range(1, 30).Select(i => Unused($"spare {i}"))];
        string page = AdvicePage.Write(report with { Pools = report.Pools with { Pools = [.. unused, .. report.Pools.Pools] } });
        Assert.Equal(AdvicePage.MostPools, Regex.Count(page, "<h3>pool "));
        Assert.Contains(">no rental in the window: &lt;spare&gt; (Buffers), spare 1 (Buffers), ", page, StringComparison.Ordinal);
        Assert.Contains(" and 23 more</p>", page, StringComparison.Ordinal);
        Assert.DoesNotContain("not on this page", page, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("x")]
    [InlineData("\u20ac")] // three bytes
    [InlineData("<")] // four characters when encoded
    public void The_page_has_at_most_2_MB_whatever_names_are_like(string letter)
    {
        string name = string.Concat(Enumerable.Repeat(letter, 100_000));
        string page = AdvicePage.Write(MadeUpAdvice.Many(80, 20, name));
        Assert.InRange(Encoding.UTF8.GetByteCount(page), 100_000, AdvicePage.MostBytes);
        Assert.Contains("not on this page", page, StringComparison.Ordinal);
        Assert.EndsWith("</html>\n", page, StringComparison.Ordinal);
    }

    [Fact]
    public void A_program_that_allocates_nothing_has_a_page_too()
    {
        string page = AdvicePage.Write(MadeUpAdvice.Sampled() with { Sites = [], BytesPerSecond = default });
        Assert.Contains("No site has enough samples", page, StringComparison.Ordinal);
        Assert.Contains("None of Tidepool's was seen.", page, StringComparison.Ordinal);
    }
}

using System.Text.Json;
using System.Text.RegularExpressions;
using Tidepool.Pages;
using Tidepool.Preloading;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>A report on a native program in all the forms that it is written in.</summary>
public sealed class NativeReportTests
{
    private const int Terminal = 80;

    private static readonly AdviceReport Report = MadeUpNative.Report();

    [Fact]
    public void Each_site_has_the_verdict_of_its_blocks() => Assert.Equal(
        [
            "demo::parse block Pool objects", "demo::Cache::put block DoNotPool ", "demo::reply block Pool buffers",
            "demo::collect std::vector DoNotPool ", "server+0x500 block NotEnoughEvidence ",
        ],
        Report.Sites.OrderBy(OrderOf).Select(static site => $"{site.Site.Method} {site.Site.Type} {site.Verdict} {site.Kind}"));

    [Fact]
    public void The_json_fits_its_schema_and_says_that_it_is_native()
    {
        using JsonDocument json = JsonDocument.Parse(AdviceJson.Write(Report));
        ReportSchema.AssertFits(json.RootElement, "advise.schema.json");
        Assert.Equal("native", json.RootElement.GetProperty("process").GetProperty("runtime").GetString());
        JsonElement native = json.RootElement.GetProperty("window").GetProperty("native");
        Assert.Equal(PreloadEnvironment.MeanBytes, native.GetProperty("meanBytes").GetInt32());
        Assert.Equal(0, native.GetProperty("exitCode").GetInt32());
        JsonElement pool = Assert.Single(json.RootElement.GetProperty("pools").EnumerateArray());
        Assert.Equal("native", pool.GetProperty("kind").GetString());
        Assert.StartsWith(
            "#pragma once", pool.GetProperty("findings")[0].GetProperty("native").GetString(), StringComparison.Ordinal);
        JsonElement reply = SiteOf(json.RootElement, "demo::reply");
        Assert.Equal(1, reply.GetProperty("freedElsewhere").GetProperty("value").GetDouble());
        Assert.Equal(2, reply.GetProperty("halfFreedWithin").GetDouble(), 6);
        Assert.False(SiteOf(json.RootElement, "demo::Cache::put").TryGetProperty("halfFreedWithin", out _));
    }

    [Fact]
    public void The_text_says_how_it_was_looked_at_and_fits_a_terminal()
    {
        string text = PrintedText.Of(Terminal, static console => AdviceText.Print(console, Report));
        string[] parts =
        [
            "native: one byte in 102,400 sampled for 10.0 s from its start; ended with code 0",
            "lifetimes: young is freed within 1 s, kept lives for 5 s and more", "demo::parse parse.cpp:12",
            "demo::Cache::put cache.cpp:40", "half are freed within 1 ms", "CHANGE malloc (native), size classes",
            "for the native library, a file for -DTIDEPOOL_SIZE_CLASSES:", "inline constexpr std::uint32_t class_sizes[] = {",
        ];
        string words = Regex.Replace(text, @"\s+", " ");
        Assert.All(parts, part => Assert.Contains(part, words, StringComparison.Ordinal));
        Assert.DoesNotContain("collections", text, StringComparison.Ordinal);
        Assert.All(text.Split('\n'), static line => Assert.InRange(line.Length, 0, Terminal));
    }

    [Fact]
    public void What_it_lacks_is_said()
    {
        AdviceReport lacking = Report with
        {
            Sites = [],
            Native = Report.Native! with { ExitCode = null, OtherProcesses = 3, LacksNames = true },
            Sampling = Report.Sampling with { Slices = [Report.Sampling.Slices[0] with { LostEvents = 9 }] },
        };
        string text = PrintedText.Of(Terminal, console => AdviceText.Print(console, lacking));
        string[] parts =
        [
            "stopped then", "3 other processes of the command", "addr2line is missing: apt-get install binutils",
            "9 records found no room.", "No allocation was sampled",
        ];
        Assert.All(parts, part => Assert.Contains(part, text, StringComparison.Ordinal));
    }

    [Fact]
    public void A_log_with_many_lost_records_decides_nothing()
    {
        NativeRecording recording = MadeUpNative.Recording(MadeUpNative.Blocks(1, 4000, static _ => 8200, static _ => 0.001));
        recording = recording with { Log = recording.Log with { Lost = 100 } };
        AdviceReport torn = NativeReport.Of("server", recording, MadeUpNative.Names(), static _ => 1, new AdviceLimits());
        SiteAdvice site = Assert.Single(torn.Sites);
        Assert.Equal(Verdict.NotEnoughEvidence, site.Verdict);
        Assert.Contains("100 events were lost, more than 1%: look for a shorter time (--seconds).", site.Reason, StringComparison.Ordinal);
        var refused = Assert.Throws<JsonException>(() => AdviceFile.Read(AdviceJson.Write(torn)));
        Assert.Contains("--seconds", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_page_has_the_sites_and_the_header()
    {
        string page = AdvicePage.Write(Report);
        string[] parts =
        [
            "What should server pool?", "Sites: 2 to pool, 2 not to, 1 undecided.", "parse.cpp:12", HtmlPage.Encode("tp::pool<T>"),
            "malloc (native)", HtmlPage.Encode("#include <cstdint>"), "one byte in 102,400",
        ];
        Assert.All(parts, part => Assert.Contains(part, page, StringComparison.Ordinal));
        Assert.DoesNotContain(".NET", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Sarif_has_what_should_change_beside_its_line()
    {
        using JsonDocument log = JsonDocument.Parse(SarifReport.Write(Report, new SourceRoot((string?)null), "1.0"));
        JsonElement[] results = [.. log.RootElement.GetProperty("runs")[0].GetProperty("results").EnumerateArray()];
        Assert.Equal(["ADVISE001", "ADVISE001", "ADVISE002"], results.Select(static one => one.GetProperty("ruleId").GetString()));
        JsonElement parse = Assert.Single(results, static one => TextOf(one).Contains("tp::pool<T>", StringComparison.Ordinal));
        JsonElement place = parse.GetProperty("locations")[0].GetProperty("physicalLocation");
        Assert.Equal("file:///src/parse.cpp", place.GetProperty("artifactLocation").GetProperty("uri").GetString());
        Assert.Equal(12, place.GetProperty("region").GetProperty("startLine").GetInt32());
        Assert.Contains("class_sizes", TextOf(results[2]), StringComparison.Ordinal);
    }

    [Fact]
    public void Two_reports_are_compared_without_collections()
    {
        AdviceDiff same = Compare(Report, MadeUpNative.Report());
        Assert.All(same.Sites, static site => Assert.Equal(ChangeWord.NoDifference, site.Bytes.Word));
        Assert.Empty(same.Notes);
        AdviceDiff grown = Compare(Report, MadeUpNative.Report(load: 2));
        SiteChange site = Assert.Single(grown.Sites, static site => site.Bytes.Word != ChangeWord.NoDifference);
        Assert.Equal(("demo::parse", ChangeWord.Grew), (site.Site.Method, site.Bytes.Word));
        string text = PrintedText.Of(Terminal, console => AdviceDiffText.Print(console, grown, ("a.json", "b.json"), []));
        Assert.Contains("GREW  block  +100%", text, StringComparison.Ordinal);
        Assert.Contains("server, native, sampled 10.0 of 10.0 s", text, StringComparison.Ordinal);
        Assert.DoesNotContain("collections/s", text, StringComparison.Ordinal);
    }

    private static int OrderOf(SiteAdvice site) => site.Site.Line switch { 12 => 1, 40 => 2, 7 => 3, 30 => 4, _ => 5 };

    private static JsonElement SiteOf(JsonElement report, string method) => Assert.Single(
        report.GetProperty("sites").EnumerateArray(), site => site.GetProperty("method").GetString() == method);

    private static string TextOf(JsonElement result) => result.GetProperty("message").GetProperty("text").GetString()!;

    private static AdviceDiff Compare(AdviceReport before, AdviceReport after) =>
        AdviceDiff.Of(AdviceFile.Read(AdviceJson.Write(before)), AdviceFile.Read(AdviceJson.Write(after)));
}

using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Tidepool.Advice.Tests.Comparing;

public sealed class AdviceDiffTests
{
    private const int Terminal = 80;

    [Theory]
    [InlineData(90, 100, 110, 111, 120, 130, "Grew")]
    [InlineData(90, 100, 110, 109, 120, 130, "NoDifference")]
    [InlineData(111, 120, 130, 90, 100, 110, "Shrank")]
    [InlineData(0, 0, 50, 51, 60, 70, "Came")]
    [InlineData(0, 0, 50, 49, 60, 70, "NoDifference")]
    [InlineData(51, 60, 70, 0, 0, 50, "Went")]
    public void A_rate_differs_where_the_intervals_are_apart(
        double low, double value, double high, double lowNow, double valueNow, double highNow, string expected)
    {
        var change = new RateChange(new Interval(low, value, high), new Interval(lowNow, valueNow, highNow));
        Assert.Equal(expected, change.Word.ToString());
    }

    [Fact]
    public void A_site_that_one_run_did_not_sample_may_have_been_there_unseen()
    {
        var come = MadeUpAdvice.Site("Api.Come", 40e6);
        AdviceDiff diff = Compare(MadeUpAdvice.Report(), MadeUpAdvice.Report(come, MadeUpAdvice.Site("Api.Rare", 40e3)));
        Assert.Equal(ChangeWord.Came, WordOf(diff, "Api.Come"));
        Assert.Equal(ChangeWord.NoDifference, WordOf(diff, "Api.Rare"));
        Assert.Equal(ChangeWord.Went, WordOf(Compare(MadeUpAdvice.Report(come), MadeUpAdvice.Report()), "Api.Come"));
    }

    [Fact]
    public void A_site_is_its_method_and_type_and_who_made_it_whatever_its_line()
    {
        JsonObject moved = MadeUpAdvice.Site("Api.Handle", 40e6);
        moved["line"] = 99;
        JsonObject miss = MadeUpAdvice.Site("Api.Handle", 40e6);
        miss["isPoolMiss"] = true;
        AdviceDiff diff = Compare(MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", 40e6)), MadeUpAdvice.Report(moved, miss));
        Assert.Equal([ChangeWord.Came, ChangeWord.NoDifference], diff.Sites.Select(static site => site.Bytes.Word));
        Assert.Equal(99, diff.Sites[1].Site.Line);
    }

    [Theory]
    [InlineData("bytes:+5%", 110, "NotDecided")] // 99 to 121 beside 90 to 110
    [InlineData("bytes:+20%", 110, "Held")]
    [InlineData("bytes:+5%", 200, "Exceeded")]
    [InlineData("bytes:+100%", 300, "Exceeded")] // 270 is 2.45 times 110
    [InlineData("bytes:+150%", 300, "NotDecided")]
    [InlineData("bytes:+5%", 50, "Held")]
    [InlineData("site:+20%", 300, "Exceeded")]
    [InlineData("site:+200%", 300, "Held")]
    [InlineData("collections:+10%", 300, "Held")]
    [InlineData("pool:+0", 300, "Exceeded")]
    [InlineData("pool:+0", 105, "Held")]
    [InlineData("pool:+1", 300, "Held")]
    [InlineData("fault:+0", 100, "Held")]
    public void A_limit_is_exceeded_only_with_the_whole_interval(string text, double megabytes, string expected)
    {
        Assert.True(FailLimit.TryParse(text, out FailLimit? limit));
        AdviceDiff diff = Compare(
            MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", 100e6)),
            MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", megabytes * 1e6)));
        Assert.Equal(expected, limit.Check(diff).State.ToString());
    }

    [Fact]
    public void A_new_site_exceeds_every_limit_of_a_site_unless_it_is_small()
    {
        JsonObject kept = MadeUpAdvice.Site("Api.Handle", 100e6);
        Assert.True(FailLimit.TryParse("site:+500%", out FailLimit? limit));
        LimitResult found = limit.Check(
            Compare(MadeUpAdvice.Report(kept), MadeUpAdvice.Report(kept, MadeUpAdvice.Site("Api.New", 100e6))));
        Assert.Equal((LimitState.Exceeded, "new, Api.New"), (found.State, found.Found));
        AdviceDiff diff = Compare(MadeUpAdvice.Report(kept), MadeUpAdvice.Report(kept, MadeUpAdvice.Site("Api.New", 1e6)));
        Assert.Equal(ChangeWord.Came, WordOf(diff, "Api.New"));
        Assert.Equal(LimitState.Held, limit.Check(diff).State);
    }

    [Fact]
    public void Collections_and_faults_have_limits_too()
    {
        JsonObject before = MadeUpAdvice.Report();
        JsonObject after = MadeUpAdvice.Report();
        after["collections"]![0]!["perSecond"] = 500;
        after["pools"]!.AsArray().Add(new JsonObject { ["name"] = "lines", ["kind"] = "Buffers", ["verdict"] = "fault" });
        AdviceDiff diff = Compare(before, after);
        string[] exceeded =
        [
            .. from text in (string[])["collections:+100%", "fault:+0", "fault:+1", "bytes:+0%"]
               where FailLimit.TryParse(text, out FailLimit? limit) && limit.Check(diff).State == LimitState.Exceeded
               select text,
        ];
        Assert.Equal(["collections:+100%", "fault:+0"], exceeded);
        Assert.Equal(new PoolChange("lines", "Buffers", null, PoolVerdict.Fault), Assert.Single(diff.Pools));
    }

    [Theory]
    [InlineData("bytes")]
    [InlineData("bytes:5%")]
    [InlineData("bytes:+5")]
    [InlineData("bytes:+5,5%")]
    [InlineData("bytes:+-5%")]
    [InlineData("bytes:+%")]
    [InlineData("bytes:+NaN%")]
    [InlineData("bytes:+10001%")]
    [InlineData("pool:+5%")]
    [InlineData("pool:+1.5")]
    [InlineData("pool:+1001")]
    [InlineData("speed:+5%")]
    [InlineData("")]
    public void What_is_no_limit_is_refused(string text) => Assert.False(FailLimit.TryParse(text, out _));

    [Theory]
    [InlineData("{", "'{'|JSON|end of data")]
    [InlineData("[]", "'schema' is missing")]
    [InlineData("""{"schema":2}""", "its schema is 2, and this version of Tidepool reads 1")]
    [InlineData("""{"schema":1}""", "'process' is missing")]
    public void A_file_that_is_none_is_refused(string text, string message) =>
        Assert.Matches(message, Assert.ThrowsAny<JsonException>(() => AdviceFile.Read(text)).Message);

    [Theory]
    [InlineData("window.sampledSeconds", "0", "nothing was sampled")]
    [InlineData("window.lostEvents", "100000", "100000 events were lost")]
    [InlineData("window.lostEvents", "-1", "'window' cannot be right")]
    [InlineData("window.seconds", "0", "'window' cannot be right")]
    [InlineData("collections.0.perSecond", "-1", "'perSecond' of a collection")]
    [InlineData("collections.0", "null", "an element that is null")]
    [InlineData("pools.0", "null", "an element that is null")]
    [InlineData("sites.0", "null", "an element that is null")]
    [InlineData("sites.0.samples", "-1", "'samples' of Api.Handle is -1")]
    [InlineData("bytesPerSecond.low", "9e99", "no interval")]
    [InlineData("sites.0.bytesPerSecond.low", "-1", "'bytesPerSecond' of Api.Handle is no interval")]
    [InlineData("sites.0.verdict", "\"maybe\"", "sites\\[0\\].verdict")]
    [InlineData("sites.0.verdict", "1", "sites\\[0\\].verdict")]
    [InlineData("sites.0.method", "null", "null")]
    [InlineData("sites.1.method", "\"Api.Handle\"", "twice")]
    public void A_file_whose_numbers_cannot_be_right_is_refused(string path, string value, string message)
    {
        JsonObject report = MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", 1e6), MadeUpAdvice.Site("Api.Other", 1e6));
        string[] steps = path.Split('.');
        JsonNode at = steps[..^1].Aggregate(
            (JsonNode)report, static (node, step) => int.TryParse(step, out int index) ? node[index]! : node[step]!);
        if (at is JsonArray list)
        {
            list.Insert(int.Parse(steps[^1], CultureInfo.InvariantCulture), JsonNode.Parse(value));
        }
        else
        {
            at[steps[^1]] = JsonNode.Parse(value);
        }

        Assert.Matches(message, Assert.ThrowsAny<JsonException>(() => AdviceFile.Read(report.ToJsonString())).Message);
    }

    [Fact]
    public void A_report_without_samples_of_a_runtime_that_may_sample_nothing_is_refused()
    {
        JsonObject report = MadeUpAdvice.Report();
        Assert.Empty(AdviceFile.Read(report.ToJsonString()).Sites);
        report["process"]!["runtime"] = "";
        Assert.Contains(
            "whose version is not known", Assert.Throws<JsonException>(() => AdviceFile.Read(report.ToJsonString())).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Samples_of_two_sites_may_be_more_than_an_int_holds()
    {
        JsonObject report = MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", 1e6), MadeUpAdvice.Site("Api.Other", 1e6));
        foreach (JsonNode? site in report["sites"]!.AsArray())
        {
            site!["samples"] = int.MaxValue;
        }

        Assert.Equal(2, AdviceFile.Read(report.ToJsonString()).Sites.Count);
    }

    [Fact]
    public void A_report_of_advise_can_be_read_back()
    {
        AdviceFile file = AdviceFile.Read(AdviceJson.Write(MadeUpAdvice.Sampled()));
        FileSite site = Assert.Single(file.Sites);
        Assert.Equal(("Orders.Api.Handle", "System.Byte[]", 12, 60), (site.Method, site.Type, site.Line, site.Samples));
        Assert.Equal(Verdict.Pool, site.Verdict);
        Assert.All(AdviceDiff.Of(file, file).Sites, static change => Assert.Equal(ChangeWord.NoDifference, change.Bytes.Word));
    }

    [Fact]
    public void The_text_fits_80_columns_and_says_what_changed_and_which_limit_failed()
    {
        AdviceDiff diff = Compare(
            MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", 100e6), MadeUpAdvice.Site("Api.Same", 7e6)),
            MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", 300e6), MadeUpAdvice.Site("Api.Same", 7e6)));
        string text = Print(diff, "bytes:+5%", "fault:+0");
        Assert.All(text.Split('\n'), static line => Assert.True(line.Length <= Terminal, line));
        Assert.Matches(@"allocated/s +1\d\d MB +3\d\d MB +\+\d+(\.\d)?% \(.* to .*\) +grew", text);
        Assert.Contains("GREW  byte[]  +200%", text, StringComparison.Ordinal);
        Assert.Contains("Api.Handle  Api.cs:12", text, StringComparison.Ordinal);
        Assert.Contains("1 site has no difference.", text, StringComparison.Ordinal);
        Assert.Matches(@"bytes:\+5% +EXCEEDED +\+\d+", text);
        Assert.Matches(@"fault:\+0 +HELD +0 pools are newly misused", text);
    }

    [Fact]
    public void The_json_has_the_fields_of_its_schema()
    {
        JsonObject after = MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", 300e6), MadeUpAdvice.Site("Api.New", 50e6));
        after["pools"]!.AsArray().Add(new JsonObject { ["name"] = "lines", ["kind"] = "Buffers", ["verdict"] = "fault" });
        after["process"]!["name"] = "billing";
        AdviceDiff diff = Compare(MadeUpAdvice.Report(MadeUpAdvice.Site("Api.Handle", 100e6), MadeUpAdvice.Site("Api.Old", 50e6)), after);
        using JsonDocument json = JsonDocument.Parse(AdviceDiffJson.Write(diff, LimitsOf(diff, "bytes:+5%")));
        ReportSchema.AssertFits(json.RootElement, "advise-diff.schema.json");
        JsonElement site = json.RootElement.GetProperty("sites")[0];
        Assert.Equal("grew", site.GetProperty("bytesPerSecond").GetProperty("word").GetString());
        Assert.Equal("exceeded", json.RootElement.GetProperty("limits")[0].GetProperty("state").GetString());
        Assert.Contains("orders before, billing now", json.RootElement.GetProperty("notes")[0].GetString(), StringComparison.Ordinal);
    }

    private static AdviceDiff Compare(JsonObject before, JsonObject after) =>
        AdviceDiff.Of(AdviceFile.Read(before.ToJsonString()), AdviceFile.Read(after.ToJsonString()));

    private static ChangeWord WordOf(AdviceDiff diff, string method) =>
        diff.Sites.Single(site => site.Site.Method == method).Bytes.Word;

    private static LimitResult[] LimitsOf(AdviceDiff diff, params string[] limits) =>
        [.. limits.Select(text => FailLimit.TryParse(text, out FailLimit? limit) ? limit.Check(diff) : throw new ArgumentException(text))];

    private static string Print(AdviceDiff diff, params string[] limits) => PrintedText.Of(
        Terminal, console => AdviceDiffText.Print(console, diff, ("main.json", "branch.json"), LimitsOf(diff, limits)));
}

using System.Text.Json;
using System.Text.RegularExpressions;

namespace Tidepool.Advice.Tests.Advising;

public sealed class SiteTableTests
{
    private static readonly StackPlace Handler = new("Orders", "Orders.Api.Handle", "/src/Api.cs", 12);

    [Fact]
    public void Samples_of_one_type_and_method_are_one_site_with_its_share()
    {
        IReadOnlyList<AllocationSite> sites = SiteTable.Of(
            [
                Slice([Sample("System.Byte[]", 4024, Handler), Sample("System.Byte[]", 4024, Handler with { Line = 10 })]),
                Slice([Sample("System.Byte[]", 4024, Handler), Sample("System.String", 40, Handler)]),
            ],
            new CollectionHistory());
        AllocationSite bytes = sites.Single(static site => site.Type == "System.Byte[]");
        Assert.Equal((3, 2, 12), (bytes.Samples, bytes.Slices, bytes.Line));
        Assert.Equal(3 * 4024 / AllocationEstimate.ProbabilityOf(4024) / 2, bytes.BytesPerSecond.Value, 3);
        Assert.Equal(1, sites.Sum(static site => site.Share), 9);
        Assert.Equal(2, sites.Count);
    }

    [Fact]
    public void Survivors_of_the_whole_process_bound_those_of_a_site()
    {
        SampleSlice small = Slice([.. Enumerable.Repeat(Sample("System.Byte[]", 4024, Handler), 100)]);
        SampleSlice large = Slice([Sample("System.Byte[]", 120_024, Handler) with { IsLarge = true }]);
        Interval bytes = SiteTable.Of([small], new CollectionHistory())[0].BytesPerSecond;
        Assert.True(bytes.Low < 0.9 * bytes.Value);
        var history = new CollectionHistory { Seconds = 10, Reasons = new Dictionary<string, int> { ["OutOfSpaceSOH"] = 1 } };
        Assert.Null(Most(small, new CollectionHistory()));
        Assert.Null(Most(small, history)); // in the background, or its end was not seen
        history = history with { YoungCollections = 1, PromotedBytes = (long)(10 * bytes.Low / 4) };
        Assert.Equal(0.25, Most(small, history)!.Value, 3);
        Assert.Equal(0, Most(small, history with { PromotedBytes = 0 }));
        Assert.Null(Most(large, history)); // no collection has looked at the large object heap
        history = history with { FullCollections = 1, LargeSurvivingBytes = 1_000_000_000 };
        Assert.Equal(1, Most(large, history));

        static double? Most(SampleSlice slice, CollectionHistory history) => SiteTable.Of([slice], history)[0].MostSurviving;
    }

    [Fact]
    public void Lost_events_take_every_verdict_back() => Assert.All(
        Report(lost: 10).Sites, static site => Assert.Equal(Verdict.NotEnoughEvidence, site.Verdict));

    [Theory]
    [InlineData(80)]
    [InlineData(120)]
    public void The_report_fits_one_screen(int width)
    {
        string text = TextOf(Report(lost: 0), width);
        string[] parts = ["POOL  byte[]", "Orders.Api.Handle", "Api.cs:12", "using BufferLease<byte>", "sampled 3.0 of 10.0 s"];
        foreach (string part in parts)
        {
            Assert.Contains(part, text, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void The_json_has_the_fields_of_its_schema()
    {
        using JsonDocument report = JsonDocument.Parse(AdviceJson.Write(Report(lost: 0)));
        JsonElement site = report.RootElement.GetProperty("sites")[0];
        Assert.Equal("pool", site.GetProperty("verdict").GetString());
        Assert.Equal("buffers", site.GetProperty("kind").GetString());
        Assert.Equal(12, site.GetProperty("line").GetInt32());
        JsonElement bytes = site.GetProperty("bytesPerSecond");
        Assert.True(bytes.GetProperty("low").GetDouble() < bytes.GetProperty("value").GetDouble());
        Assert.True(bytes.GetProperty("high").GetDouble() > bytes.GetProperty("value").GetDouble());

        ReportSchema.AssertFits(report.RootElement, "advise.schema.json");
    }

    [Fact]
    public void Lifetimes_are_in_the_text_and_in_the_json()
    {
        AdviceReport followed = Report(lost: 0, new Lifetime(Fate.DiedYoung, 1));
        using JsonDocument report = JsonDocument.Parse(AdviceJson.Write(followed));
        JsonElement lifetime = report.RootElement.GetProperty("sites")[0].GetProperty("lifetime");
        Assert.Equal(60, lifetime.GetProperty("followed").GetInt32());
        Assert.Equal(1, lifetime.GetProperty("dieYoung").GetProperty("value").GetDouble());
        Assert.Equal(7, report.RootElement.GetProperty("window").GetProperty("lifetimes").GetProperty("collections").GetInt32());
        ReportSchema.AssertFits(report.RootElement, "advise.schema.json");
        string text = TextOf(followed, 80);
        Assert.Contains("of 60 followed: 100% (94% to 100%) die young", text, StringComparison.Ordinal);
        Assert.Contains("through 7 collections", text, StringComparison.Ordinal);
        Assert.Contains("--lifetimes follows them", TextOf(Report(lost: 0), 80), StringComparison.Ordinal);
    }

    [Fact]
    public void Several_verdicts_are_on_one_screen_before_the_details()
    {
        AllocationSample[] samples =
        [
            .. Enumerable.Range(0, 40).Select(static _ => Sample("System.Byte[]", 4024, Handler)),
            .. Enumerable.Range(0, 40).Select(static _ => Sample("System.String", 1024, Handler)),
            .. Enumerable.Range(0, 40).Select(
                static i => Sample("System.Collections.Generic.SomethingWithALongName`1[System.Int32]", 64, Handler)),
            .. from site in Enumerable.Range(1, 9)
               from sample in Enumerable.Range(0, 20)
               select Sample("System.Char[]", 100, new StackPlace("Orders", MethodOf(site), "", 0)),
        ];
        string[] lines = TextOf(Report(lost: 0, samples: samples), 80).Split('\n');

        int overview = Array.IndexOf(lines, "") + 1;
        string[] screen = lines[overview..(overview + 8)];
        Assert.Equal("", lines[overview + 8]);
        Assert.InRange(overview + 8, 0, 24);
        Assert.Contains(screen, static line => line.StartsWith("POOL (buffers)       byte[] ", StringComparison.Ordinal)
            && line.EndsWith("Api.Handle:12", StringComparison.Ordinal));
        Assert.Contains(screen, static line => line.StartsWith("DO NOT POOL          String ", StringComparison.Ordinal));
        Assert.Contains(screen, static line => line.Contains("SomethingWithALongN…", StringComparison.Ordinal));
        Assert.Contains(screen, static line => line.EndsWith("  Handler.Method3", StringComparison.Ordinal));
        Assert.Contains(screen, static line => line.EndsWith("  Api..ctor", StringComparison.Ordinal));
        Assert.Contains(screen, static line => line.EndsWith("  Box`1[A.B].Get", StringComparison.Ordinal));
        Assert.All(screen, static line => Assert.InRange(line.Length, 40, 80));
        Assert.Single(Regex.Matches(TextOf(Report(lost: 0), 80), "^POOL ", RegexOptions.Multiline));
        AssertOverview(120, @"^POOL \(buffers\) +byte\[\] .+ \(.+ to .+\)/s .+%  +Api\.Handle:12$");
        AssertOverview(140, @"^POOL \(buffers\) +byte\[\] .+ \(.+ to .+\)/s .+% +4.02 kB to 4.02 kB +Api\.Handle:12$");

        void AssertOverview(int width, string pattern)
        {
            lines = TextOf(Report(lost: 0, samples: samples), width).Split('\n');
            Assert.Single(lines, line => Regex.IsMatch(line, pattern));
            Assert.All(lines, line => Assert.InRange(line.Length, 0, width));
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(19)]
    [InlineData(20)]
    public void A_narrow_terminal_cuts_the_lines(int width) =>
        Assert.NotEmpty(TextOf(Report(lost: 0, samples:
        [
            .. Enumerable.Range(0, 40).Select(static _ => Sample("System.Byte[]", 4024, Handler)),
            .. Enumerable.Range(0, 40).Select(static _ => Sample("System.String", 1024, Handler)),
        ]), width));

    private static string MethodOf(int site) => site switch
    {
        1 => "Orders.Deep.Api..ctor",
        2 => "Orders.Box`1[A.B].Get",
        _ => $"Orders.Deep.Inside.A.Namespace.Handler.Method{site}",
    };

    private static string TextOf(AdviceReport report, int width) => PrintedText.Of(width, console => AdviceText.Print(console, report));

    private static AdviceReport Report(long lost, Lifetime? lifetime = null, AllocationSample[]? samples = null)
    {
        samples ??=
            [.. Enumerable.Range(0, 20).Select(_ => Sample("System.Byte[]", 4024, Handler) with { Lifetime = lifetime })];
        SampleSlice slice = Slice(samples) with { LostEvents = lost };
        var target = new TargetProcess { Id = 1, Name = "orders" };
        var sampling = new SamplingResult
        {
            Slices = [slice, slice, slice],
            Seconds = 10,
            Collections = Comparing.MadeUpAdvice.Collections,
            ProcessorsOn = 1.1,
            ProcessorsOff = 1,
            Lifetimes = lifetime is null ? null : new LifetimeWindow { Seconds = 10, Collections = 7 },
        };
        return AdviceReport.Of(target, sampling, 0.03, new AdviceLimits());
    }

    private static SampleSlice Slice(IReadOnlyList<AllocationSample> samples) => new() { Seconds = 1, Samples = samples };

    private static AllocationSample Sample(string type, long size, StackPlace place) => new() { Type = type, Size = size, Stack = [place] };
}

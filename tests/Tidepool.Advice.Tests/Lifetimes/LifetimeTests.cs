using Tidepool.Advice.Tests.Programs;
using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Lifetimes;

/// <summary>Follows a program that plans how long its objects live and sees by weak references that they do.</summary>
[Trait("Category", "Environment")]
[Trait("Category", "Slow")]
public sealed class LifetimeTests(ITestOutputHelper output)
{
    private const double Seconds = 6;
    private const double NoBudget = 1;
    private const double Slack = 0.05;

    private static readonly string[] Sites = ["Young", "ThroughOne", "Kept", "Half", "Large", "LargeKept"];

    [Fact]
    public async Task What_is_told_of_lifetimes_is_what_weak_references_tell()
    {
        using var child = ChildProcess.Start(LivedProgram.Name);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        SamplingResult result = await new Sampler(target, Seconds, NoBudget, followsLifetimes: true)
            .RunAsync(static (_, _) => { }, CancellationToken.None);
        Dictionary<string, (double Young, double Later, double Kept)> truth = LivedProgram.Parse(child.Ask());
        child.End();
        AdviceReport report = AdviceReport.Of(target, result, NoBudget, new AdviceLimits());
        LifetimeWindow window = result.Lifetimes!;
        output.WriteLine($"{window}");
        Assert.All(Sites, name =>
        {
            SiteLifetime told = Of(report, name).Site.Lifetime!;
            (double young, double later, double kept) = truth[name];
            double all = young + later + kept;
            output.WriteLine($"{name}: {LifetimeText.Line(told)}; weak references: {young / all:P2} young, {kept / all:P2} kept");
            AssertHolds(told.DieYoung, young / all);
            AssertHolds(told.Kept, kept / all);
        });
        Assert.Equal(Verdict.Pool, Of(report, "Young").Verdict);
        Assert.Equal(Verdict.Pool, Of(report, "ThroughOne").Verdict);
        Assert.Equal(Verdict.Pool, Of(report, "Large").Verdict);
        Assert.Equal(Verdict.DoNotPool, Of(report, "Kept").Verdict);
        Assert.Equal(Verdict.DoNotPool, Of(report, "LargeKept").Verdict);
        string page = AdvicePage.Write(report);
        Assert.All(Sites, name => Assert.Contains(
            System.Net.WebUtility.HtmlEncode(LifetimeText.Line(Of(report, name).Site.Lifetime!)), page, StringComparison.Ordinal));
        Assert.Contains($"followed for {window.Seconds:0.0} s through {window.Collections} collections", page, StringComparison.Ordinal);
        Assert.Equal(0, window.LostEvents);
        Assert.True(window is { Collections: > 10, StreamBytes: > 0, IsFull: false, ProcessorsBefore: > 0, PausedWithin: > 0 });
    }

    [Fact]
    public async Task A_recording_stops_when_its_file_is_as_large_as_it_may_be()
    {
        using var child = ChildProcess.Start(LivedProgram.Name);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        using var folder = new TemporaryFolder("tidepool-full-");
        string file = Path.Combine(folder.Info.FullName, "full.nettrace");
        await using SessionFile recording = SessionFile.Open(
            new(target.Id),
            target,
            new([new("Microsoft-Windows-DotNETRuntime", System.Diagnostics.Tracing.EventLevel.Informational, 1)], 16, false, false),
            file,
            CancellationToken.None,
            mostBytes: 10);
        Assert.True(SpinWait.SpinUntil(() => recording.IsFull, TimeSpan.FromSeconds(60)));
        await recording.StopAsync();
        Assert.True(new FileInfo(file).Length > 10);
    }

    private static void AssertHolds(Interval interval, double truth) =>
        Assert.InRange(truth, interval.Low - Slack, interval.High + Slack);

    private static SiteAdvice Of(AdviceReport report, string method) => report.Sites.First(
        site => site.Site.Method.EndsWith("." + method, StringComparison.Ordinal) && site.Site.Type == "System.Byte[]");
}

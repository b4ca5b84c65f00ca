using System.Text.Json;
using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>Advises on planted native programs.</summary>
[Trait("Category", "Environment")]
public sealed class NativeAdviceTests(ITestOutputHelper output)
{
    private const int Seconds = 4;

    // A busy machine allocates less and less evenly; what is rare is far below this too.
    private static readonly AdviceLimits Limits = new() { Processor = 0.001 };

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);

    [NativeProgramFact]
    public async Task What_dies_at_once_is_advised_by_its_kind()
    {
        AdviceReport report = await AdviseAsync("churn");
        AssertPool(report, "fixed_churn", "objects", "block");
        AssertPool(report, "mixed_churn", "buffers", "block");
        SiteAdvice burst = Of(report, "start_burst");
        Assert.Equal(Verdict.NotEnoughEvidence, burst.Verdict);
        Assert.Contains("burst", burst.Reason, StringComparison.Ordinal);
    }

    [NativeProgramFact]
    public async Task Nodes_get_a_resource_and_a_vector_is_told_to_reserve()
    {
        AdviceReport report = await AdviseAsync("containers");
        AssertPool(report, "map_nodes", "resource", "std::map");
        SiteAdvice vector = Of(report, "vector_growth");
        Assert.Equal((Verdict.DoNotPool, "std::vector"), (vector.Verdict, vector.Site.Type));
        Assert.Contains("reserve", vector.Reason, StringComparison.Ordinal);
    }

    [NativeProgramFact]
    public async Task What_another_thread_frees_is_seen()
    {
        AdviceReport report = await AdviseAsync("crossing", Limits with { Processor = 0.0001 });
        AssertPool(report, "handed_over", "objects", "block");
        Assert.Contains("another thread", Of(report, "handed_over").Reason, StringComparison.Ordinal);
        Assert.True(Of(report, "handed_over").Site.FreedElsewhere is { Low: > 0.9 });
    }

    [NativeProgramFact]
    public async Task What_is_kept_and_what_is_rare_is_not_advised()
    {
        AdviceReport cache = await AdviseAsync("cache");
        SiteAdvice kept = Of(cache, "kept_in_cache");
        Assert.Equal(Verdict.DoNotPool, kept.Verdict);
        Assert.Contains("kept", kept.Reason, StringComparison.Ordinal);

        AdviceReport trickle = await AdviseAsync("trickle");
        SiteAdvice rare = Of(trickle, "tiny_rate");
        Assert.Equal(Verdict.DoNotPool, rare.Verdict);
        Assert.Contains("a pool cannot save more", rare.Reason, StringComparison.Ordinal);
    }

    [NativeProgramFact]
    public async Task Size_classes_that_do_not_fit_are_replaced()
    {
        AdviceReport report = await AdviseAsync("classes");
        PoolAdvice classes = Assert.Single(report.Pools.Pools);
        Assert.Equal(("malloc", PoolVerdict.Change), (classes.Name, classes.Verdict));
        Assert.InRange(classes.Classes!.Gain.Value, 0.15, 0.2); // 8320 for 8200 instead of 10240, 2176 for 2100 instead of 2304
        Assert.Contains(" 8320,", Assert.Single(classes.Findings).Native, StringComparison.Ordinal);
        using JsonDocument json = JsonDocument.Parse(AdviceJson.Write(report));
        ReportSchema.AssertFits(json.RootElement, "advise.schema.json");
    }

    [NativeProgramFact]
    public async Task A_program_that_a_shell_executes_has_a_log_of_its_own()
    {
        using var stop = new CancellationTokenSource(Patience);
        string[] words = ["sh", "-c", $"exec {NativePrograms.Planted} trickle 1"];
        NativeRecording recording = await NativeSampler.RunAsync(words, Patience.TotalSeconds, stop.Token);
        Assert.Equal(0, recording.ExitCode);
        Assert.Equal(0, recording.OtherProcesses);
        Assert.Contains(recording.Log.Modules, static module => module.Path == NativePrograms.Planted);
    }

    private static SiteAdvice Of(AdviceReport report, string function) =>
        Assert.Single(report.Sites, site => site.Site.Method == "planted::" + function);

    private static void AssertPool(AdviceReport report, string function, string kind, string type)
    {
        SiteAdvice advice = Of(report, function);
        Assert.Equal(Verdict.Pool, advice.Verdict);
        Assert.Equal(kind, advice.Kind);
        Assert.Equal(type, advice.Site.Type);
        Assert.True(advice.Site.Line > 0 && Path.GetFileName(advice.Site.File) == "planted.cpp", advice.Site.File);
        Assert.NotNull(advice.Before);
        Assert.NotNull(advice.After);
    }

    private async Task<AdviceReport> AdviseAsync(string mode, AdviceLimits? limits = null)
    {
        using var stop = new CancellationTokenSource(Patience);
        string[] words = [NativePrograms.Planted, mode, $"{Seconds}"];
        NativeRecording recording = await NativeSampler.RunAsync(words, Patience.TotalSeconds, stop.Token);
        Assert.Equal(0, recording.ExitCode);
        AdviceReport report = await NativeReport.OfAsync("planted", recording, limits ?? Limits, stop.Token);
        output.WriteLine($"{recording.Log.Blocks.Count} samples, {report.Sampling.Seconds:0.0} s");
        foreach (SiteAdvice site in report.Sites)
        {
            output.WriteLine(
                $"{site.Verdict} {site.Kind} {site.Site.Method} {site.Site.Type} {site.Site.File}:{site.Site.Line} "
                    + $"n={site.Site.Samples} slices={site.Site.Slices} half={site.Site.HalfFreedWithin} "
                    + $" elsewhere={site.Site.FreedElsewhere?.Value}: {site.Reason}");
        }

        return report;
    }
}

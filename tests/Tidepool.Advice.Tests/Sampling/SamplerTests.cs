using System.Reflection;
using System.Text.Json;
using Tidepool.Advice.Tests.Programs;
using Tidepool.Pages;
using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Sampling;

/// <summary>Advises on planted programs, and prints how many sites were found and judged right.</summary>
[Trait("Category", "Environment")]
[Trait("Category", "Slow")]
public sealed class SamplerTests(ITestOutputHelper output)
{
    private const double ShortSeconds = 4;
    private const double SliceSeconds = 0.5;
    private const double NoBudget = 1;
    private const int Runs = 12;
    private const int ManySamples = 300;

    /// <summary>What the sites to pool make, which kind of pool is right, and the bytes of an object where all have the same.</summary>
    private static readonly (string Name, string Type, string Kind, long? Bytes)[] Planted =
    [
        ("Bytes4000", "System.Byte[]", "buffers", 4024), ("Bytes16000", "System.Byte[]", "buffers", 16_024),
        ("Chars3000", "System.Char[]", "buffers", 6024), ("Ints2000", "System.Int32[]", "buffers", 8024),
        ("Doubles1500", "System.Double[]", "buffers", 12_024), ("LargeBytes", "System.Byte[]", "buffers", 120_024),
        ("LargeLongs", "System.Int64[]", "buffers", 160_024), ("MixedBytes", "System.Byte[]", "buffers", null),
        ("Floats4096", "System.Single[]", "buffers", 16_408), ("Stream20000", "System.Byte[]", "streams", null),
        ("Builder8000", "System.Char[]", "objects", null), ("References1000", "System.Object[]", "buffers", 8024),
    ];

    [Fact]
    public async Task Each_planted_site_is_found_and_judged_right_by_default()
    {
        (TargetProcess, SamplingResult)[] looks = await Task.WhenAll(LookAsync(PlantedProgram.Young), LookAsync(PlantedProgram.Kept));
        AdviceReport[] reports = [.. looks.Select(ReportOf)];
        AdviceReport report = reports[0];
        string[] advised = [.. PlantedProgram.ToPool.Where(name => Of(report, name).Any(static s => s.Verdict == Verdict.Pool))];
        string[] traps = [.. PlantedProgram.Traps, PlantedProgram.BurstTrap, .. PlantedProgram.KeptTraps];
        string[] wrong =
        [
            .. reports.SelectMany(static one => one.Sites).Where(
                static s => s.Verdict == Verdict.Pool && !PlantedProgram.ToPool.Any(name => IsAt(s, name)))
                .Select(static s => s.Site.Method),
        ];
        output.WriteLine(
            $"recall {advised.Length}/{PlantedProgram.ToPool.Count}, precision {advised.Length}/{advised.Length + wrong.Length}, "
                + $"{traps.Length} traps");
        Assert.Equal(PlantedProgram.ToPool, advised);
        Assert.Empty(wrong);
        Assert.All(Planted, site => AssertDescribed(report, site.Name, site.Type, site.Kind, site.Bytes));

        // A trap that is not found is not avoided.
        Assert.All(PlantedProgram.Traps, name => AssertJudged(report, name, Verdict.DoNotPool, ""));
        AssertJudged(report, PlantedProgram.BurstTrap, Verdict.NotEnoughEvidence, "a burst");
        Assert.All(
            PlantedProgram.KeptTraps, name => AssertJudged(reports[1], name, Verdict.NotEnoughEvidence, "may outlive a collection"));
        SiteAdvice[] toPool = [.. report.Sites.Where(static s => s.Verdict == Verdict.Pool)];
        Assert.All(
            toPool,
            static s => Assert.True(s.Site.Line > 0 && s.Site.File.EndsWith("PlantedProgram.cs", StringComparison.Ordinal), s.Site.Method));
        AssertWritten(report, toPool);
    }

    [Fact]
    public async Task Intervals_hold_the_rates_that_the_program_counts_itself()
    {
        using var child = ChildProcess.Start(PlantedProgram.Young);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        int held = 0;
        int measured = 0;
        double widest = 0;
        for (int run = 0; run < Runs; run++)
        {
            (double start, Dictionary<string, long> before) = Parse(child.Ask());
            SamplingResult result =
                await new Sampler(target, ShortSeconds, NoBudget).RunAsync(static (_, _) => { }, CancellationToken.None);
            (double end, Dictionary<string, long> after) = Parse(child.Ask());
            AdviceReport report = AdviceReport.Of(target, result, NoBudget, new AdviceLimits());
            foreach (string name in PlantedProgram.Measured)
            {
                double truth = (after[name] - before[name]) / (end - start);
                AllocationSite site = Assert.Single(Of(report, name)).Site;
                Interval rate = site.BytesPerSecond;
                bool holds = rate.Low <= truth && truth <= rate.High;
                held += holds ? 1 : 0;
                measured++;
                widest = site.Samples >= ManySamples ? Math.Max(widest, rate.High / rate.Low) : widest;
                if (!holds)
                {
                    output.WriteLine($"run {run} {name}: {truth / 1e6:0.0} MB/s is not in {rate.Low / 1e6:0.0} to {rate.High / 1e6:0.0}");
                }
            }
        }

        child.End();
        output.WriteLine(
            $"{held} of {measured} intervals hold the truth, {(double)held / measured:P1}; from {ManySamples} samples on the widest is a "
                + $"factor of {widest:0.00}");
        Assert.True(measured >= 200);
        Assert.True(held >= 0.9 * measured, $"{held} of {measured}"); // that it is not too often is held in simulated programs
        Assert.InRange(widest, 1.01, 1.5);
    }

    [Fact]
    public async Task Collections_count_also_while_no_samples_are_taken()
    {
        using var child = ChildProcess.Start(PlantedProgram.Young);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        long before = Parse(child.Ask()).Bytes[PlantedProgram.Collections];
        SamplingResult result =
            await new Sampler(target, ShortSeconds, NoBudget / 1000).RunAsync(static (_, _) => { }, CancellationToken.None);
        long collections = Parse(child.Ask()).Bytes[PlantedProgram.Collections] - before;
        child.End();
        int counted = result.Collections.Reasons.Values.Sum();
        output.WriteLine($"{counted} of {collections} collections, sampled {result.SampledSeconds:0.00} of {result.Seconds:0.0} s");
        Assert.True(result.SampledSeconds < result.Seconds / 5);
        Assert.InRange(counted, 0.5 * collections, collections); // the program goes on before the window and after it
        Assert.InRange(result.Collections.YoungCollections, 0.5 * collections, counted);
    }

    [Fact]
    public async Task What_a_session_records_after_the_slice_is_not_counted()
    {
        using var child = ChildProcess.Start(PlantedProgram.Young);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        DirectoryInfo folder = Directory.CreateTempSubdirectory("tidepool-slice-");
        string file = Path.Combine(folder.FullName, "slice.nettrace");
        try
        {
            await using (SessionFile recording = SessionFile.Open(
                new(child.Id), target, Sampler.ConfigurationOf(target), file, CancellationToken.None))
            {
                await Task.Delay(TimeSpan.FromSeconds(2 * SliceSeconds));
            }

            child.End();
            double all = SampleReader.Read(file, double.MaxValue).Samples.Count;
            RecordedSlice half = SampleReader.Read(file, SliceSeconds);
            output.WriteLine($"{half.Samples.Count} of {all} samples");
            Assert.Equal(SliceSeconds, half.Slice.Seconds);
            Assert.InRange(half.Samples.Count, all / 4, all * 3 / 4);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    /// <summary>The site is to be pooled, by that kind of pool, with the type and the sizes that it has.</summary>
    private static void AssertDescribed(AdviceReport report, string method, string type, string kind, long? bytes)
    {
        SiteAdvice site = Assert.Single(Of(report, method), s => s.Verdict == Verdict.Pool);
        Assert.Equal((type, kind), (site.Site.Type, site.Kind));
        Assert.Equal(bytes ?? site.Site.Quantile(0.5), site.Site.Quantile(0.5));
        Assert.Equal(bytes ?? site.Site.Quantile(1), site.Site.Quantile(1));
        Assert.Equal(kind == "buffers", site.Classes.Count > 0);
    }

    /// <summary>The site has enough samples for a verdict, and has this one for this reason.</summary>
    private static void AssertJudged(AdviceReport report, string method, Verdict expected, string reason)
    {
        SiteAdvice? largest = Of(report, method).MaxBy(static s => s.Site.Samples);
        Assert.NotNull(largest);
        Assert.True(largest.Site.Samples >= new AdviceLimits().Samples, $"{method} has {largest.Site.Samples} samples");
        Assert.True(largest.Verdict == expected, $"{method}: {largest.Verdict}, {largest.Reason}");
        Assert.Contains(reason, largest.Reason, StringComparison.Ordinal);
    }

    /// <summary>The page, the SARIF and the JSON of a real report: names, lines and code of a program, not of a test.</summary>
    private static void AssertWritten(AdviceReport report, SiteAdvice[] toPool)
    {
        string page = AdvicePage.Write(report);
        Assert.InRange(page.Length, 1, AdvicePage.MostBytes);
        using JsonDocument json = JsonDocument.Parse(AdviceJson.Write(report));
        ReportSchema.AssertFits(json.RootElement, "advise.schema.json");
        string root = typeof(SamplerTests).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>()
            .Single(static attribute => attribute.Key == "RepositoryRoot").Value!;
        using JsonDocument sarif = JsonDocument.Parse(SarifReport.Write(report, SourceRoot.Find(root), "1.0.0"));
        JsonElement[] results = [.. sarif.RootElement.GetProperty("runs")[0].GetProperty("results").EnumerateArray()];
        Assert.Equal(toPool.Length, results.Length);
        Assert.All(toPool.Zip(results), pair =>
        {
            (SiteAdvice site, JsonElement result) = pair;
            Assert.Contains($"PlantedProgram.cs:{site.Site.Line}", page, StringComparison.Ordinal);
            Assert.Contains(HtmlPage.Encode(site.After!), page, StringComparison.Ordinal);
            Assert.Contains(site.After!, result.GetProperty("message").GetProperty("text").GetString(), StringComparison.Ordinal);
            JsonElement place = result.GetProperty("locations")[0].GetProperty("physicalLocation");
            string file = place.GetProperty("artifactLocation").GetProperty("uri").GetString()!;
            Assert.True(File.Exists(Path.Combine(root, file)), file);
            Assert.Equal(site.Site.Line, place.GetProperty("region").GetProperty("startLine").GetInt32());
        });
        Assert.Equal(
            results.Length,
            results.Select(static result => result.GetProperty("partialFingerprints").GetProperty("tidepoolAdvice/v1").GetString())
                .Distinct().Count());
    }

    private static IEnumerable<SiteAdvice> Of(AdviceReport report, string method) => report.Sites.Where(site => IsAt(site, method));

    private static bool IsAt(SiteAdvice site, string method) => site.Site.Method.EndsWith("." + method, StringComparison.Ordinal);

    private static (double Seconds, Dictionary<string, long> Bytes) Parse(string said)
    {
        string[] words = said.Split(' ');
        return (
            long.Parse(words[0]) / (double)System.Diagnostics.Stopwatch.Frequency,
            words.Skip(1).Select(static word => word.Split('=')).ToDictionary(static pair => pair[0], static pair => long.Parse(pair[1])));
    }

    /// <summary>Looks with the settings that advise has by default. The program has its burst in the first slice.</summary>
    private static async Task<(TargetProcess Target, SamplingResult Result)> LookAsync(string program)
    {
        using var child = ChildProcess.Start(program);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        SamplingResult result = await new Sampler(target, SamplingPlan.DefaultSeconds, SamplingPlan.DefaultBudget).RunAsync(
            (slice, _) => child.Ask(slice == 1 ? PlantedProgram.StartBurst : ""), CancellationToken.None);
        child.End();
        return (target, result);
    }

    private AdviceReport ReportOf((TargetProcess Target, SamplingResult Result) look)
    {
        AdviceReport report =
            AdviceReport.Of(look.Target, look.Result, SamplingPlan.DefaultBudget, new AdviceLimits(), new PoolCosts());
        output.WriteLine(
            $"{report.Sites.Sum(static s => s.Site.Samples)} samples in {look.Result.SampledSeconds:0.00} of {look.Result.Seconds:0.0} s, "
                + $"cost {look.Result.Cost:P1}, {look.Result.NamingSeconds:0.000} s for the names, "
                + $"{look.Result.ProcessorsOff:0.000} processors busy, lost {report.LostEvents}");
        foreach (var site in report.Sites.Where(static s => s.Site.Samples >= 10))
        {
            output.WriteLine(
                $"{site.Verdict,-18} {site.Site.Method}:{site.Site.Line} {site.Site.Type} {site.Site.Share:P1} n={site.Site.Samples} "
                    + $"slices={site.Site.Slices} {site.Reason}");
        }

        return report;
    }
}

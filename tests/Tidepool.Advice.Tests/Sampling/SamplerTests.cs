using Tidepool.Advice.Tests.Programs;
using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Sampling;

/// <summary>Advises on planted programs, and prints how many sites were found and judged right.</summary>
[Trait("Category", "Environment")]
[Trait("Category", "Slow")]
public sealed class SamplerTests(ITestOutputHelper output)
{
    private const double Seconds = 15;
    private const double Budget = 0.3;

    [Fact]
    public async Task Sites_that_die_young_are_found_and_traps_among_them_are_not_advised()
    {
        AdviceReport report = await AdviseAsync(PlantedProgram.Young);
        string[] advised = [.. PlantedProgram.ToPool.Where(name => Of(report, name).Any(static s => s.Verdict == Verdict.Pool))];
        string[] wrong = [.. PlantedProgram.Traps.Where(name => Of(report, name).Any(static s => s.Verdict == Verdict.Pool))];
        output.WriteLine(
            $"recall {advised.Length}/{PlantedProgram.ToPool.Count}, traps advised {wrong.Length}/{PlantedProgram.Traps.Count}");
        Assert.Empty(wrong);
        Assert.Equal(PlantedProgram.ToPool, advised);
        Assert.All(
            report.Sites.Where(static s => s.Verdict == Verdict.Pool),
            static s => Assert.True(s.Site.Line > 0 && s.Site.File.EndsWith("PlantedProgram.cs", StringComparison.Ordinal), s.Site.Method));
    }

    [Fact]
    public async Task What_is_kept_is_not_advised()
    {
        AdviceReport report = await AdviseAsync(PlantedProgram.Kept);
        Assert.All(PlantedProgram.KeptTraps, name => Assert.NotEmpty(Of(report, name)));
        string[] wrong = [.. PlantedProgram.KeptTraps.Where(name => Of(report, name).Any(static s => s.Verdict == Verdict.Pool))];
        output.WriteLine($"traps advised {wrong.Length}/{PlantedProgram.KeptTraps.Count}");
        Assert.Empty(wrong);
    }

    private static IEnumerable<SiteAdvice> Of(AdviceReport report, string method) =>
        report.Sites.Where(site => site.Site.Method.EndsWith("." + method, StringComparison.Ordinal));

    private async Task<AdviceReport> AdviseAsync(string program)
    {
        using var child = ChildProcess.Start(program);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        SamplingResult result = await new Sampler(target, Seconds, Budget).RunAsync(static (_, _) => { }, CancellationToken.None);
        AdviceReport report = AdviceReport.Of(target, result, Budget, new AdviceLimits());
        child.End();
        output.WriteLine(
            $"{report.Sites.Sum(static s => s.Site.Samples)} samples in {result.SampledSeconds:0.00} of {result.Seconds:0.0} s, "
                + $"cost {result.Cost:P1}, lost {report.LostEvents}");
        foreach (var site in report.Sites.Where(static s => s.Site.Samples >= 10))
        {
            output.WriteLine(
                $"{site.Verdict,-18} {site.Site.Method}:{site.Site.Line} {site.Site.Type} {site.Site.Share:P1} n={site.Site.Samples} "
                    + $"slices={site.Site.Slices} {site.Reason}");
        }

        return report;
    }
}

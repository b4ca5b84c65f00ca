using MathNet.Numerics.Distributions;
using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Natives;

/// <summary>Advises on a native program that counts what each of its sites allocates.</summary>
[Trait("Category", "Environment")]
public sealed class CountedProgramTests(ITestOutputHelper output) : IDisposable
{
    private const int Seconds = 4;
    private const int Runs = 12;

    /// <summary>Of right intervals so few hold the truth with a probability below one in four million, for each of four groups.</summary>
    private const double ByChance = 2.5e-7;
    private const double Held = 0.95;

    // So that little of a processor decides nothing here: the rates are those of a machine that is busy with other tests.
    private static readonly AdviceLimits Limits = new() { Processor = 1e-5 };

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);

    /// <summary>The sites, the right answers, and the shares of the bytes that die young and that are kept.</summary>
    private static readonly (string Name, Verdict Verdict, string? Kind, string Reason, double Young, double Kept)[] Sites =
    [
        ("tiny", Verdict.Pool, "objects", "one size, 24 bytes", 1, 0),
        ("fixed", Verdict.Pool, "objects", "one size, 192 bytes", 1, 0),
        ("mixed", Verdict.Pool, "buffers", "several sizes", 1, 0),
        ("big_young", Verdict.Pool, "buffers", "one size, 200000 bytes", 1, 0),
        ("long_lived", Verdict.DoNotPool, null, "what is kept", 0, 1),
        ("cache", Verdict.Pool, "objects", "they are freed again", 0, 0),
        ("start_burst", Verdict.NotEnoughEvidence, null, "a burst", 1, 0),
        ("third_kept", Verdict.Pool, "objects", "one size, 3000 bytes", 2 / 3.0, 1 / 3.0),
        ("two_thirds_kept", Verdict.DoNotPool, null, "what is kept", 1 / 3.0, 2 / 3.0),
        ("map_nodes", Verdict.Pool, "resource", "the nodes of a std::map", 1, 0),
        ("vector_growth", Verdict.DoNotPool, null, "reserve", 1, 0),
        ("handed_over", Verdict.Pool, "objects", "by another thread", 1, 0),
    ];

    private readonly string _folder = Directory.CreateTempSubdirectory("tidepool-counted-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [NativeProgramFact]
    public async Task Each_site_gets_the_answer_that_its_rate_and_lifetime_ask_for()
    {
        AdviceReport report = (await AdviseAsync()).Report;
        Assert.All(Sites, site =>
        {
            SiteAdvice advice = Of(report, site.Name);
            Assert.Equal((site.Verdict, site.Kind), (advice.Verdict, advice.Kind));
            Assert.Contains(site.Reason, advice.Reason, StringComparison.Ordinal);
            Assert.Equal("counted.cpp", Path.GetFileName(advice.Site.File));
        });
        Assert.True(Of(report, "handed_over").Site.FreedElsewhere is { Low: > 0.9 });
        Assert.True(Of(report, "fixed").Site.FreedElsewhere is { High: < 0.1 });
        Assert.InRange(Of(report, "cache").Site.HalfFreedWithin!.Value, 0.5, 2);
    }

    [NativeProgramFact]
    [Trait("Category", "Slow")]
    public async Task Intervals_hold_what_the_program_counts_itself()
    {
        Group bytes = new("bytes"), blocks = new("blocks"), shares = new("shares"), wholes = new("shares of 0 and 1");
        for (int run = 0; run < Runs; run++)
        {
            var (report, truth) = await AdviseAsync();
            foreach (var site in Sites)
            {
                AllocationSite found = Of(report, site.Name).Site;
                bytes.Add(found.BytesPerSecond, truth[site.Name].Bytes / report.Sampling.Seconds, site.Name, output);
                blocks.Add(found.ObjectsPerSecond, truth[site.Name].Blocks / report.Sampling.Seconds, site.Name, output);
                Group lifetimes = site.Kept is 0 or 1 ? wholes : shares;
                lifetimes.Add(found.Lifetime!.DieYoung, site.Young, site.Name, output);
                lifetimes.Add(found.Lifetime.Kept, site.Kept, site.Name, output);
            }
        }

        Group[] all = [bytes, blocks, shares, wholes];
        Assert.All(all, group => output.WriteLine($"{group.Name}: {group.Right} of {group.All} intervals hold the truth"));
        Assert.All(all, static group => Assert.True(
            group.Right == group.All || Binomial.CDF(Held, group.All, group.Right) > ByChance,
            $"{group.Name}: {group.Right} of {group.All}"));
    }

    private static SiteAdvice Of(AdviceReport report, string function) =>
        Assert.Single(report.Sites, site => site.Site.Method == "counted::" + function);

    private async Task<(AdviceReport Report, Dictionary<string, (double Bytes, double Blocks)> Truth)> AdviseAsync()
    {
        using var stop = new CancellationTokenSource(Patience);
        string file = Path.Combine(_folder, "counts");
        NativeRecording recording =
            await NativeSampler.RunAsync([NativePrograms.Counted, $"{Seconds}", file], Patience.TotalSeconds, stop.Token);
        Assert.Equal(0, recording.ExitCode);
        AdviceReport report = await NativeReport.OfAsync("counted", recording, Limits, stop.Token);
        foreach (SiteAdvice site in report.Sites)
        {
            output.WriteLine(
                $"{site.Verdict} {site.Kind} {site.Site.Method} n={site.Site.Samples} slices={site.Site.Slices}: {site.Reason}");
        }

        return (
            report,
            File.ReadLines(file).Select(static line => line.Split(' '))
                .ToDictionary(static words => words[0], static words => (double.Parse(words[1]), double.Parse(words[2]))));
    }

    /// <summary>Intervals of one kind, and how many of them hold the truth.</summary>
    private sealed class Group(string name)
    {
        public string Name => name;

        public int All { get; private set; }

        public int Right { get; private set; }

        public void Add(Interval interval, double truth, string site, ITestOutputHelper output)
        {
            bool holds = interval.Low <= truth && truth <= interval.High;
            All++;
            Right += holds ? 1 : 0;
            if (!holds)
            {
                output.WriteLine($"{name} of {site}: {truth:g4} is not in {interval.Low:g4} to {interval.High:g4}");
            }
        }
    }
}

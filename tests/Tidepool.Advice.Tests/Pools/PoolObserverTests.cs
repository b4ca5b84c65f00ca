using System.Text.Json;
using Tidepool.Advice.Tests.Advising;
using Tidepool.Advice.Tests.Programs;
using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Pools;

/// <summary>Judges the pools of a program in which each has a known fault or none.</summary>
[Trait("Category", "Environment")]
public sealed class PoolObserverTests(ITestOutputHelper output)
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Each_pool_gets_the_verdict_that_its_use_deserves()
    {
        using var child = ChildProcess.Start(PooledProgram.Name);
        TargetProcess target = TargetCatalog.Find($"{child.Id}");
        using var observer = new PoolObserver(target, CancellationToken.None);
        await ObserveAsync(observer);
        IReadOnlyList<PoolRecord> records = observer.Close();
        TrafficWindow traffic = await TrafficListener.ListenAsync(target, CancellationToken.None);
        child.End();
        PoolReport report = PoolReport.Of(records, traffic, new PoolLimits { Rentals = 100 });
        foreach (PoolAdvice pool in report.Pools)
        {
            string findings = string.Join(" | ", pool.Findings.Select(static f => $"{f.Verdict} {f.Subject}: {f.Reason}"));
            output.WriteLine($"{pool.Name}: {findings}");
        }

        Assert.Equal(0, traffic.LostEvents);
        Assert.Equal(
            new Dictionary<string, (PoolVerdict, string)>
            {
                [PooledProgram.Roomy] = (PoolVerdict.Keep, "capacity"),
                [PooledProgram.Tight] = (PoolVerdict.Change, "capacity"),
                [PooledProgram.TightObjects] = (PoolVerdict.Change, "capacity"),
                [PooledProgram.Oversize] = (PoolVerdict.Change, "oversize"),
                [PooledProgram.Doubled] = (PoolVerdict.Fault, "misuse"),
                [PooledProgram.Leaky] = (PoolVerdict.Fault, "leak"),
                [PooledProgram.Coarse] = (PoolVerdict.Change, "size classes"),
                [PooledProgram.Exact] = (PoolVerdict.Keep, "capacity"),
                [PooledProgram.Held] = (PoolVerdict.Suspect, "leak"),
            }.OrderBy(static pool => pool.Key),
            report.Pools.Where(static pool => pool.Kind != "ArrayPool").OrderBy(static pool => pool.Name)
                .Select(static pool => KeyValuePair.Create(pool.Name, (pool.Verdict, pool.Findings[0].Subject))));
        PoolFinding leak = report.Pools.Single(static pool => pool.Name == PooledProgram.Leaky).Findings[0];
        Assert.Contains(leak.Reports, static text => text.Contains(PooledProgram.LeakingMethod, StringComparison.Ordinal));
        PoolAdvice tight = report.Pools.Single(static pool => pool.Name == PooledProgram.Tight);
        Assert.True(tight.HitRate < 0.5 && tight.HitRates![^1].HitRate > 0.9, $"{tight.HitRate} to {tight.HitRates![^1].HitRate}");
        (PoolVerdict, string)[] arrays = [.. report.Pools.Where(static pool => pool.Kind == "ArrayPool").SelectMany(
            static pool => pool.Findings).Select(static finding => (finding.Verdict, finding.Subject))];
        Assert.Contains((PoolVerdict.Change, "capacity"), arrays);
        Assert.Contains((PoolVerdict.Change, "oversize"), arrays);
        Assert.Contains((PoolVerdict.Suspect, "double return"), arrays);

        using JsonDocument json = JsonDocument.Parse(AdviceJson.Write(ReportOf(target, report)));
        ReportSchema.AssertFits(json.RootElement, "advise.schema.json");
    }

    [Fact]
    public void A_listener_that_was_there_first_hears_of_a_pool_that_says_nothing_by_itself()
    {
        using var child = ChildProcess.Start(EarlyProgram.Name);

        child.End();
    }

    /// <summary>Until what the test looks for has been reported.</summary>
    private static async Task ObserveAsync(PoolObserver observer)
    {
        long end = Environment.TickCount64 + (long)Patience.TotalMilliseconds;
        while (!IsComplete(observer.Peek()) && Environment.TickCount64 < end)
        {
            await Task.Delay(250);
        }
    }

    private static bool IsComplete(IReadOnlyList<PoolRecord> records) =>
        records.Any(static pool => pool.Last.Name == PooledProgram.Leaky && pool.Reports.Count > 0 && pool.Last.MisuseKinds.Length > 0)
        && records.Any(static pool => pool.Last.Name == PooledProgram.Tight && pool.Last.Rented - pool.First.Rented > 2000)
        && records.Any(static pool => pool.Last.Name == PooledProgram.Held && pool.Last.OldestMilliseconds > pool.Seconds * 1000);

    private static AdviceReport ReportOf(TargetProcess target, PoolReport pools) => new()
    {
        Target = target,
        Sampling = new SamplingResult { Slices = [] },
        Pools = pools,
    };
}

namespace Tidepool.Labs.Tests.Threading;

/// <summary>What lab <c>threads</c> counts. Nothing here depends on how fast the machine is.</summary>
[Collection("counted threads")]
[Trait("Category", "Environment")]
public sealed class ThreadProbesTests
{
    private static readonly ChildCommand Child = new("dotnet", [Path.Combine(AppContext.BaseDirectory, "Tidepool.Tool.dll")]);

    public static TheoryData<string, string> Counted
    {
        get
        {
            var data = new TheoryData<string, string>();
            foreach (string way in ItemRunner.All)
            {
                data.Add(way, ItemWork.Empty);
                data.Add(way, ItemWork.Compute);
                data.Add(way, ItemWork.Sleep);
            }

            foreach (string way in ItemRunner.Awaiting)
            {
                data.Add(way, ItemWork.Delay);
            }

            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Counted))]
    public void Every_way_is_counted_with_every_work(string way, string work)
    {
        bool isQuiet = false;
        var found = ThreadProbes.Count(way, work, 20, new ProbeSite(() => isQuiet = true));

        Assert.True(isQuiet);
        Assert.True(found[ThreadProbes.Time] > 0);
        Assert.InRange(found["distinct_threads"], 1, work == ItemWork.Delay ? 40 : 20);
        Assert.Equal(found["distinct_threads"] / 20, found[ThreadProbes.PerItem]);
    }

    [Fact]
    public async Task Callers_that_block_park_or_await_are_all_served()
    {
        var options = new LabRunOptions { Child = Child, Processes = 1, Rounds = 1, Select = key => key.Cell["wait"] is not null };

        var outcome =
            (await new LabRunner(options, _ => { }).RunAsync([LabCatalog.Find("threads")!], CancellationToken.None)).Labs.Single();

        WorkloadKey[] ways = [.. outcome.Plan.Probes.Select(probe => probe.Key).Where(key => key.Cell["wait"] is not null)];
        Assert.Equal([ThreadProbes.BlockedRent, ThreadProbes.ParkedRent, ThreadProbes.AwaitedRent], ways.Select(key => key.Subject));
        Assert.All(ways, key => Assert.True(outcome.Results.Metric(key, "served_after_ns") > 0));
    }
}

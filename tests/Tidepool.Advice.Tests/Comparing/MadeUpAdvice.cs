using System.Text.Json.Nodes;

namespace Tidepool.Advice.Tests.Comparing;

/// <summary>Reports that no program was needed for.</summary>
internal static class MadeUpAdvice
{
    private const double Half = 0.1;

    /// <summary>A file of <c>advise --json</c> whose intervals reach 10 % to both sides.</summary>
    public static JsonObject Report(params JsonObject[] sites)
    {
        double all = sites.Sum(static site => (double)site["bytesPerSecond"]!["value"]!);
        foreach (JsonObject site in sites)
        {
            site["share"] = (double)site["bytesPerSecond"]!["value"]! / all;
        }

        return new JsonObject
        {
            ["schema"] = 1,
            ["process"] = new JsonObject { ["id"] = 1, ["name"] = "orders", ["runtime"] = "10.0.1" },
            ["window"] = new JsonObject { ["seconds"] = 30, ["sampledSeconds"] = 5, ["lostEvents"] = 0 },
            ["bytesPerSecond"] = Rate(all),
            ["collections"] = new JsonArray(new JsonObject { ["reason"] = "AllocSmall", ["perSecond"] = 100 }),
            ["sites"] = new JsonArray([.. sites.Select(static site => site.DeepClone())]),
            ["pools"] = new JsonArray(),
        };
    }

    /// <summary>A site to pool.</summary>
    public static JsonObject Site(string method, double bytesPerSecond) => new()
    {
        ["verdict"] = "pool",
        ["method"] = method,
        ["file"] = "/src/Api.cs",
        ["line"] = 12,
        ["type"] = "System.Byte[]",
        ["bytesPerSecond"] = Rate(bytesPerSecond),
        ["samples"] = 100,
        ["sizes"] = new JsonObject { ["half"] = 4024, ["nineTenths"] = 4024, ["largest"] = 4024 },
        ["comment"] = "a field that no version knows",
    };

    /// <summary>Young collections of a window of ten seconds, which let nothing survive.</summary>
    public static CollectionHistory Collections { get; } = new()
    {
        Seconds = 10,
        Reasons = new Dictionary<string, int> { ["AllocSmall"] = 50 },
        YoungCollections = 50,
    };

    /// <summary>The report on samples of one site to pool.</summary>
    public static AdviceReport Sampled()
    {
        var place = new StackPlace("Orders", "Orders.Api.Handle", "/src/Api.cs", 12);
        AllocationSample[] samples =
            [.. Enumerable.Range(0, 20).Select(_ => new AllocationSample { Type = "System.Byte[]", Size = 4024, Stack = [place] })];
        var slice = new SampleSlice { Seconds = 1, Samples = samples };
        var sampling = new SamplingResult
        {
            Slices = [slice, slice, slice],
            Seconds = 10,
            Collections = Collections,
            ProcessorsOn = 1.1,
            ProcessorsOff = 1,
        };
        return AdviceReport.Of(new TargetProcess { Id = 1, Name = "orders" }, sampling, 0.03, new AdviceLimits());
    }

    /// <summary>A report of many sites and pools, all verdicts among them.</summary>
    /// <param name="sites">How many sites to pool, and as many of each other verdict.</param>
    /// <param name="pools">How many pools.</param>
    /// <param name="method">What their methods are called.</param>
    public static AdviceReport Many(int sites, int pools, string method)
    {
        AdviceReport one = Sampled();
        IEnumerable<SiteAdvice> Sites(int i) =>
        [
            WithMethod(one.Sites[0], $"{method}{i}", 2e9 / (i + 1)),
            WithMethod(one.Sites[0] with { Verdict = Verdict.DoNotPool, Reason = "strings <cannot> be reused." }, $"{method}Not{i}", 1e7),
            WithMethod(one.Sites[0] with { Verdict = Verdict.NotEnoughEvidence, Reason = "a burst." }, $"{method}Burst{i}", 1e4),
        ];
        PlaceRate[] rates = [.. Enumerable.Range(0, 4097).Select(static places => new PlaceRate(places, 1 - 0.9 / (1 + places / 50.0)))];
        var finding = new PoolFinding
        {
            Verdict = PoolVerdict.Fault,
            Subject = "misuse",
            Reason = "a buffer was returned twice.",
            Reports = ["returned twice\n   at Orders.Api.Handle() in /src/Api.cs:line 17"],
        };
        PoolFinding[] findings =
        [
            finding,
            finding with { Verdict = PoolVerdict.Change, Subject = "capacity", Reports = [], After = "Budget = 64 << 20," },
            finding with { Verdict = PoolVerdict.Suspect, Subject = "double return", Reports = [] },
            finding with { Verdict = PoolVerdict.Keep, Subject = "leak", Reports = [] },
        ];
        return one with
        {
            Sites = [.. Enumerable.Range(0, sites).SelectMany(Sites)],
            Pools = new PoolReport
            {
                Pools =
                [
                    .. Enumerable.Range(0, pools).Select(i => new PoolAdvice
                    {
                        Name = $"pool {i}", Kind = "Buffers", RentedPerSecond = 1200, HitRate = 0.1, HitRates = rates, Findings = findings,
                    }),
                ],
            },
        };
    }

    private static SiteAdvice WithMethod(SiteAdvice advice, string method, double rate) => advice with
    {
        Site = advice.Site with
        {
            Method = method,
            BytesPerSecond = new Interval(rate * 0.8, rate, rate * 1.3),
            Sizes = [.. Enumerable.Range(1, 40).Select(static i => (1000L * i * i, 100.0 / i))],
        },
    };

    private static JsonObject Rate(double value) =>
        new() { ["low"] = value * (1 - Half), ["value"] = value, ["high"] = value * (1 + Half) };
}

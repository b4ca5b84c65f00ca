using System.Collections.Concurrent;
using Npgsql;

namespace Tidepool.Labs;

/// <summary>Lab <c>resources</c>: what does a rent cost, and is it fair?</summary>
internal sealed class ResourcesLab : ILab
{
    private const string ByHand = "SemaphoreSlim + ConcurrentQueue";
    private const string Limited = "SemaphoreSlim with a time limit + ConcurrentQueue";
    private const string Ours = "ResourcePool<T>";
    private const string Keyed = "KeyedResourcePool<TKey, T>";
    private const string Provider = "NpgsqlDataSource";
    private const string NoPool = "10 workers, no pool";

    /// <inheritdoc/>
    public string Name => "resources";

    /// <inheritdoc/>
    public string Question => "What does a rent cost, and is it fair?";

    /// <inheritdoc/>
    public string Headline => Ours;

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals["SemaphoreSlim"] = RivalVersion.Of(typeof(SemaphoreSlim));
        plan.Rivals["ConcurrentQueue"] = RivalVersion.Of(typeof(ConcurrentQueue<int>));
        plan.Rivals["Npgsql"] = RivalVersion.Of(typeof(NpgsqlConnection));
        OneCaller(plan);
        ManyCallers(plan);
        SyncCallers(plan);
        SlowWork(plan);
        ColdBurst(plan);
        ServerKilled(plan);
        ManyKeys(plan);
    }

    private static void OneCaller(LabPlan plan)
    {
        Section section = Part("One caller", "Rent an idle resource, use it, return it.", ByHand, "call");
        Cell sync = Cell.Of(("callers", 1), ("call", "synchronous"));
        Cell async = Cell.Of(("callers", 1), ("call", "asynchronous"));
        Cell two = Cell.Of(("callers", 1), ("call", "asynchronous, two held"));
        Add(plan, section, sync, ByHand, false, static () => ResourceLoops<SemaphoreSubject<NoTimeout>, Thing>.One(8));
        AddProvider(plan, section, sync, static () => ResourceLoops<NpgsqlSubject, NpgsqlConnection>.One(8));
        Add(plan, section, sync, Ours, true, static () => ResourceLoops<PoolSubject, ResourceLease<Thing>>.One(8));
        Add(plan, section, async, ByHand, false, static () => ResourceLoops<SemaphoreSubject<NoTimeout>, Thing>.OneAsync(8));
        AddProvider(plan, section, async, static () => ResourceLoops<NpgsqlSubject, NpgsqlConnection>.OneAsync(8));
        Add(plan, section, async, Ours, true, static () => ResourceLoops<PoolSubject, ResourceLease<Thing>>.OneAsync(8));
        Add(plan, section, two, ByHand, false, static () => ResourceLoops<SemaphoreSubject<NoTimeout>, Thing>.TwoAsync(8));
        Add(plan, section, two, Ours, true, static () => ResourceLoops<PoolSubject, ResourceLease<Thing>>.TwoAsync(8));
        plan.Add(Against(Bars.ResourceSync, sync));
        plan.Add(Against(Bars.ResourceAsync, async));
        plan.Add(Against(Bars.ResourceTwo, two));
        plan.Add(new BytesRule(Bars.ResourceBytes, new WorkloadKey(sync, Ours), new WorkloadKey(async, Ours)));
    }

    private static void ManyCallers(LabPlan plan)
    {
        Section section = Part("Many callers", "Callers share few resources; each gives up its thread while it holds one.", ByHand, "load");
        var fairness = new Section
        {
            Title = "How many turns single rentals wait",
            About = "The same, counted in turns: returns of any resource between asking and the return that served it.",
            Layout = SectionLayout.Metrics,
            Varies = ["load"],
        };
        foreach ((int callers, int size, Bar bare, Bar alike) in new[]
        {
            (64, 8, Bars.ResourceMany64, Bars.ResourceMany64Alike), (1000, 50, Bars.ResourceMany1000, Bars.ResourceMany1000Alike),
        })
        {
            Cell cell = Cell.Of(("load", $"{callers} on {size}"));
            Add(plan, section, cell, ByHand, false, () => ResourceLoops<SemaphoreSubject<NoTimeout>, Thing>.Many(callers, size));
            Add(plan, section, cell, Limited, false, () => ResourceLoops<SemaphoreSubject<OneMinute>, Thing>.Many(callers, size));
            if (callers == 64)
            {
                AddProvider(plan, section, cell, () => ResourceLoops<NpgsqlSubject, NpgsqlConnection>.Many(callers, size));
            }

            Add(plan, section, cell, Ours, true, () => ResourceLoops<PoolSubject, ResourceLease<Thing>>.Many(callers, size));
            plan.Add(Against(bare, cell));
            plan.Add(new RatioRule(alike, (new WorkloadKey(cell, Ours), new WorkloadKey(cell, Limited))));
            int turns = 200_000 / callers;
            Cell waits = Cell.Of(("load", $"{callers} on {size}"), ("what", "waits"));
            Add(
                plan, fairness, waits, ByHand, false,
                () => ResourceLoops<SemaphoreSubject<NoTimeout>, Thing>.Fairness(callers, size, turns));
            Add(plan, fairness, waits, Ours, true, () => ResourceLoops<PoolSubject, ResourceLease<Thing>>.Fairness(callers, size, turns));
        }

        plan.Add(
            new MetricRule(
                Bars.ResourceFair,
                ResourceProbes.Spread,
                [.. plan.Probes.Where(p => p.Section == fairness && p.Ours).Select(p => p.Key)]));
    }

    private static void SyncCallers(LabPlan plan)
    {
        Section section = Part(
            "Synchronous callers, more than resources",
            "Eight threads share four resources and park while they wait.",
            ByHand,
            "load");
        Cell cell = Cell.Of(("load", "8 threads on 4"));
        Add(plan, section, cell, ByHand, false, static () => ResourceLoops<SemaphoreSubject<NoTimeout>, Thing>.Threads(8, 4));
        Add(plan, section, cell, Ours, true, static () => ResourceLoops<PoolSubject, ResourceLease<Thing>>.Threads(8, 4));
        plan.Add(Against(Bars.ResourceThreads, cell));
        var threads = new Section { Title = "Threads", About = "32 threads share four resources: "
            + "what the thread pool adds.", Layout = SectionLayout.Metrics, Varies = [] };
        Cell injection = Cell.Of(("load", "32 threads on 4"));
        Add(plan, threads, injection, Ours, true, ResourceProbes.Injection);
        plan.Add(new MetricRule(Bars.ResourceInjection, ResourceProbes.ThreadsAdded, new WorkloadKey(injection, Ours)));
    }

    private static void SlowWork(LabPlan plan)
    {
        Section section = Part("Slow work", "200 callers hold one of 10 resources for 5 ms each; time for all of it.", NoPool, "load");
        Cell cell = Cell.Of(("load", "200 callers, 5 ms, 10"));
        Add(plan, section, cell, NoPool, false, static () => Workers.Work(200, 10), operations: 200);
        Add(
            plan, section, cell, ByHand, false,
            static () => ResourceLoops<SemaphoreSubject<NoTimeout>, Thing>.Work(200, 10), operations: 200);
        Add(plan, section, cell, Ours, true, static () => ResourceLoops<PoolSubject, ResourceLease<Thing>>.Work(200, 10), operations: 200);
        plan.Add(new RatioRule(Bars.ResourceWork, (new WorkloadKey(cell, Ours), new WorkloadKey(cell, NoPool))));
    }

    private static void ColdBurst(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Cold burst",
            About = "100 callers at once at an empty pool of 100, creations take 20 ms; of_ideal is the time over what that many "
                + "creators need at best, after a rehearsal with another pool.",
            Layout = SectionLayout.Metrics,
            Varies = ["creators"],
        };
        foreach (int creators in plan.Mode == LabMode.Full ? new[] { 1, 2, 4, 8, 100 } : [4, 100])
        {
            Add(plan, section, Cell.Of(("creators", creators)), Ours, true, () => ResourceProbes.Burst(creators));
        }

        plan.Add(new MetricRule(Bars.ResourceBurst, ResourceProbes.OfIdeal, new WorkloadKey(Cell.Of(("creators", 4)), Ours)));
    }

    private static void ServerKilled(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Server killed",
            About = "A server on loopback closes all 8 connections while 3 are leased; then 100 more requests.",
            Layout = SectionLayout.Metrics,
            Varies = [],
        };
        Cell cell = Cell.Of(("server", "killed"));
        Add(plan, section, cell, Ours, true, ResourceProbes.Killed);
        plan.Add(new MetricRule(Bars.ResourceKilled, ResourceProbes.ErrorsBeyond, new WorkloadKey(cell, Ours)));
    }

    private static void ManyKeys(LabPlan plan)
    {
        Section section = Part("Keys", "Rent an idle resource of a key, use it, return it.", Ours, "keys");
        Cell hot = Cell.Of(("keys", "one hot key"));
        Cell thousand = Cell.Of(("keys", "1000 keys in turn"));
        Add(plan, section, hot, Ours, true, static () => ResourceLoops<PoolSubject, ResourceLease<Thing>>.OneAsync(8));
        Add(plan, section, hot, Keyed, true, static () => ResourceLoops<KeyedSubject, KeyedResourceLease<int, Thing>>.OneAsync(8));
        var many =
            new Section
            {
                Title = "A thousand keys",
                About = "The same with a thousand keys in turn.",
                Varies = ["keys"],
                Operation = "rental",
            };
        Add(plan, many, thousand, Keyed, true, static () => Thousand());
        plan.Add(new RatioRule(Bars.KeyedHot, (new WorkloadKey(hot, Keyed), new WorkloadKey(hot, Ours))));
        var cold = new Section { Title = "Cold keys", About = "Keys that are used once, and "
            + "what they leave behind.", Layout = SectionLayout.Metrics, Varies = ["keys"] };
        int keys = plan.Mode == LabMode.Full ? 1_000_000 : 100_000;
        Cell cell = Cell.Of(("keys", keys));
        Add(plan, cold, cell, Keyed, true, () => ResourceProbes.ColdKeys(keys));
        plan.Add(new MetricRule(Bars.KeyedBytes, ResourceProbes.BytesPerKey, new WorkloadKey(cell, Keyed)));
    }

    private static SingleThreadLoop Thousand()
    {
        KeyedSubject subject = KeyedSubject.Open(1);
        return new SingleThreadLoop(operations => RunAsync(subject, operations).GetAwaiter().GetResult());

        static async Task RunAsync(KeyedSubject subject, int operations)
        {
            for (int i = 0; i < operations; i++)
            {
                KeyedResourceLease<int, Thing> lease = await subject.RentAsync(i % 1000).ConfigureAwait(false);
                subject.Use(lease);
                subject.Return(lease);
            }
        }
    }

    private static Section Part(string title, string about, string baseline, string varies) => new()
    {
        Title = title,
        About = about,
        Baseline = baseline,
        Varies = [varies],
        Operation = "rental",
    };

    private static RatioRule Against(Bar bar, Cell cell) => new(bar, (new WorkloadKey(cell, Ours), new WorkloadKey(cell, ByHand)));

    /// <summary>What a provider's own pool costs, on the server of this run.</summary>
    private static void AddProvider(LabPlan plan, Section section, Cell cell, Func<Loop> create) => plan.Add(new Workload
    {
        Key = new(cell, Provider),
        Section = section,
        Ours = false,
        Create = () => NpgsqlSubject.On(create),
        Missing = LabServer.Missing,
    });

    private static void Add(
        LabPlan plan, Section section, Cell cell, string subject, bool ours, Func<Loop?> create, int operations = 0) =>
        plan.Add(new Workload
        {
            Key = new(cell, subject),
            Section = section,
            Ours = ours,
            Create = create,
            FixedOperations = operations,
            EveryRounds = operations > 0 ? 3 : 1,
        });

    private static void Add(
        LabPlan plan, Section section, Cell cell, string subject, bool ours, Func<Dictionary<string, double>> measure) => plan.Add(new Probe
    {
        Key = new(cell, subject),
        Section = section,
        Ours = ours,
        Run = _ => measure(),
    });
}

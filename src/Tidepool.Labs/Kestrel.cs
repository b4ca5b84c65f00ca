using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Tidepool.Labs;

/// <summary>Lab <c>kestrel</c>: what does our memory behind Kestrel cost?</summary>
internal sealed class KestrelLab : ILab
{
    private const int Requests = 24_000; // so many that the connections of a batch cost little beside them

    /// <inheritdoc/>
    public string Name => "kestrel";

    /// <inheritdoc/>
    public string Question => "What does Kestrel cost on our memory, beside its own pool?";

    /// <inheritdoc/>
    public string Headline => KestrelNames.Ours;

    /// <inheritdoc/>
    public bool InTour => false; // six servers to warm, on one core

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        bool isFull = plan.Mode == LabMode.Full;
        plan.Rivals["Kestrel"] = RivalVersion.Of(typeof(KestrelServerOptions));
        plan.Rounds = isFull ? 10 : 2;
        plan.Doublings = isFull ? 1 : 0;
        if (LoadClient.Missing is { } missing)
        {
            plan.Hints.Add($"Lab kestrel: {missing}");
        }

        AddRequests(plan, isFull);
        AddBurst(plan, isFull);
    }

    private static void AddRequests(LabPlan plan, bool isFull)
    {
        var section = new Section
        {
            Title = "Time of a request",
            About = "h2load asks for 1 KiB over 16 requests at a time; the server has one core, its client another. A second over the time "
                + "is the requests in a second. Allocated: by the server.",
            Baseline = KestrelMemory.Own.Name(),
            Varies = ["protocol"],
            Operation = "request",
        };
        foreach (KestrelProtocol protocol in Enum.GetValues<KestrelProtocol>())
        {
            foreach (KestrelMemory memory in Enum.GetValues<KestrelMemory>())
            {
                plan.Add(new Workload
                {
                    Key = KeyOf(protocol, memory),
                    Section = section,
                    Ours = memory == KestrelMemory.Tidepool,
                    Create = () => LoadClient.Missing is null ? Open(protocol, memory) : null,
                    Missing = LoadClient.Missing ?? "not available here",
                    FixedOperations = Requests,
                });
            }
        }

        plan.Add(new RatioRule(Bars.KestrelHttp1, PairOf(KestrelProtocol.Http1)));
        plan.Add(new RatioRule(Bars.KestrelHttp2, PairOf(KestrelProtocol.Http2)));
        plan.Add(new RatioRule(Bars.KestrelTls, PairOf(KestrelProtocol.Tls)));
        plan.Add(new BytesNotAboveRule(Bars.KestrelBytes, [.. Enum.GetValues<KestrelProtocol>().Select(PairOf)]));
    }

    private static void AddBurst(LabPlan plan, bool isFull)
    {
        var section = new Section
        {
            Title = "Memory of a burst",
            About = $"{BurstProbe.Clients} clients send {BurstProbe.BodyBytes >> 20} MiB each over HTTP/1.1, and the server reads when "
                + "all of it is there. Pool: bytes of its blocks, leased and idle. RSS: memory of the process.",
            Layout = SectionLayout.Metrics,
            Varies = ["burst"],
            Order = 1,
        };
        Cell cell = Cell.Of(("burst", $"{BurstProbe.Clients} bodies"));
        foreach (KestrelMemory memory in Enum.GetValues<KestrelMemory>())
        {
            plan.Add(new Probe
            {
                Key = new(cell, memory.Name()),
                Section = section,
                Ours = memory == KestrelMemory.Tidepool,
                Run = site => LoadClient.Missing is null ? Burst(memory, isFull ? BurstProbe.Wait : null, site) : null,
                Missing = LoadClient.Missing ?? "not available here",
                Waits = isFull,
            });
        }

        var ours = new WorkloadKey(cell, KestrelNames.Ours);
        plan.Add(isFull
            ? new MetricRule(Bars.KestrelIdle, BurstProbe.Kept, ours)
            : new OmittedRule(Bars.KestrelIdle, $"run with --full: it waits for {BurstProbe.Wait.TotalSeconds:0} s"));
        plan.Add(new MetricRule(Bars.KestrelLeased, BurstProbe.Leased, ours));
        plan.Add(new MetricRule(Bars.KestrelFailed, BurstProbe.Failed, ours));
    }

    private static Dictionary<string, double> Burst(KestrelMemory memory, TimeSpan? wait, ProbeSite site)
    {
        CorePair cores = CorePair.OfThisMachine()!.Value;
        using ServerProcess server = ServerProcess.Start(ChildCommand.OfThisProgram(), cores.Server, memory, watches: true);
        return BurstProbe.Run(server, new LoadClient(cores.Client), wait, site);
    }

    private static WorkloadKey KeyOf(KestrelProtocol protocol, KestrelMemory memory) =>
        new(Cell.Of(("protocol", protocol.Name())), memory.Name());

    private static (WorkloadKey Ours, WorkloadKey Other) PairOf(KestrelProtocol protocol) =>
        (KeyOf(protocol, KestrelMemory.Tidepool), KeyOf(protocol, KestrelMemory.Own));

    private static RequestLoop Open(KestrelProtocol protocol, KestrelMemory memory) =>
        new(PoolServers.Of(memory), new LoadClient(CorePair.OfThisMachine()!.Value.Client), memory, protocol);
}

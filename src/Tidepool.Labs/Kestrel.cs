using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Tidepool.Labs;

/// <summary>Lab <c>kestrel</c>: what does our memory behind Kestrel cost?</summary>
internal sealed class KestrelLab : ILab
{
    /// <inheritdoc/>
    public string Name => "kestrel";

    /// <inheritdoc/>
    public string Question => "What does Kestrel cost on our memory, beside its own pool?";

    /// <inheritdoc/>
    public string Headline => KestrelMemory.Tidepool.Name();

    /// <inheritdoc/>
    public bool InTour => false; // six servers to warm, on one core

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        bool isFull = plan.Mode == LabMode.Full;
        plan.Rivals["Kestrel"] = RivalVersion.Of(typeof(KestrelServerOptions));
        plan.Rounds = isFull ? 8 : 4;
        plan.Doublings = isFull ? 1 : 0;
        if (LoadClient.Missing is { } missing)
        {
            plan.Hints.Add($"Lab kestrel: {missing}");
        }

        AddRequests(plan, isFull);
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
                    FixedOperations = isFull ? 24_000 : 8000,
                });
            }
        }

        plan.Add(new RatioRule(Bars.KestrelHttp1, PairOf(KestrelProtocol.Http1)));
        plan.Add(new RatioRule(Bars.KestrelHttp2, PairOf(KestrelProtocol.Http2)));
        plan.Add(new RatioRule(Bars.KestrelTls, PairOf(KestrelProtocol.Tls)));
    }

    private static WorkloadKey KeyOf(KestrelProtocol protocol, KestrelMemory memory) =>
        new(Cell.Of(("protocol", protocol.Name())), memory.Name());

    private static (WorkloadKey Ours, WorkloadKey Other) PairOf(KestrelProtocol protocol) =>
        (KeyOf(protocol, KestrelMemory.Tidepool), KeyOf(protocol, KestrelMemory.Own));

    private static RequestLoop Open(KestrelProtocol protocol, KestrelMemory memory) =>
        new(PoolServers.Of(memory), new LoadClient(CorePair.OfThisMachine()!.Value.Client), memory, protocol);
}

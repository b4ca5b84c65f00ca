namespace Tidepool.Labs;

/// <summary>Lab <c>http</c>: one HttpClient or one per request?</summary>
internal sealed class HttpLab : ILab
{
    private const int PortRequests = 1200;

    // Lives as long as the process.
    private static readonly Lazy<LoopbackServer> Server = new(() => LoopbackServer.StartAsync("A").GetAwaiter().GetResult());

    /// <inheritdoc/>
    public string Name => "http";

    /// <inheritdoc/>
    public string Question => "One HttpClient, or one for each request?";

    /// <inheritdoc/>
    public string Headline => HttpSubject.Leased;

    /// <inheritdoc/>
    public IReadOnlyList<string> Without => [HttpSubject.PerRequest];

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        plan.Rivals["HttpClient"] = RivalVersion.Of(typeof(HttpClient));
        plan.Rivals["IHttpClientFactory"] = RivalVersion.Of(typeof(IHttpClientFactory));
        Time(plan);
        Sockets(plan);
        Switch(plan);
        Ports(plan);
    }

    private static void Time(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Time of a request",
            About = "Requests one after another to a Kestrel on loopback in the same process, the answer read.",
            Baseline = HttpSubject.Shared,
            Varies = ["requests"],
            Operation = "request",
        };
        foreach (string subject in HttpSubject.All)
        {
            plan.Add(new Workload
            {
                Key = new(Cell.Of(("requests", "one after another")), subject),
                Section = section,
                Ours = subject == HttpSubject.Leased,
                Create = () => Loop(HttpSubject.Open(subject, HttpSubject.NewHandler, TimeSpan.FromMinutes(2))),
                FixedOperations = 20, // each request of a client of its own leaves a socket behind for a minute
            });
        }
    }

    private static AsyncLoop Loop(HttpSubject subject) => new(async operations =>
    {
        Uri address = Server.Value.Address;
        for (int i = 0; i < operations; i++)
        {
            await subject.GetAsync(address).ConfigureAwait(false);
        }
    });

    private static void Sockets(LabPlan plan)
    {
        int requests = plan.Mode == LabMode.Full ? 3000 : 300;
        var section = new Section
        {
            Title = "Sockets that are left",
            About =
                "Requests one after another; then the clients are disposed, and the sockets in TIME_WAIT are counted that have the "
                    + "server's port at either end.",
            Layout = SectionLayout.Metrics,
            Varies = ["sockets"],
        };
        Cell cell = Cell.Of(("sockets", $"{requests} requests"));
        foreach (string subject in HttpSubject.All)
        {
            Add(plan, section, cell, subject, _ => HttpProbes.Sockets(subject, requests));
        }

        plan.Add(new MetricRule(Bars.HttpShared, HttpProbes.TimeWait, new WorkloadKey(cell, HttpSubject.Shared)));
        plan.Add(new MetricRule(Bars.HttpPerRequest, HttpProbes.WithoutSocket, new WorkloadKey(cell, HttpSubject.PerRequest)));
        plan.Add(new NotAboveRule(Bars.HttpOurs, HttpProbes.TimeWait, [new(cell, HttpSubject.Leased)], [new(cell, HttpSubject.Shared)]));
    }

    private static void Switch(LabPlan plan)
    {
        var section = new Section
        {
            Title = "The address changes",
            About = "The service moves from one server to another, which keeps running; a request every 50 ms. Late are answers of "
                + "the old server to requests that began more than the lifetime after the change.",
            Layout = SectionLayout.Metrics,
            Varies = ["change"],
        };
        Cell cell = Cell.Of(("change", $"lifetime {HttpProbes.Lifetime.TotalSeconds:0} s"));
        string[] subjects = [HttpSubject.PerRequest, HttpSubject.Shared, HttpSubject.Renewed, HttpSubject.Factory, HttpSubject.Leased];
        foreach (string subject in subjects)
        {
            Add(plan, section, cell, subject, site => HttpProbes.Switch(subject, site), waits: true);
        }

        plan.Add(new MetricRule(Bars.HttpFollows, HttpProbes.Late, new WorkloadKey(cell, HttpSubject.Leased)));
    }

    private static void Ports(LabPlan plan)
    {
        var section = new Section
        {
            Title = "The ports run out",
            About = $"{PortRequests} requests in a network namespace with {NetworkNamespace.Ports} ports for clients, none of which "
                + "is used again while it is in TIME_WAIT.",
            Layout = SectionLayout.Metrics,
            Varies = ["ports"],
        };
        Cell cell = Cell.Of(("ports", $"{NetworkNamespace.Ports} ports"));
        foreach (string subject in plan.Mode == LabMode.Full ? HttpSubject.All : [HttpSubject.PerRequest, HttpSubject.Leased])
        {
            Add(plan, section, cell, subject, _ => HttpProbes.Ports(subject, PortRequests), within: NetworkNamespace.Enter);
        }

        plan.Add(new MetricRule(Bars.HttpPortsPerRequest, HttpProbes.BeyondPorts, new WorkloadKey(cell, HttpSubject.PerRequest)));
        plan.Add(new MetricRule(Bars.HttpPorts, HttpProbes.Failed, new WorkloadKey(cell, HttpSubject.Leased)));
    }

    private static void Add(
        LabPlan plan,
        Section section,
        Cell cell,
        string subject,
        Func<ProbeSite, Dictionary<string, double>> measure,
        bool waits = false,
        Func<ChildCommand, ChildCommand>? within = null) => plan.Add(new Probe
        {
            Key = new(cell, subject),
            Section = section,
            Ours = subject == HttpSubject.Leased,
            Run = measure,
            Waits = waits,
            Within = within,
        });
}

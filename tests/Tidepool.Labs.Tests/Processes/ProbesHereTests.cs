namespace Tidepool.Labs.Tests.Processes;

/// <summary>Probes that only start programs run in the process of the lab itself.</summary>
public class ProbesHereTests
{
    private static readonly LabRunOptions NoChild = new() { Child = new("/no/such/program", []) };

    [Fact]
    public async Task A_probe_that_starts_programs_needs_no_child()
    {
        var report = await RunAsync(new ProbeLab(waits: false, _ => new Dictionary<string, double> { ["value"] = 7 }));

        Assert.Equal(7, report.Results.Metric(ProbeLab.Key, "value"));
    }

    [Fact]
    public async Task A_probe_that_waits_is_quiet_before_others_begin_and_is_collected_last()
    {
        var said = new List<string>();
        using var others = new ManualResetEventSlim();
        var report = await RunAsync(
            new ProbeLab(waits: true, site =>
            {
                site.Quiet();
                others.Wait(TimeSpan.FromSeconds(20));
                return new Dictionary<string, double> { ["value"] = 8 };
            }),
            progress =>
            {
                said.Add(progress.Step);
                if (progress.Step == "waiting for its idle processes")
                {
                    others.Set();
                }
            });

        Assert.Equal(8, report.Results.Metric(ProbeLab.Key, "value"));
        Assert.True(said.IndexOf("its turn comes") < said.IndexOf("waiting for its idle processes"));
        Assert.Equal("done", said[^1]);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_probe_that_fails_loses_its_row_with_the_reason(bool waits)
    {
        var report = await RunAsync(new ProbeLab(waits, _ => throw new InvalidOperationException("no such thing")));

        Assert.Equal("no such thing", report.Results.Dropped[ProbeLab.Key]);
    }

    [Fact]
    public async Task A_probe_that_finds_nothing_says_what_is_missing()
    {
        var report = await RunAsync(new ProbeLab(waits: true, _ => null));

        Assert.Equal("install it", report.Results.Dropped[ProbeLab.Key]);
    }

    [Fact]
    public async Task A_probe_that_needs_surroundings_of_its_own_gets_them()
    {
        var report = await RunAsync(
            new ProbeLab(waits: false, _ => null) { Within = _ => new("sh", ["-c", "echo in a room of its own; cat"]) });

        Assert.Contains("in a room of its own", report.Results.Dropped[ProbeLab.Key], StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_probe_whose_surroundings_are_not_to_be_had_loses_its_row_with_the_reason()
    {
        var report = await RunAsync(new ProbeLab(waits: false, _ => null) { Within = _ => throw new LabProcessException("no room") });

        Assert.Equal("no room", report.Results.Dropped[ProbeLab.Key]);
    }

    private static async Task<LabOutcome> RunAsync(ILab lab, Action<LabProgress>? progress = null) =>
        Assert.Single((await new LabRunner(NoChild, progress ?? (_ => { })).RunAsync([lab], CancellationToken.None)).Labs);

    private sealed class ProbeLab(bool waits, Func<ProbeSite, IReadOnlyDictionary<string, double>?> run) : ILab
    {
        public static readonly WorkloadKey Key = new(Cell.Of(("probe", "one")), "subject");

        /// <summary>Makes the command of the probe's process; null lets the process of the lab run it.</summary>
        public Func<ChildCommand, ChildCommand>? Within { get; init; }

        public string Name => "probes";

        public string Question => "?";

        public string Headline => "subject";

        public IReadOnlyList<ClassicMatch> Classics => [];

        public void Describe(LabPlan plan) => plan.Add(new Probe
        {
            Key = Key,
            Section = new Section { Title = "probes", About = "", Layout = SectionLayout.Metrics, Varies = [] },
            Ours = true,
            StartsPrograms = Within is null,
            Within = Within,
            Waits = waits,
            Missing = "install it",
            Run = run,
        });
    }
}

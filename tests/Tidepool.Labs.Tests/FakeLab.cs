namespace Tidepool.Labs.Tests;

/// <summary>A small lab whose results are given, not measured.</summary>
internal sealed class FakeLab : ILab
{
    public static readonly Bar FastBar = new("fake.fast", "fake", "ours is at most half", BarKind.Ratio, 0.5);
    public static readonly Bar BytesBar = new("fake.bytes", "fake", "ours allocates nothing", BarKind.Count, 0);
    public static readonly Bar HeldBar = new("fake.held", "fake", "at most 10 % held", BarKind.Count, 10);

    public static readonly Cell Main = Cell.Of(("type", "byte"), ("length", 100));
    public static readonly WorkloadKey Rival = new(Main, "Rival<T>");
    public static readonly WorkloadKey Ours = new(Main, "Ours<T>");
    public static readonly WorkloadKey Absent = new(Main, "Absent<T>");
    public static readonly WorkloadKey Held = new(Cell.Of(("after", "60 s")), "Ours<T>");

    public string Name => "fake";

    public string Question => "Is <ours> faster & smaller?";

    public string Headline => Ours.Subject;

    public IReadOnlyList<ClassicMatch> Classics => [];

    public static LabReport Report(bool stopped = false)
    {
        var results = new LabResults(seed: 7);
        for (int process = 0; process < 3; process++)
        {
            results.Add(Rival, process, 0, Samples(10, 24));
            results.Add(Ours, process, 0, Samples(4, 0));
        }

        results.Drop(Absent, "not in this version");
        results.Add(Held, new Dictionary<string, double> { ["held_percent"] = 2.5, ["rss_MiB"] = 100 });
        return Report(results, stopped);
    }

    public static LabReport Report(LabResults results, bool stopped = false, bool hasBars = true)
    {
        var lab = new FakeLab();
        var plan = LabPlan.Of(lab, LabMode.Quick);
        var outcome = new LabOutcome(lab, plan, results, 3, [.. plan.Rules.Where(_ => hasBars).Select(rule => rule.Judge(results))]);
        var options = new LabRunOptions { Seed = 7, Child = new ChildCommand("none", []) };
        return new LabReport(MachineInfo.OfThisMachine(), options, [outcome], stopped);
    }

    public static IEnumerable<Sample?> Samples(double nanoseconds, double bytes, int count = 12) =>
        Enumerable.Range(0, count).Select(round => (Sample?)new Sample(nanoseconds + (0.01 * (round % 3)), bytes, 0.001, 0, 0));

    public void Describe(LabPlan plan)
    {
        var section = new Section { Title = "Title <b>", About = "About & more.", Baseline = Rival.Subject, Varies = ["type", "length"] };
        foreach (var (key, ours) in new[] { (Rival, false), (Ours, true), (Absent, false) })
        {
            plan.Add(new Workload { Key = key, Section = section, Ours = ours, Create = () => null });
        }

        var metrics = new Section { Title = "Memory", About = "Held.", Layout = SectionLayout.Metrics, Varies = ["after"] };
        plan.Add(new Probe { Key = Held, Section = metrics, Ours = true, Run = _ => null });
        plan.Rivals["Rival"] = "1.2.3";
        plan.Add(new RatioRule(FastBar, (Ours, Rival)));
        plan.Add(new RatioRule(FastBar with { Id = "fake.absent" }, (Ours, Absent)));
        plan.Add(new BytesRule(BytesBar, Ours));
        plan.Add(new MetricRule(HeldBar, "held_percent", Held));
    }
}

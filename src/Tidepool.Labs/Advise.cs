using System.Globalization;
using System.Text.Json;

namespace Tidepool.Labs;

/// <summary>Lab <c>advise</c>: what does it cost a program to be looked at, and is the advice true?</summary>
internal sealed class AdviseLab : ILab
{
    private const string Watched = "a program that is looked at";
    private const string Alone = "the same program, alone";
    private const string AfterWindow = "seconds after the window";
    private const int QuickPairs = 3;
    private const int ToolSeconds = 8;
    private const int UndisturbedSeconds = 3; // --lifetimes looks for so long before the window
    private const string Peak = "peak memory in MB";

    private static readonly string Rate =
        string.Create(CultureInfo.InvariantCulture, $"{AllocatingProgram.BytesPerSecond / 1e9:0} GB/s");

    /// <inheritdoc/>
    public string Name => "advise";

    /// <inheritdoc/>
    public string Question => "What does it cost a program to be looked at, and is the advice true?";

    /// <inheritdoc/>
    public string Headline => Watched;

    /// <inheritdoc/>
    public bool InTour => false; // its windows alone take minutes

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics => [];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        bool isFull = plan.Mode == LabMode.Full;
        plan.Processes = 1; // a pair is one process, whose code is compiled once and for all
        plan.Rounds = isFull ? 16 : 2;
        plan.Doublings = 0;
        plan.Rivals["new"] = RivalVersion.Of(typeof(object));
        if (CorePair.Missing is { } missing)
        {
            plan.Hints.Add($"Lab advise: {missing}");
        }

        Section working = SectionOf(AllocatingPace.Working);
        plan.Add(new RatioRule(Bars.AdviseOverhead, AddPair(plan, working, AllocatingPace.Working, Observer.Advise)));
        plan.Add(new RatioRule(Bars.WatchOverhead, AddPair(plan, working, AllocatingPace.Working, Observer.Watch)));
        Section saturated = SectionOf(AllocatingPace.Saturated);
        AddPair(plan, saturated, AllocatingPace.Saturated, Observer.Advise);
        AddPair(plan, saturated, AllocatingPace.Saturated, Observer.Watch);
        NativeCost.Describe(plan, Rate, order: 2);
        AddTool(plan);
        AddSavings(plan, isFull);
    }

    private static Section SectionOf(AllocatingPace pace) => new()
    {
        Title = pace == AllocatingPace.Working ? $"A program that allocates {Rate}" : "A program that only allocates",
        About = "A program on one core allocates small arrays that die young, under a stack of 20 frames, and reads them. "
            + "From another core tidepool looks at it with its default settings: "
            + $"advise for {ObservedProgram.SecondsOf(Observer.Advise)} s, watch for {ObservedProgram.SecondsOf(Observer.Watch)} s. "
            + "The window begins when the tool is started and ends when it has ended. "
            + (pace == AllocatingPace.Working ? $"The program computes just enough between two arrays to allocate {Rate}. " : "")
            + "Time is that of a million bytes.",
        Baseline = Alone,
        Varies = ["tool"],
        Operation = "million bytes",
        Order = pace == AllocatingPace.Working ? 0 : 1,
    };

    private static (WorkloadKey Watched, WorkloadKey Alone) AddPair(LabPlan plan, Section section, AllocatingPace pace, Observer observer)
    {
        bool isWorking = pace == AllocatingPace.Working;
        int seconds = ObservedProgram.SecondsOf(observer);
        Cell cell = Cell.Of(("pace", isWorking ? Rate : "saturated"), ("tool", observer == Observer.Advise ? "advise" : "watch"));
        foreach (var (name, one) in ((string, Observer?)[])[(Alone, null), (Watched, observer)])
        {
            plan.Add(new Workload
            {
                Key = new(cell, name),
                Section = section,
                Ours = name == Watched,
                Create = () => CorePair.Missing is null ? new ObservedLoop(pace, one, seconds) : null,
                Missing = CorePair.Missing ?? "not available here",
                FixedOperations = (int)(seconds * AllocatingProgram.BytesPerSecond / 1e6),
                EveryRounds = isWorking ? 1 : plan.Mode == LabMode.Full ? 9 : 3, // odd, so that both orders take turns
            });
        }

        return (new(cell, Watched), new(cell, Alone));
    }

    private static void AddTool(LabPlan plan)
    {
        var section = new Section
        {
            Title = "The tool itself",
            About = $"advise looks at the same program for {ToolSeconds} s. What it takes beyond them, and beyond the "
                + $"{UndisturbedSeconds} s for which --lifetimes looks before, has its own start in it; for watch, which shows a line "
                + "each second, it is the time to the first line. Cost is what advise prints of itself. The first look more: time "
                + "that the first watch costs a program more than the next, because the program compiles what it is asked.",
            Layout = SectionLayout.Metrics,
            Varies = ["run"],
            Order = 4,
        };
        var advise = new WorkloadKey(Cell.Of(("run", "advise")), "tidepool advise");
        var whole = new WorkloadKey(Cell.Of(("run", "advise, all of it")), "tidepool advise --lifetimes --html");
        var watch = new WorkloadKey(Cell.Of(("run", "watch")), "tidepool watch");
        AddProbe(advise, static () => ObserveByAdvise(isWhole: false));
        AddProbe(whole, static () => ObserveByAdvise(isWhole: true));
        AddProbe(watch, ObserveByWatch);
        plan.Add(new MetricRule(Bars.AdviseAnswer, AfterWindow, advise, whole));
        plan.Add(new MetricRule(Bars.AdviseMemory, Peak, advise, whole, watch));

        void AddProbe(WorkloadKey key, Func<Dictionary<string, double>> run) => plan.Add(new Probe
        {
            Key = key,
            Section = section,
            Ours = true,
            Run = _ => CorePair.Missing is null ? run() : null,
            Missing = CorePair.Missing ?? "not available here",
        });
    }

    private static void AddSavings(LabPlan plan, bool isFull)
    {
        var section = new Section
        {
            Title = "Is the estimated saving true?",
            About = "advise looks at a program that pools nothing, and estimates what pooling saves: bytes and processor time of an "
                + "operation. Then advise --verify runs the program without and with a pool. Outside: the verified bytes or the verified "
                + "time are not within the estimate. A time of at most 0 says that none can be told; then the runs must not tell any. "
                + "Tiny objects and kept arrays are traps: outside are those that are advised, or whose runs save time.",
            Layout = SectionLayout.Metrics,
            Varies = ["habit"],
            Order = 5,
        };
        PlantedPair[] pairs = [.. isFull ? PlantedPairs.All : PlantedPairs.All.Take(QuickPairs)];
        foreach (PlantedPair pair in pairs)
        {
            plan.Add(new Probe
            {
                Key = KeyOf(pair),
                Section = section,
                Ours = true,
                StartsPrograms = true,
                Run = _ => CorePair.Missing is null ? SavingProbe.Run(pair) : null,
                Missing = CorePair.Missing ?? "not available here",
            });
        }

        AddRule(Bars.AdviseSavings, isTrap: false);
        AddRule(Bars.AdviseTraps, isTrap: true);

        void AddRule(Bar bar, bool isTrap)
        {
            WorkloadKey[] keys = [.. PlantedPairs.All.Where(pair => pair.IsTrap == isTrap).Select(KeyOf)];
            plan.Add(isFull
                ? new SumRule(bar, SavingProbe.Outside, keys)
                : new OmittedRule(bar, $"run with --full: it takes {keys.Length} programs"));
        }

        static WorkloadKey KeyOf(PlantedPair pair) => new(Cell.Of(("habit", pair.Name)), "estimate and truth");
    }

    private static Dictionary<string, double> ObserveByAdvise(bool isWhole)
    {
        ObservedProgram.Set(AllocatingPace.Working);
        var (run, report) = ToolRun.WithReport(file => ObservedProgram.Observe(
            Observer.Advise,
            ToolSeconds,
            ["--json", file, .. isWhole ? (string[])["--lifetimes", "--html", Path.ChangeExtension(file, "html")] : []]));
        JsonElement window = report.GetProperty("window");
        return new()
        {
            [AfterWindow] = run.Seconds - ToolSeconds - (isWhole ? UndisturbedSeconds : 0),
            [Peak] = run.PeakBytes / 1e6,
            ["cost_percent"] = 100 * window.GetProperty("cost").GetDouble(),
            ["sampled_percent"] = 100 * window.GetProperty("sampledSeconds").GetDouble() / window.GetProperty("seconds").GetDouble(),
        };
    }

    /// <summary>Watches a fresh program twice: it compiles once what it is asked to do each second.</summary>
    private static Dictionary<string, double> ObserveByWatch()
    {
        ObservedProgram.Set(AllocatingPace.Working);
        AllocatingState start = ObservedProgram.Ask();
        int seconds = ObservedProgram.SecondsOf(Observer.Watch);
        ToolRun run = ObservedProgram.Observe(Observer.Watch, seconds);
        AllocatingState between = ObservedProgram.Ask();
        ObservedProgram.Observe(Observer.Watch, seconds);
        AllocatingState end = ObservedProgram.Ask();

        // It is looked at in both windows, so neither is held to its pace.
        double again = ObservedLoop.TimeOfMegabyte(AllocatingPace.Saturated, between, end);
        double megabytes = (between.Allocated - start.Allocated) / 1e6;
        return new()
        {
            [AfterWindow] = run.FirstLineSeconds ?? throw new LabProcessException("watch printed no line."),
            [Peak] = run.PeakBytes / 1e6,
            ["the first look more_ns"] = (ObservedLoop.TimeOfMegabyte(AllocatingPace.Saturated, start, between) - again) * megabytes,
        };
    }
}

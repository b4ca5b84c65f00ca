using System.Globalization;

namespace Tidepool.Labs;

/// <summary>How much memory: at the peak, after everything was returned, at the start, and lost to rounding.</summary>
internal static class NativeResidency
{
    private const string Freed = "freed";
    private const string Waste = "waste";
    private const string TunerProfile = "peaks";
    private const string ResidentRatio = "resident_ratio";
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(3);
    private static readonly int[] SmallSizes = [2_049, 3_000, 4_097, 5_000, 6_500, 9_000, 17_000, 32_000];
    private static readonly int[] Sizes = [33_000, 40_000, 65_600, 132_000];
    private static readonly string[] SizeRivals = ["mimalloc", "jemalloc", "tcmalloc"];
    private static readonly string[] Orders = ["order", "shuffled", "thread"];
    private static readonly string[] Distributions = ["log-uniform", "uniform", "small", "powers", "above-powers", TunerProfile];
    private static readonly Cell StartCell = Cell.Of(("program", "a C program that allocates 100 bytes"));
    private static readonly Cell TunerCell = Cell.Of(("distribution", "three peaks, recorded"));

    /// <summary>Adds probes, workloads and verdicts.</summary>
    public static void Describe(LabPlan plan)
    {
        AddFreed(plan);
        AddPauses(plan);
        AddStart(plan);
        AddWaste(plan);
        AddRounding(plan);
        AddThreads(plan);
        AddLimited(plan);
        AddTuner(plan);
    }

    private static Cell FreedCell(string order) => Cell.Of(("blocks", "256 MiB"), ("returned", order switch
    {
        "order" => "in the order of renting",
        "shuffled" => "in a random order",
        _ => "by another thread",
    }));

    private static void AddFreed(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Memory after 256 MiB was returned",
            About = "351,615 blocks of 16 to 4095 bytes are rented, written and returned; then the program does nothing for two "
                + "seconds. Resident memory of the whole process: at the peak, at once after the last return, after the idle time; "
                + "and how much more the blocks took than was asked for.",
            Layout = SectionLayout.Metrics,
            Varies = ["returned"],
        };
        bool isFull = plan.Mode == LabMode.Full;
        string[] orders = isFull ? Orders : Orders[..1];
        NativeSubject[] mallocs = NativeSubjects.Mallocs(plan.Mode);
        NativeSubject[] subjects = isFull ? [.. mallocs, NativeSubjects.MutexPool] : mallocs;
        foreach (string order in orders)
        {
            foreach (var subject in subjects)
            {
                plan.Add(DriverProbe(section, FreedCell(order), subject, waits: true, Freed, order));
            }
        }

        WorkloadKey[] ours = [.. orders.Select(order => new WorkloadKey(FreedCell(order), NativeSubjects.Shared.Name))];
        plan.Add(new MetricRule(Bars.IdleResident, "idle_MiB", ours));
        plan.Add(new MetricRule(Bars.PeakOverhead, "overhead_percent", ours));
    }

    private static void AddPauses(LabPlan plan)
    {
        if (plan.Mode != LabMode.Full)
        {
            plan.Add(new OmittedRule(Bars.PausedBulk, "waits too long for the quick tour: --full"));
            return;
        }

        var cell = Cell.Of(("pattern", "bulk with pauses"), ("pause", "3 s"));
        var section = new Section
        {
            Title = "Bulk with pauses",
            About = "The classic experiment at 64, 256, 1024 and 4096 bytes, again and again, with three seconds in between in which "
                + "the process does nothing: what it costs to give memory back. The first two pauses are not timed: an allocator may "
                + "learn from them.",
            Baseline = NativeSubjects.CLibrary.Name,
            Varies = ["pause"],
            Operation = "block",
        };
        string command = $"paused {Pause.TotalMilliseconds:0} 64 256 1024 4096";
        foreach (var subject in NativeSubjects.Mallocs(plan.Mode))
        {
            // A driver of its own: in the one that serves the other cells nothing would be idle.
            plan.Add(new Workload
            {
                Key = new(cell, subject.Name),
                Section = section,
                Ours = subject.Ours,
                Create = () => subject.Missing is null ? new DriverLoop(new DriverProcess(subject), command) : null,
                Missing = subject.Missing ?? "not available here",
                EveryRounds = 4,
                FixedOperations = 1,
            });
        }

        plan.Add(new RatioRule(Bars.PausedBulk, (new(cell, NativeSubjects.Shared.Name), new(cell, NativeSubjects.Mimalloc.Name))));
    }

    private static void AddStart(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Start-up",
            About = "Resident anonymous memory of a C program that has allocated and freed 100 bytes.",
            Layout = SectionLayout.Metrics,
            Varies = ["program"],
        };
        foreach (var subject in NativeSubjects.Mallocs(plan.Mode))
        {
            plan.Add(subject.NewProbe(
                section,
                StartCell,
                site => NativeBuild.Program("start") is { } program
                    ? new Dictionary<string, double>
                    {
                        ["anonymous_MiB"] = NativeTool.Run(program, [], site, subject.LibraryPath)["anonymous_KiB"] / 1024
                    }
                    : null,
                otherwise: NativeBuild.Missing));
        }

        plan.Add(new MetricRule(Bars.StartResident, "anonymous_MiB", new WorkloadKey(StartCell, NativeSubjects.Shared.Name)));
    }

    private static void AddWaste(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Waste by distribution of sizes",
            About = "32 MiB of blocks, all held. Rounding: usable over requested bytes. Resident: memory over requested bytes, with "
                + "headers and parts of pages. Distributions: log-uniform and uniform to 4096 bytes, geometric around 64, powers of "
                + "two, one byte above them, three peaks.",
            Layout = SectionLayout.Metrics,
            Varies = ["distribution"],
        };
        foreach (string distribution in plan.Mode == LabMode.Full ? Distributions : [TunerProfile])
        {
            AddDrivers(plan, section, Cell.Of(("distribution", distribution)), Waste, distribution);
        }
    }

    private static Cell SizeCell(int size) => Cell.Of(("bytes", size.ToString(CultureInfo.InvariantCulture)));

    private static void AddRounding(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Resident memory of blocks of one size",
            About =
                "256 MiB of blocks of one size, written and held: resident over requested bytes. "
                    + "Huge pages make resident what rounding leaves unused.",
            Layout = SectionLayout.Metrics,
            Varies = ["bytes"],
        };
        int[] small = plan.Mode == LabMode.Full ? SmallSizes : SmallSizes[..1];
        int[] large = plan.Mode == LabMode.Full ? Sizes : Sizes[..1];
        foreach (int size in small.Concat(large))
        {
            AddDrivers(plan, section, SizeCell(size), "rounding", size.ToString(CultureInfo.InvariantCulture));
        }

        string[] rivals = [.. NativeSubjects.Mallocs(plan.Mode).Select(subject => subject.Name).Intersect(SizeRivals)];
        plan.Add(new AboveWorstRule(Bars.SmallRounding, ResidentRatio, [.. small.Select(size => (OursOf(size), Rivals(size)))]));
        plan.Add(new MetricRule(Bars.LargeRounding, ResidentRatio, [.. large.Select(OursOf)]));

        static WorkloadKey OursOf(int size) => new(SizeCell(size), NativeSubjects.Shared.Name);
        IReadOnlyList<WorkloadKey> Rivals(int size) => [.. rivals.Select(name => new WorkloadKey(SizeCell(size), name))];
    }

    private static void AddThreads(LabPlan plan)
    {
        var cell = Cell.Of(("threads", "1,000, each with 28 sizes"));
        var section = new Section
        {
            Title = "Resident memory of a thread",
            About = "Threads that have rented, written and returned 16 blocks of each of 28 sizes from 16 to 6,617 bytes, and stay: "
                + "resident memory for each, with its stack.",
            Layout = SectionLayout.Metrics,
            Varies = ["threads"],
        };
        AddDrivers(plan, section, cell, "threads", "1000");
        plan.Add(new MetricRule(Bars.ThreadResident, "thread_MB", new WorkloadKey(cell, NativeSubjects.Shared.Name)));
    }

    private static void AddLimited(LabPlan plan)
    {
        var cell = Cell.Of(("limit", "4 GiB of address space"));
        var section = new Section
        {
            Title = "A program that limits itself",
            About = "After its first allocation a program sets its own limit of address space, maps a megabyte, starts a thread and "
                + "allocates until nothing is left. What of the three failed or went beyond the limit, and how much it got.",
            Layout = SectionLayout.Metrics,
            Varies = ["limit"],
        };
        AddDrivers(plan, section, cell, "limited");
        plan.Add(new MetricRule(Bars.LimitedProgram, "failed_count", new WorkloadKey(cell, NativeSubjects.Shared.Name)));
    }

    private static void AddTuner(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Size classes from a recorded profile",
            About = "A program with three frequent sizes (264, 648 and 1160 bytes) runs with the profile on; tidepool-tune makes "
                + "size classes from it. Bytes lost to rounding with the built-in classes and with the tuned ones.",
            Layout = SectionLayout.Metrics,
            Varies = ["distribution"],
        };
        plan.Add(
            NativeSubjects.Shared.NewProbe(
                section, TunerCell, static site => NativeTuner.Measure(TunerProfile, site), otherwise: NativeBuild.Missing));
        plan.Add(new MetricRule(Bars.TunedWaste, NativeTuner.Remaining, new WorkloadKey(TunerCell, NativeSubjects.Shared.Name)));
    }

    /// <summary>Adds the row of each allocator: a driver of its own runs the command.</summary>
    private static void AddDrivers(LabPlan plan, Section section, Cell cell, params string[] arguments)
    {
        foreach (var subject in NativeSubjects.Mallocs(plan.Mode))
        {
            plan.Add(DriverProbe(section, cell, subject, waits: false, arguments));
        }
    }

    private static Probe DriverProbe(Section section, Cell cell, NativeSubject subject, bool waits, params string[] arguments) =>
        subject.NewProbe(section, cell, site => subject.RunOnce(site, arguments), waits);
}

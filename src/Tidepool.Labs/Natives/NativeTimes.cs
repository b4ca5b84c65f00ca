namespace Tidepool.Labs;

/// <summary>The grid of times: every malloc, the two of the classic experiment, and ours.</summary>
internal static class NativeTimes
{
    /// <summary>The cell of a phase of bulk on one thread.</summary>
    public static Cell PhasePoint(LoopPhase phase, int size) =>
        Cell.Of(("phase", phase == LoopPhase.Renting ? "allocate" : "free"), ("size", size));

    /// <summary>Adds workloads, the rows that come from them, and verdicts.</summary>
    public static void Describe(LabPlan plan)
    {
        var grid = new NativeGrid(plan.Mode);
        AddCells(plan, grid);
        AddPhases(plan);
        AddGroups(plan, grid);
        Judge(plan, grid);
    }

    /// <summary>A workload that a driver runs.</summary>
    public static Workload WorkloadOf(Section section, Cell cell, NativeSubject subject, LabMode mode, int everyRounds = 1)
    {
        int threads = int.Parse(cell["threads"]!, System.Globalization.CultureInfo.InvariantCulture);
        int microseconds = (mode == LabMode.Full ? 2000 : 500) * (threads > 1 ? 5 : 1);
        string command = NativeGrid.CommandOf(cell, microseconds);
        return new()
        {
            Key = new(cell, subject.Name),
            Section = section,
            Ours = subject.Ours,
            Create = () => subject.Missing is null ? new DriverLoop(Drivers.Of(subject), command) : null,
            Missing = subject.Missing ?? "not available here",
            EveryRounds = everyRounds,
            FixedOperations = 1,
        };
    }

    private static void AddCells(LabPlan plan, NativeGrid grid)
    {
        Dictionary<string, Section> sections = new()
        {
            [NativeGrid.Pair] = Part(-4, "One block at a time", "Rent one block, write its first and last byte, return it."),
            [NativeGrid.Bulk] = Part(
                -3,
                "The classic experiment",
                "Rent 16384 blocks, or as many as make 8 MiB, over all threads together; then return all. Time of one block, both ways."),
            [NativeGrid.Stress] = Part(
                -1, "Stress", "As the classic experiment, and in between every third block is returned and rented again."),
            [NativeGrid.Mixed] = Part(
                -1,
                "Mixed sizes",
                "Each thread holds blocks of 16 to 4096 bytes, returns one of them at random and rents another of a random size.",
                "threads"),
            [NativeGrid.Ring] = Part(
                -1, "Producer and consumer", "One thread rents, another returns, through a ring of 1024 blocks.", "size"),
        };
        var inGroups = grid.Groups.SelectMany(group => group.Group.Cells).ToHashSet();
        // Each table in the order of its threads, then sizes.
        Cell[] cells = [.. grid.Groups.SelectMany(group => group.Group.Cells).Union(NativeGrid.Classic).OrderBy(PlaceOf)];
        foreach (var cell in cells)
        {
            foreach (var subject in SubjectsOf(cell, plan.Mode, inGroups.Contains(cell)))
            {
                plan.Add(
                    WorkloadOf(sections[cell["pattern"]!], cell, subject, plan.Mode, EveryRounds(cell, plan, inGroups.Contains(cell))));
            }
        }
    }

    private static (int, int) PlaceOf(Cell cell)
    {
        int Number(string name) => int.Parse(cell[name] ?? "0", System.Globalization.CultureInfo.InvariantCulture);
        return (Number("threads"), Number("size"));
    }

    /// <summary>The quick tour measures several threads, and what only the classic tables show, once in each process.</summary>
    private static int EveryRounds(Cell cell, LabPlan plan, bool inGroup) =>
        plan.Mode == LabMode.Full || (inGroup && cell["threads"] == "1") ? 1 : plan.Rounds;

    private static Section Part(int order, string title, string about, params string[] varies) => new()
    {
        Title = title,
        Order = order,
        About = about,
        Baseline = NativeSubjects.CLibrary.Name,
        Layout = SectionLayout.Matrix,
        Varies = varies.Length > 0 ? varies : ["size", "threads"],
        Operation = "block",
    };

    private static IEnumerable<NativeSubject> SubjectsOf(Cell cell, LabMode mode, bool inGroup)
    {
        bool inClassic = NativeGrid.Classic.Contains(cell);
        return
        [
            NativeSubjects.Vector,
            NativeSubjects.MutexPool,
            .. inGroup ? NativeSubjects.Peers : [NativeSubjects.CLibrary],
            NativeSubjects.Shared,
            .. inClassic ? (NativeSubject[])[NativeSubjects.Zeroed] : [],
            .. mode == LabMode.Full || cell["pattern"] == NativeGrid.Pair ? (NativeSubject[])[NativeSubjects.Inline] : [],
        ];
    }

    private static void AddPhases(LabPlan plan)
    {
        (LoopPhase, string)[] parts =
            [(LoopPhase.Renting, "The classic experiment: allocate"), (LoopPhase.Returning, "The classic experiment: free")];
        foreach (var (phase, title) in parts)
        {
            var section = Part(-2, title, "One thread; the share of this phase in the time of one block.", "size");
            var classic = plan.Workloads
                .Where(workload => workload.Key.Cell["pattern"] == NativeGrid.Bulk && workload.Key.Cell["threads"] == "1")
                .ToArray();
            foreach (var workload in classic)
            {
                int size = int.Parse(workload.Key.Cell["size"]!, System.Globalization.CultureInfo.InvariantCulture);
                plan.Add(new PhaseRow
                {
                    Key = workload.Key with { Cell = PhasePoint(phase, size) },
                    Section = section,
                    Ours = workload.Ours,
                    Of = workload.Key,
                    Phase = phase,
                });
            }
        }
    }

    private static void AddGroups(LabPlan plan, NativeGrid grid)
    {
        var section = new Section
        {
            Title = "In groups",
            About = $"Geometric mean over the sizes of each group; wall time over all threads on {Environment.ProcessorCount} cores.",
            Baseline = NativeSubjects.CLibrary.Name,
            Layout = SectionLayout.Matrix,
            Varies = ["group"],
            Order = -5,
            Headline = true,
            Operation = "block",
        };
        var measured = plan.Workloads.Select(workload => workload.Key).ToHashSet();
        NativeSubject[] subjects =
            [NativeSubjects.Vector, NativeSubjects.MutexPool, .. NativeSubjects.Peers, NativeSubjects.Shared, NativeSubjects.Inline];
        foreach (var (_, group) in grid.Groups)
        {
            foreach (var subject in subjects.Where(subject => group.Cells.All(cell => measured.Contains(new(cell, subject.Name)))))
            {
                plan.Add(
                    new MeanRow
                    {
                        Key = new(Cell.Of(("group", group.Name)), subject.Name),
                        Section = section,
                        Ours = subject.Ours,
                        Group = group,
                    });
            }
        }
    }

    private static void Judge(LabPlan plan, NativeGrid grid)
    {
        string ours = NativeSubjects.Shared.Name;
        string[] peers = [.. NativeSubjects.Peers.Select(peer => peer.Name)];
        foreach (var (bar, group) in grid.Groups)
        {
            plan.Add(new MeanRatioRule(bar, [group], ours, peers));
        }

        plan.Add(new MeanRatioRule(Bars.MallocOverall, [.. grid.Groups.Select(group => group.Group)], ours, peers));
        var pairs = new CellGroup(
            "pair, 1 thread",
            [
                .. grid.Groups.SelectMany(group => group.Group.Cells)
                    .Where(cell => cell["pattern"] == NativeGrid.Pair && cell["threads"] == "1")
            ]);
        plan.Add(new MeanRatioRule(Bars.PairShared, [pairs], ours, [NativeSubjects.Mimalloc.Name]));
        plan.Add(new MeanRatioRule(Bars.PairInline, [pairs], NativeSubjects.Inline.Name, [NativeSubjects.Mimalloc.Name]));
        var classic = new CellGroup("the classic experiment", [.. NativeGrid.Classic]);
        plan.Add(new MeanRatioRule(Bars.VectorMean, [classic], ours, [NativeSubjects.Vector.Name]));
        plan.Add(
            new RatioRule(
                Bars.VectorCell,
                [.. classic.Cells.Select(cell => (new WorkloadKey(cell, ours), new WorkloadKey(cell, NativeSubjects.Vector.Name)))]));
        plan.Add(new MeanRatioRule(Bars.VectorZeroed, [classic], NativeSubjects.Zeroed.Name, [NativeSubjects.Vector.Name]));
    }
}

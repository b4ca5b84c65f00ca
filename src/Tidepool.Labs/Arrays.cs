using System.Globalization;

namespace Tidepool.Labs;

/// <summary>Lab <c>arrays</c>: what does a scope, a lease or an owner cost over a raw array pool?</summary>
internal sealed class ArraysLab : ILab
{
    private const int MainLength = 4096;

    private static readonly int[] Lengths = [0, 1, 100, 1000, 10_000, 1_000_000];

    /// <summary>The rows of the classic experiment, and ours that a bar compares at every length.</summary>
    private static readonly string[] QuickGridSubjects =
    [
        RentalCatalog.Shared, RentalCatalog.ClassicScope, RentalCatalog.SharedMemory, RentalCatalog.Raw, RentalCatalog.Lease,
    ];

    /// <summary>Ours that must never be above 1.10 of the rival.</summary>
    private static readonly string[] GridBarSubjects = [RentalCatalog.Raw, RentalCatalog.Lease];

    /// <inheritdoc/>
    public string Name => "arrays";

    /// <inheritdoc/>
    public string Question => "What does a scope, a lease or an owner cost over a raw array pool?";

    /// <inheritdoc/>
    public string Headline => RentalCatalog.Lease;

    /// <inheritdoc/>
    public IReadOnlyList<string> Without => [RentalCatalog.NewArray];

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics { get; } =
    [
        new(
            "rent and return",
            row => new(ClassicPoint(row["type"], int.Parse(row["length"], CultureInfo.InvariantCulture)), row["subject"]))
        {
            Time = "mean_ns",
            Cell = ["type", "length"],
            Ours = [RentalCatalog.Raw, RentalCatalog.Lease],
        },
    ];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        RentalCatalog.DescribeRivals(plan);
        AddOneThread(plan);
        AddThreads(plan);
        Additions.AddTo(plan);
        AddCrossing(plan);
        AddObjects(plan);
        AddFullChecks(plan);
        AddOverflow(plan);
        AddGrid(plan);
        AddWaste(plan);
        Judge(plan);
    }

    private static Cell ClassicPoint(string type, int length) => type == "object"
        ? ObjectPoint(length, RentalPattern.Inlined, 1, "no")
        : Point(type, length, RentalPattern.Inlined, 1, 1);

    private static Cell Main(string pattern, int depth, int threads = 1) =>
        Point("byte", MainLength, pattern, depth, threads);

    private static Cell Point(string type, int length, string pattern, int depth, int threads) =>
        Cell.Of(("type", type), ("length", length), ("pattern", pattern), ("depth", depth), ("threads", threads));

    private static Cell ChecksPoint { get; } = Cell.Of(
        ("type", "byte"), ("length", MainLength), ("pattern", RentalPattern.Inlined), ("depth", 1), ("threads", 1), ("question", "checks"));

    private static Cell OverflowPoint { get; } = Cell.Of(
        ("type", "byte"), ("length", MainLength), ("pattern", RentalPattern.Inlined), ("depth", 1), ("threads", 1),
        ("question", "beyond the budget"));

    private static Cell ObjectPoint(int length, string pattern, int depth, string clear) =>
        Cell.Of(("type", "object"), ("length", length), ("pattern", pattern), ("depth", depth), ("threads", 1), ("clear", clear));

    private static void AddOneThread(LabPlan plan)
    {
        foreach (int depth in (int[])[1, 8])
        {
            var section = new Section
            {
                Title = depth == 1 ? "One buffer at a time" : "Eight buffers at a time",
                About = $"Rent {MainLength} bytes, write one, return; time for each buffer on one thread.",
                Baseline = RentalCatalog.Shared,
                Varies = ["pattern"],
            };
            foreach (string pattern in (string[])[RentalPattern.Inlined, RentalPattern.CallSite])
            {
                AddAll(plan, section, Main(pattern, depth), RentalCatalog.For<byte>());
            }
        }
    }

    private static void AddThreads(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Several threads at once",
            About =
                $"The same loops on all threads at the same time; wall time for each buffer over all threads, "
                    + $"{Environment.ProcessorCount} cores.",
            Baseline = RentalCatalog.Shared,
            Varies = ["threads", "pattern", "depth"],
        };
        string[] patterns = plan.Mode == LabMode.Full ? [RentalPattern.Inlined, RentalPattern.CallSite] : [RentalPattern.Inlined];
        foreach (int threads in ThreadCounts.Of(plan.Mode).Where(static count => count > 1))
        {
            foreach (string pattern in patterns)
            {
                AddAll(plan, section, Main(pattern, 1, threads), RentalCatalog.For<byte>());
                AddAll(plan, section, Main(pattern, 8, threads), RentalCatalog.For<byte>());
            }
        }
    }

    private static void AddCrossing(LabPlan plan)
    {
        var section = new Section
        {
            Title = "From one thread to another",
            About = "Producer/consumer: a ring of 1024, batches of 16. Ping-pong: one buffer on its way at a time. Async hop: an await "
                + $"between rent and return, {HopBody<NoPool<byte>, ArrayItem<byte>>.Renters} renters. Kestrel's pool is what "
                + "a web application gets as IMemoryPoolFactory<byte>.",
            Baseline = RentalCatalog.Shared,
            Varies = ["pattern"],
        };
        Rental[] subjects =
        [
            RentalCatalog.Floor,
            .. RentalCatalog.For<byte>().Where(rental => !rental.IsOnStack),
            RentalCatalog.KestrelBlocks,
        ];
        AddAll(plan, section, Main(RentalPattern.Ring, 1, 2), subjects);
        AddAll(plan, section, Main(RentalPattern.PingPong, 1, 2), subjects);
        AddAll(plan, section, Main(RentalPattern.Hop, 1, Environment.ProcessorCount), subjects);
    }

    private static void AddObjects(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Arrays of objects",
            About =
                "1000 references, cleared on return so that nothing stays alive: the pools of "
                    + ".NET clear the whole array, leases the rented length.",
            Baseline = RentalCatalog.Shared,
            Varies = ["pattern"],
        };
        AddAll(plan, section, ObjectPoint(1000, RentalPattern.Inlined, 1, "yes"), RentalCatalog.ForObjectsCleared);
    }

    private static void AddGrid(LabPlan plan)
    {
        (string Pattern, int Depth)[] forms = plan.Mode == LabMode.Quick
            ? [(RentalPattern.Inlined, 1)]
            : [(RentalPattern.Inlined, 1), (RentalPattern.Inlined, 8), (RentalPattern.CallSite, 1), (RentalPattern.CallSite, 8)];
        foreach (var (pattern, depth) in forms)
        {
            var section = new Section
            {
                Title = $"Every length, {pattern}, depth {depth}",
                About = "Rent and return on one thread, by element type and length. Arrays of objects also with clearing.",
                Baseline = RentalCatalog.Shared,
                Layout = SectionLayout.Matrix,
                Varies = ["type", "length", "clear"],
            };
            AddGridOf<byte>(plan, section, "byte", pattern, depth);
            AddGridOf<char>(plan, section, "char", pattern, depth);
            AddGridOf<int>(plan, section, "int", pattern, depth);
            foreach (int length in Lengths)
            {
                AddGridCell(plan, section, ObjectPoint(length, pattern, depth, "no"), RentalCatalog.ForObjectsAsTheyAre);
                if (length != 1000 || pattern != RentalPattern.Inlined || depth != 1)
                {
                    AddGridCell(plan, section, ObjectPoint(length, pattern, depth, "yes"), RentalCatalog.ForObjectsCleared);
                }
            }
        }
    }

    private static void AddGridOf<T>(LabPlan plan, Section section, string type, string pattern, int depth)
        where T : unmanaged
    {
        foreach (int length in Lengths)
        {
            AddGridCell(plan, section, Point(type, length, pattern, depth, 1), RentalCatalog.For<T>());
        }
    }

    private static void AddGridCell(LabPlan plan, Section section, Cell cell, IEnumerable<Rental> subjects) => AddAll(
        plan,
        section,
        cell,
        subjects.Where(subject => plan.Mode == LabMode.Full || QuickGridSubjects.Contains(subject.Name)),
        everyRounds: 2);

    private static void AddFullChecks(LabPlan plan)
    {
        var section = new Section
        {
            Title = "What full checks cost",
            About = $"Leases of {MainLength} bytes from a pool that tracks every rental, poisons what is returned and verifies it "
                + "before reuse, against the default checks and against filling and comparing as many bytes alone. For debugging, not for "
                + "production.",
            Baseline = RentalCatalog.DefaultLease,
            Varies = ["pattern"],
        };
        AddAll(plan, section, ChecksPoint, [RentalCatalog.ByDefault, RentalCatalog.Checked, RentalCatalog.FillAndCompare]);
    }

    private static void AddOverflow(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Beyond the budget",
            About = $"{MainLength} bytes from a pool whose budget holds none of them: each rental makes an array, each return gives it up.",
            Baseline = RentalCatalog.NewArray,
            Varies = ["pattern"],
        };
        AddAll(plan, section, OverflowPoint, RentalCatalog.BeyondBudget);
    }

    private static void AddAll(LabPlan plan, Section section, Cell cell, IEnumerable<Rental> subjects, int everyRounds = 1)
    {
        foreach (var subject in subjects)
        {
            plan.Add(subject.In(section, cell, everyRounds));
        }
    }

    private static void AddWaste(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Memory wasted by rounding up",
            About =
                "Share of the buffer that stays unused, in percent, for every length from 16 bytes to 1 "
                    + "MiB, log-uniformly weighted; computed, not measured.",
            Layout = SectionLayout.Metrics,
            Varies = ["lengths"],
        };
        plan.Add(WasteProbe(section, RentalCatalog.Shared, ours: false, SizeClasses.PowersOfTwo));
        plan.Add(WasteProbe(section, RentalCatalog.Lease, ours: true, SizeClasses.Default));
    }

    private static Probe WasteProbe(Section section, string subject, bool ours, SizeClasses classes) => new()
    {
        Key = new(WasteCell, subject),
        Section = section,
        Ours = ours,
        Run = _ => Waste.Of(classes),
    };

    private static Cell WasteCell { get; } = Cell.Of(("lengths", "16 B to 1 MiB, log-uniform"));

    private static void Judge(LabPlan plan)
    {
        var inlined = Main(RentalPattern.Inlined, 1);
        var callSite = Main(RentalPattern.CallSite, 1);
        plan.Add(Within(Bars.RawInlined, inlined, RentalCatalog.Shared, RentalCatalog.Raw));
        plan.Add(Within(Bars.RawCallSite, callSite, RentalCatalog.Shared, RentalCatalog.Raw));
        plan.Add(Within(Bars.LeaseInlined, inlined, RentalCatalog.Shared, RentalCatalog.Lease));
        plan.Add(Within(Bars.LeaseCallSite, callSite, RentalCatalog.Shared, RentalCatalog.Lease));
        plan.Add(new BytesRule(Bars.LeaseBytes, [new(inlined, RentalCatalog.Lease), new(callSite, RentalCatalog.Lease)]));
        plan.Add(
            new RatioRule(
                Bars.ScopeOwn,
                [Pair(inlined, RentalCatalog.Scope, RentalCatalog.Raw), Pair(callSite, RentalCatalog.Scope, RentalCatalog.Raw)]));
        plan.Add(Within(Bars.ScopeInlined, inlined, RentalCatalog.Shared, RentalCatalog.Scope));
        plan.Add(Within(Bars.ScopeCallSite, callSite, RentalCatalog.Shared, RentalCatalog.Scope));
        plan.Add(
            new RatioRule(
                Bars.ScopeLease,
                [Pair(inlined, RentalCatalog.Scope, RentalCatalog.Lease), Pair(callSite, RentalCatalog.Scope, RentalCatalog.Lease)]));
        plan.Add(Within(Bars.Handle, inlined, RentalCatalog.Lease, RentalCatalog.Handle));
        JudgeDepth(plan);
        JudgeThreads(plan);
        plan.Add(Within(Bars.Objects, ObjectPoint(1000, RentalPattern.Inlined, 1, "yes"), RentalCatalog.Shared, GridBarSubjects));
        JudgeGrid(plan);
        plan.Add(Within(Bars.FullChecks, ChecksPoint, RentalCatalog.Filled, RentalCatalog.CheckedLease));
        plan.Add(Within(Bars.Overflow, OverflowPoint, RentalCatalog.NewArray, RentalCatalog.OverflowLease, RentalCatalog.OverflowRaw));
        plan.Add(new MetricRule(Bars.Waste, Waste.Percent, [new(WasteCell, RentalCatalog.Lease)]));
    }

    private static void JudgeGrid(LabPlan plan)
    {
        var pairs = GridPairs(plan).ToLookup(static pair => GridBarOf(pair.Ours));
        plan.Add(new RatioRule(Bars.Grid, [.. pairs[Bars.Grid]]));
        plan.Add(new RatioRule(Bars.GridEmpty, [.. pairs[Bars.GridEmpty]]));
        plan.Add(plan.Mode == LabMode.Full
            ? new RatioRule(Bars.GridLarge, [.. pairs[Bars.GridLarge]])
            : new OmittedRule(Bars.GridLarge, "no loop of that depth: --full"));
        plan.Add(new LeastTimeRule(Bars.Empty, [.. GridPairs(plan).Select(static pair => pair.Ours).Where(IsEmptyArray)]));
    }

    private static bool IsEmptyArray(WorkloadKey key) =>
        key.Subject == RentalCatalog.Raw
        && (key.Cell["length"], key.Cell["pattern"], key.Cell["depth"]) == ("0", RentalPattern.Inlined, "1");

    /// <summary>What a rental of the grid has to meet. A lease of no elements has a ticket; eight large ones are more than a thread keeps.
    /// </summary>
    private static Bar GridBarOf(WorkloadKey ours) =>
        ours.Subject == RentalCatalog.Lease && ours.Cell["length"] == "0" ? Bars.GridEmpty
        : ours.Cell["depth"] == "8" && IsBeyondThread(ours.Cell) ? Bars.GridLarge
        : Bars.Grid;

    /// <summary>Whether eight arrays are more than the 256 KiB of one class that a thread keeps.</summary>
    private static bool IsBeyondThread(Cell cell) =>
        cell["length"] == "1000000" || (cell["length"] == "10000" && cell["type"] is "int" or "object");

    private static void JudgeDepth(LabPlan plan)
    {
        var inlined = Main(RentalPattern.Inlined, 8);
        var callSite = Main(RentalPattern.CallSite, 8);
        plan.Add(Within(Bars.Depth8Inlined, inlined, RentalCatalog.Shared, GridBarSubjects));
        plan.Add(Within(Bars.Depth8CallSite, callSite, RentalCatalog.Shared, GridBarSubjects));
        plan.Add(new RatioRule(
            Bars.Depth8Own,
            [.. GridBarSubjects.Select(
                subject => (new WorkloadKey(inlined, subject), new WorkloadKey(Main(RentalPattern.Inlined, 1), subject)))]));
    }

    private static void JudgeThreads(LabPlan plan)
    {
        plan.Add(Within(Bars.ThreadsDepth8, Main(RentalPattern.Inlined, 8, 2), RentalCatalog.Shared, GridBarSubjects));
        int[] depths = [1, 8];
        plan.Add(Additions.Rule(
            Bars.ThreadsScaling, 2, 1, [.. from subject in GridBarSubjects from depth in depths select Scaling(subject, depth)]));
        plan.Add(new ScalingRule(
            Bars.ThreadsOwn,
            [
                .. from subject in GridBarSubjects
                   from depth in depths
                   select (Scaling(subject, depth), Scaling(RentalCatalog.Handle, depth)),
            ]));
        plan.Add(Additions.CrowdRule(
            plan,
            Bars.ThreadsCrowd,
            [
                .. from subject in GridBarSubjects
                   from depth in depths
                   select Pair(
                       subject,
                       Main(RentalPattern.Inlined, depth, ThreadCounts.Crowd),
                       Main(RentalPattern.Inlined, depth, Environment.ProcessorCount)),
            ]));
        plan.Add(Within(Bars.RingShared, Main(RentalPattern.Ring, 1, 2), RentalCatalog.Shared, GridBarSubjects));
        plan.Add(Within(Bars.RingLease, Main(RentalPattern.Ring, 1, 2), RentalCatalog.Kestrel, RentalCatalog.Lease));
        plan.Add(Within(Bars.RingRaw, Main(RentalPattern.Ring, 1, 2), RentalCatalog.Kestrel, RentalCatalog.Raw));
        plan.Add(Within(Bars.PingPong, Main(RentalPattern.PingPong, 1, 2), RentalCatalog.Kestrel, GridBarSubjects));
        plan.Add(Within(Bars.Hop, Main(RentalPattern.Hop, 1, Environment.ProcessorCount), RentalCatalog.Shared, GridBarSubjects));
    }

    private static (WorkloadKey Two, WorkloadKey One) Scaling(string subject, int depth) =>
        Pair(subject, Main(RentalPattern.Inlined, depth, 2), Main(RentalPattern.Inlined, depth));

    private static (WorkloadKey, WorkloadKey) Pair(string subject, Cell cell, Cell other) => (new(cell, subject), new(other, subject));

    private static IEnumerable<(WorkloadKey Ours, WorkloadKey Other)> GridPairs(LabPlan plan) =>
        from workload in plan.Workloads
        where workload.Section.Layout == SectionLayout.Matrix && GridBarSubjects.Contains(workload.Key.Subject)
        select (workload.Key, workload.Key with { Subject = RentalCatalog.Shared });

    private static RatioRule Within(Bar bar, Cell cell, string other, params IEnumerable<string> subjects) =>
        new(bar, [.. subjects.Select(subject => Pair(cell, subject, other))]);

    private static (WorkloadKey, WorkloadKey) Pair(Cell cell, string subject, string other) => (new(cell, subject), new(cell, other));
}

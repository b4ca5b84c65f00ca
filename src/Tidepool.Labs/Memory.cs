namespace Tidepool.Labs;

/// <summary>Lab <c>memory</c>: which <c>MemoryPool&lt;byte&gt;</c> for a pipe?</summary>
internal sealed class MemoryLab : ILab
{
    private const int BlockLength = 4096;
    private const string DefaultPipe = "default (no pool given)";
    private const string NativeReused = "native memory, reused owners";
    private const string FreshArrays = "arrays, fresh owners";
    private const string ReusedArrays = "arrays, reused owners";

    private static readonly MemorySubject[] Subjects =
    [
        MemorySubject.Of<DefaultMemoryPool>(MemorySubject.Shared, ours: false),
        MemorySubject.Of<KestrelPool>(RentalCatalog.Kestrel, ours: false),
        MemorySubject.Of<ArraysFreshOwners>(FreshArrays, ours: true),
        MemorySubject.Of<ArraysReusedOwners>(ReusedArrays, ours: true, reuses: true),
        MemorySubject.Of<SlabsFreshOwners>("slabs, fresh owners", ours: true),
        MemorySubject.Of<SlabsReusedOwners>("slabs, reused owners", ours: true, reuses: true),
        MemorySubject.Of<PinnedFreshOwners>("pinned blocks, fresh owners", ours: true),
        MemorySubject.Of<PinnedReusedOwners>("pinned blocks, reused owners", ours: true, reuses: true),
        MemorySubject.Of<NativeFreshOwners>("native memory, fresh owners", ours: true),
        MemorySubject.Of<NativeReusedOwners>(NativeReused, ours: true),
    ];

    /// <summary>Rented and returned beside the others; what is held or idle of it is what is held or idle of reused owners.</summary>
    private static readonly MemorySubject Unguarded = MemorySubject.Of<ArraysUnguardedOwners>("arrays, unguarded owners", ours: true);

    /// <inheritdoc/>
    public string Name => "memory";

    /// <inheritdoc/>
    public string Question => "Which MemoryPool<byte> for a pipe?";

    /// <inheritdoc/>
    public string Headline => FreshArrays;

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics { get; } =
    [
        new("rent of a memory block", MatchClassic) { Time = "mean_ns" },
        new("rent of a memory block, with an array pool that reuses its owners (single thread)", MatchClassic) { Time = "mean_ns" },
    ];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        RentalCatalog.DescribeRivals(plan);
        AddRent(plan);
        AddPipes(plan);
        AddHold(plan);
        AddIdle(plan);
        AddEpochs(plan);
        Judge(plan);
    }

    private static Cell RentPoint(string pattern, int depth, int threads) =>
        Cell.Of(("length", BlockLength), ("pattern", pattern), ("depth", depth), ("threads", threads));

    private static WorkloadKey MatchClassic(IReadOnlyDictionary<string, string> row) => new(
        RentPoint(RentalPattern.Inlined, 1, 1),
        row["subject"] switch
        {
            "slab pool" => "slabs, reused owners",
            "pinned block pool" => "pinned blocks, reused owners",
            "array pool, reused owners" => ReusedArrays,
            var same => same,
        });

    private static Cell HoldCell { get; } = Cell.Of(("held", HeldOwners.Count), ("length", BlockLength));

    private static Cell IdleCell(string after) => Cell.Of(("returned", "1 GiB"), ("after", after));

    private static IEnumerable<Cell> RentCells(LabMode mode)
    {
        string[] patterns = mode == LabMode.Full ? [RentalPattern.Inlined, RentalPattern.CallSite] : [RentalPattern.Inlined];
        return from count in ThreadCounts.Of(mode)
               from pattern in patterns
               from depth in (int[])[1, 8]
               select RentPoint(pattern, depth, count);
    }

    private static void AddRent(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Rent and return",
            About = $"Rent an owner of {BlockLength} bytes, write one, dispose it; with threads, wall time over all of them on "
                + $"{Environment.ProcessorCount} cores. Kestrel's pool is what a web application gets as IMemoryPoolFactory<byte>.",
            Baseline = MemorySubject.Shared,
            Varies = ["pattern", "depth", "threads"],
        };
        foreach (var cell in RentCells(plan.Mode))
        {
            foreach (var subject in Subjects.Append(Unguarded))
            {
                plan.Add(subject.Rental.In(section, cell));
            }
        }
    }

    private static void AddPipes(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Copy 64 MiB through a pipe",
            About =
                "Writer and reader of System.IO.Pipelines in parallel; a pipe without a pool rents "
                    + "arrays from ArrayPool.Shared. Time for the whole copy.",
            Baseline = DefaultPipe,
            Varies = ["pipes"],
            Operation = "copy",
        };
        foreach (int pipes in (int[])[1, 2 * Environment.ProcessorCount])
        {
            var cell = Cell.Of(("copied", "64 MiB"), ("pipes", pipes));
            plan.Add(PipeWorkload(section, cell, DefaultPipe, ours: false, () => new PipeLoop(null, pipes), missing: ""));
            foreach (var subject in Subjects.Where(subject => subject.Name != MemorySubject.Shared))
            {
                plan.Add(
                    PipeWorkload(
                        section,
                        cell,
                        subject.Name,
                        subject.Ours,
                        () => subject.Exists() ? new PipeLoop(subject.Pool(), pipes) : null,
                        subject.Rental.Missing));
            }
        }
    }

    private static Workload PipeWorkload(Section section, Cell cell, string subject, bool ours, Func<Loop?> create, string missing) => new()
    {
        Key = new(cell, subject),
        Section = section,
        Ours = ours,
        Create = create,
        Missing = missing,
        EveryRounds = 2,
        FixedOperations = 4,
    };

    private static void AddHold(LabPlan plan)
    {
        var section = new Section
        {
            Title = $"Hold {HeldOwners.Count} owners at once",
            About = "Bytes of the heap: while they are held; after they were disposed and the collector ran; allocated when they are "
                + "rented again; still there when none was ever disposed.",
            Layout = SectionLayout.Metrics,
            Varies = ["held"],
        };
        foreach (var subject in Subjects)
        {
            plan.Add(new Probe
            {
                Key = new(HoldCell, subject.Name),
                Section = section,
                Ours = subject.Ours,
                Run = _ => subject.Exists() ? HeldOwners.Measure(subject.Create, BlockLength) : null,
                Missing = subject.Rental.Missing,
            });
        }
    }

    private static void AddIdle(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Idle memory",
            About = "1 GiB of leases rented and returned on four threads that are then parked: what is held a minute later without "
                + "any call, and at once after Trim().",
            Layout = SectionLayout.Metrics,
            Varies = ["after"],
        };
        plan.Add(IdleProbe(section, "60 s", IdleMemory.WaitAndMeasure, waits: true));
        plan.Add(IdleProbe(section, "Trim()", _ => IdleMemory.TrimAndMeasure(), waits: false));
        AddIdleProcess(plan);
    }

    private static void AddIdleProcess(LabPlan plan)
    {
        if (plan.Mode != LabMode.Full)
        {
            plan.Add(new OmittedRule(Bars.IdleCollected, "waits minutes: --full"));
            return;
        }

        var process = new Section
        {
            Title = "Idle process",
            About = "400 MiB through a stream, then nothing for 200 s: what the process keeps, by the mode of Tidepool.CollectWhenIdle.",
            Layout = SectionLayout.Metrics,
            Varies = ["collect when idle"],
        };
        foreach (string mode in (string[])["off", "background", "aggressive"])
        {
            plan.Add(new Probe
            {
                Key = IdleProcessKey(mode),
                Section = process,
                Ours = true,
                Run = site => IdleMemory.LeaveIdle(site, mode),
                Waits = true,
            });
        }

        plan.Add(new MetricRatioRule(Bars.IdleCollected, IdleMemory.Resident, (IdleProcessKey("aggressive"), IdleProcessKey("off"))));
    }

    private static WorkloadKey EpochKey { get; } = new(
        Cell.Of(("magazines", $"{ManyMagazines.Threads} threads, {ManyMagazines.Pools} pools")), RentalCatalog.Lease);

    private static void AddEpochs(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Trimming many threads",
            About = "Each thread holds a full magazine of each pool and is parked: the longest epoch until the last magazine is closed, "
                + "and the longest time that another thread waits for the lock of the thread tier where one asks for it again and again.",
            Layout = SectionLayout.Metrics,
            Varies = ["magazines"],
        };
        plan.Add(new Probe { Key = EpochKey, Section = section, Ours = true, Run = _ => ManyMagazines.Measure(plan.Mode) });
        plan.Add(new MetricRule(Bars.EpochTime, ManyMagazines.EpochTime, [EpochKey]));
        plan.Add(new MetricRule(Bars.EpochGate, ManyMagazines.GateWait, [EpochKey]));
    }

    private static WorkloadKey IdleProcessKey(string mode) => new(Cell.Of(("collect when idle", mode)), "PooledMemoryStream");

    private static Probe IdleProbe(
        Section section, string after, Func<ProbeSite, IReadOnlyDictionary<string, double>> run, bool waits) => new()
        {
            Key = new(IdleCell(after), RentalCatalog.Lease),
            Section = section,
            Ours = true,
            Run = run,
            Waits = waits,
        };

    private static void Judge(LabPlan plan)
    {
        string[] reusing = [.. Subjects.Where(subject => subject.Reuses).Select(subject => subject.Name)];
        var cell = RentPoint(RentalPattern.Inlined, 1, 1);
        plan.Add(new RatioRule(Bars.ReusedKestrel, [.. reusing.Select(name => Pair(cell, name, RentalCatalog.Kestrel))]));
        JudgeArrays(plan);
        plan.Add(new BytesRule(
            Bars.ReusedBytes,
            [.. from point in RentCells(plan.Mode) from name in reusing select new WorkloadKey(point, name)]));
        plan.Add(new BytesRule(Bars.NativeReusedBytes, [.. RentCells(plan.Mode).Select(point => new WorkloadKey(point, NativeReused))]));
        plan.Add(new MetricRule(Bars.HeldBytes, HeldOwners.RentedAgain, [.. reusing.Select(name => new WorkloadKey(HoldCell, name))]));
        plan.Add(new MetricRule(Bars.NativeHeldBytes, HeldOwners.RentedAgain, [new(HoldCell, NativeReused)]));
        plan.Add(new MetricRule(Bars.IdleHeld, IdleMemory.HeldPercent, [new(IdleCell("60 s"), RentalCatalog.Lease)]));
        plan.Add(new MetricRule(Bars.IdleAlive, IdleMemory.AlivePercent, [new(IdleCell("60 s"), RentalCatalog.Lease)]));
        plan.Add(new MetricRule(Bars.TrimHeld, IdleMemory.HeldPercent, [new(IdleCell("Trim()"), RentalCatalog.Lease)]));
        plan.Add(new MetricRule(Bars.TrimAlive, IdleMemory.AlivePercent, [new(IdleCell("Trim()"), RentalCatalog.Lease)]));
    }

    private static void JudgeArrays(LabPlan plan)
    {
        Cell[] cells = [.. RentCells(plan.Mode).Where(cell => cell["threads"] == "1")];
        Cell inlined = RentPoint(RentalPattern.Inlined, 1, 1);
        Cell callSite = RentPoint(RentalPattern.CallSite, 1, 1);
        plan.Add(new RatioRule(Bars.ReusedInlined, Pair(inlined, ReusedArrays, MemorySubject.Shared)));
        plan.Add(
            cells.Contains(callSite)
                ? new RatioRule(Bars.ReusedCallSite, Pair(callSite, ReusedArrays, MemorySubject.Shared))
                : new OmittedRule(Bars.ReusedCallSite, "not measured: --full"));
        plan.Add(new RatioRule(
            Bars.ReusedDepth8,
            [.. cells.Where(cell => cell["depth"] == "8").Select(cell => Pair(cell, ReusedArrays, MemorySubject.Shared))]));
    }

    private static (WorkloadKey, WorkloadKey) Pair(Cell cell, string ours, string other) => (new(cell, ours), new(cell, other));
}

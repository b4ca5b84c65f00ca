namespace Tidepool.Labs;

/// <summary>Lab <c>streams</c>: which in-memory stream?</summary>
internal sealed class StreamsLab : ILab
{
    private const string Once = "at once";
    private const string Comparison = "PooledMemoryStream";

    private const int Kilo = 1000;
    private const int MiB = 1 << 20;
    private const int KnownSmall = 100;
    private const int KnownLarge = 131_073; // one byte more than a block of RecyclableMemoryStream
    private const int Loops = 10_000; // streams in one published measurement

    private static readonly Cell ComparisonCell = Cell.Of(("operations", "1,000,000"));

    /// <inheritdoc/>
    public string Name => "streams";

    /// <inheritdoc/>
    public string Question => "Which in-memory stream?";

    /// <inheritdoc/>
    public string Headline => StreamSubject.New;

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics { get; } =
    [
        new("one thread: write loops", row => new WorkloadKey(Small(int.Parse(row["size_B"], null), Once), SubjectOf(row)))
        {
            Time = "mean_us",
            Operations = Loops,
            Cell = ["runtime", "size_B"],
            Ours = [StreamSubject.Rented],
        },
        new("parallel tasks", row => new WorkloadKey(Parallel(int.Parse(row["tasks"], null)), SubjectOf(row)))
        {
            Time = "mean_us",
            Operations = Loops,
            Cell = ["runtime", "tasks"],
            Ours = [StreamSubject.Rented],
        },
    ];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        StreamSubject.DescribeRivals(plan);
        plan.Rivals["Microsoft.Extensions.ObjectPool"] = RivalVersion.Of(typeof(Microsoft.Extensions.ObjectPool.ObjectPool));
        AddSmall(plan);
        AddLarge(plan);
        AddBytes(plan);
        AddParallel(plan);
        AddKnown(plan);
        AddCopies(plan);
        AddProbes(plan);
        Judge(plan);
    }

    private static string SubjectOf(IReadOnlyDictionary<string, string> row) => row["subject"] switch
    {
        "pooled stream" => StreamSubject.New,
        "pooled stream reused through an object pool" => StreamSubject.Reused,
        var same => same,
    };

    private static Cell Small(int size, string write) => Cell.Of(("size", size), ("write", write), ("threads", 1));

    private static Cell Large(int mebibytes, string write) => Cell.Of(("size", $"{mebibytes} MiB"), ("write", write));

    private static Cell Bytes(string call) => Cell.Of(("call", call));

    private static Cell Parallel(int threads) => Cell.Of(("size", Kilo), ("write", Once), ("threads", threads));

    private static Cell Known(int size) => Cell.Of(("known", $"{size} B"));

    private static Cell Copy(string content) => Cell.Of(("content", content));

    private static IEnumerable<(int Size, string Write, int Step)> SmallPoints =>
    [
        (100, Once, 100), (100, "6 B", 6), (Kilo, Once, Kilo), (Kilo, "6 B", 6), (50 * Kilo, Once, 50 * Kilo), (50 * Kilo, "4 KiB", 4096),
    ];

    private static IEnumerable<(int Size, string Write, int Step)> LargePoints(LabMode mode) =>
        from size in mode == LabMode.Full ? (int[])[1, 16, 200] : [1, 16]
        from point in (IEnumerable<(string, int)>)[(Once, size * MiB), ("4 KiB", 4096)]
        select (size, point.Item1, point.Item2);

    private static void AddSmall(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Short streams",
            About = "Create a stream, write, rewind, read all of it back, dispose; time for each stream.",
            Baseline = StreamSubject.Plain,
            Varies = ["size", "write"],
            Operation = "stream",
        };
        foreach (var (size, write, step) in SmallPoints)
        {
            AddAll(plan, section, Small(size, write), subject => subject.Life(size, step, threads: 1));
        }
    }

    private static void AddLarge(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Long streams",
            About = "The same with content that no cache holds; read back in blocks of 1 MiB.",
            Baseline = StreamSubject.Plain,
            Varies = ["size", "write"],
            Operation = "stream",
        };
        foreach (var (size, write, step) in LargePoints(plan.Mode))
        {
            AddAll(
                plan,
                section,
                Large(size, write),
                subject => subject.Life((long)size * MiB, step, threads: 1),
                everyRounds: size == 200 ? 4 : 2,
                operations: size == 1 ? 8 : size == 16 ? 2 : 1);
        }
    }

    private static void AddBytes(LabPlan plan)
    {
        var section = new Section
        {
            Title = "WriteByte",
            About = "One byte at a time into 64 KiB, again and again; time for each byte.",
            Baseline = StreamSubject.Plain,
            Varies = ["call"],
            Operation = "byte",
        };
        AddAll(plan, section, Bytes("exact type"), subject => subject.Bytes(throughBase: false));
        AddAll(plan, section, Bytes("through Stream"), subject => subject.Bytes(throughBase: true));
    }

    private static void AddParallel(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Several threads at once",
            About = $"Streams of 1000 bytes on all threads at the same time, each row with the same work; wall time for each stream "
                + $"over all threads, {Environment.ProcessorCount} cores.",
            Baseline = StreamSubject.Plain,
            Varies = ["threads"],
            Operation = "stream",
        };
        foreach (int threads in (int[])[5, 10])
        {
            AddAll(plan, section, Parallel(threads), subject => subject.Life(Kilo, Kilo, threads));
        }
    }

    private static void AddKnown(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Known length",
            About = "Create a stream with room for its length, write all at once, rewind, read back, dispose; time for each stream.",
            Baseline = StreamSubject.Plain,
            Varies = ["known"],
            Operation = "stream",
        };
        AddAll(plan, section, Known(KnownSmall), subject => subject.KnownLife(KnownSmall));
        AddAll(plan, section, Known(KnownLarge), subject => subject.KnownLife(KnownLarge));
    }

    private static void AddCopies(LabPlan plan)
    {
        var section = new Section
        {
            Title = "Copy out",
            About = "CopyTo a target that only counts.",
            Baseline = StreamSubject.Plain,
            Varies = ["content"],
            Operation = "copy",
        };
        AddAll(plan, section, Copy("1000 B"), subject => subject.CopyOut(Kilo));
        AddAll(plan, section, Copy("1 MiB"), subject => subject.CopyOut(MiB));
    }

    private static void AddAll(
        LabPlan plan, Section section, Cell cell, Func<StreamSubject, Loop?> loop, int everyRounds = 1, int operations = 0)
    {
        foreach (var subject in StreamSubject.All)
        {
            plan.Add(new Workload
            {
                Key = new(cell, subject.Name),
                Section = section,
                Ours = subject.Ours,
                Create = () => loop(subject),
                Missing = StreamSubject.MissingRival,
                EveryRounds = everyRounds,
                FixedOperations = operations,
            });
        }
    }

    private static void AddProbes(LabPlan plan)
    {
        var heap = new Section
        {
            Title = "Large object heap",
            About = "Bytes that one more stream of 16 MiB puts on the large object heap after three others were used and disposed.",
            Layout = SectionLayout.Metrics,
            Varies = ["large objects of"],
        };
        foreach (var subject in StreamSubject.All)
        {
            plan.Add(new Probe
            {
                Key = new(HeapCell, subject.Name),
                Section = heap,
                Ours = subject.Ours,
                Missing = StreamSubject.MissingRival,
                Run = _ =>
                    subject.LargeObjectBytes(16 * MiB, 4096) is { } bytes ? new Dictionary<string, double> { ["loh_B"] = bytes } : null,
            });
        }

        plan.Add(new Probe
        {
            Key = new(ComparisonCell, Comparison),
            Section = new Section
            {
                Title = "Random operations against MemoryStream",
                About = "Results, exceptions, parameter names, positions, lengths, capacities and content compared; seed 1.",
                Layout = SectionLayout.Metrics,
                Varies = ["operations"],
            },
            Ours = true,
            Run = _ => RandomComparison.Run(1_000_000, seed: 1),
        });
    }

    private static Cell HeapCell { get; } = Cell.Of(("large objects of", "16 MiB by 4 KiB"));

    private static void Judge(LabPlan plan)
    {
        string[] both = [StreamSubject.New, StreamSubject.Rented];
        Cell[] once = [Small(100, Once), Small(Kilo, Once)];
        Cell[] tiny = [Small(100, "6 B"), Small(Kilo, "6 B")];
        Cell[] medium = [Small(50 * Kilo, Once), Small(50 * Kilo, "4 KiB")];
        Cell[] large = [.. LargePoints(plan.Mode).Select(point => Large(point.Size, point.Write))];
        plan.Add(Within(Bars.StreamSmall, once, both, StreamSubject.Plain));
        plan.Add(new BytesRule(Bars.StreamNewBytes, [.. once.Concat(tiny).Select(cell => new WorkloadKey(cell, StreamSubject.New))]));
        plan.Add(new BytesRule(Bars.StreamRentedBytes, [.. once.Concat(tiny).Select(cell => new WorkloadKey(cell, StreamSubject.Rented))]));
        plan.Add(Within(Bars.StreamSmallRecyclable, once, both, StreamSubject.Recyclable));
        plan.Add(Within(Bars.StreamSmallSlim, once, both, StreamSubject.Slim));
        plan.Add(Within(Bars.StreamTiny, tiny, both, StreamSubject.Plain));
        plan.Add(Within(Bars.StreamTinyRecyclable, tiny, both, StreamSubject.Recyclable));
        plan.Add(Within(Bars.StreamTinySlim, tiny, both, StreamSubject.Slim));
        plan.Add(Within(Bars.StreamMediumOnce, medium[..1], both, StreamSubject.Plain));
        plan.Add(Within(Bars.StreamMediumParts, medium[1..], both, StreamSubject.Plain));
        plan.Add(Within(Bars.StreamMediumRecyclable, medium, both, StreamSubject.Recyclable));
        plan.Add(Within(Bars.StreamLarge, large, [StreamSubject.New], StreamSubject.Plain));
        plan.Add(
            new BytesRule(
                Bars.StreamLargeBytes,
                [.. large.Where(cell => cell["size"] == "16 MiB").Select(cell => new WorkloadKey(cell, StreamSubject.New))]));
        Cell[] longest = [.. large.Where(cell => cell["size"] == "200 MiB")];
        plan.Add(longest.Length > 0
            ? new BytesRule(Bars.StreamLongBytes, [.. longest.Select(cell => new WorkloadKey(cell, StreamSubject.New))])
            : new OmittedRule(Bars.StreamLongBytes, "no stream of 200 MiB: --full"));
        plan.Add(new BytesRule(Bars.StreamLargeRented, [.. large.Select(cell => new WorkloadKey(cell, StreamSubject.Rented))]));
        plan.Add(new MetricRule(Bars.StreamLargeObjects, "loh_B", [.. both.Select(name => new WorkloadKey(HeapCell, name))]));
        plan.Add(Within(Bars.StreamLargeRecyclable, large, [StreamSubject.New], StreamSubject.Recyclable));
        plan.Add(Within(Bars.StreamLargeSlim, large, [StreamSubject.New], StreamSubject.Slim));
        plan.Add(Within(Bars.StreamByteExact, [Bytes("exact type")], both, StreamSubject.Plain));
        plan.Add(Within(Bars.StreamByteBase, [Bytes("through Stream")], both, StreamSubject.Plain));
        plan.Add(Within(Bars.StreamKnownSmall, [Known(KnownSmall)], [StreamSubject.Rented], StreamSubject.Plain));
        plan.Add(Within(Bars.StreamKnownLarge, [Known(KnownLarge)], both, StreamSubject.Recyclable));
        plan.Add(Within(Bars.StreamCopy, [Copy("1000 B"), Copy("1 MiB")], both, StreamSubject.Plain));
        plan.Add(Within(Bars.StreamParallel, [Parallel(5), Parallel(10)], both, StreamSubject.Plain));
        plan.Add(new MetricRule(Bars.StreamCompared, RandomComparison.Differences, [new WorkloadKey(ComparisonCell, Comparison)]));
    }

    private static RatioRule Within(Bar bar, IEnumerable<Cell> cells, IEnumerable<string> ours, string other) => new(
        bar,
        [
            .. from cell in cells
               from subject in ours
               select (new WorkloadKey(cell, subject), new WorkloadKey(cell, other)),
        ]);
}

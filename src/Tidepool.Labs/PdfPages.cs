namespace Tidepool.Labs;

/// <summary>Lab <c>pdf</c>: reverse the pages of a PDF.</summary>
internal sealed class PdfLab : ILab
{
    private const string Differs = "differs";
    private const string Misplaced = "misplaced_pages";
    private const string LargeBytes = "loh_B";
    private const string Gen2 = "gen2";
    private const int Repeats = 100; // documents between two readings of the collector's counts

    private static readonly Cell Document = Cell.Of(("document", "pages reversed"));
    private static readonly Cell Memory = Cell.Of(("document", $"pages reversed {Repeats} times"));

    private static readonly Subject[] Subjects =
    [
        Subject.Of<PlainStream>(StreamSubject.Plain, ours: false),
        Subject.Of<RecyclableStream>(StreamSubject.Recyclable, ours: false),
        Subject.Of<OwnStream<NewUse>>(StreamSubject.New, ours: true),
        Subject.Of<LeasedStream>(StreamSubject.Rented, ours: true),
    ];

    /// <inheritdoc/>
    public string Name => "pdf";

    /// <inheritdoc/>
    public string Question => "What does a stream cost when the pages of a PDF are reversed?";

    /// <inheritdoc/>
    public string Headline => StreamSubject.New;

    /// <inheritdoc/>
    public IReadOnlyList<ClassicMatch> Classics { get; } =
    [
        new("reverse the pages of a 40-page, 848 KB PDF", row => new WorkloadKey(Document, row["subject"]))
        {
            Time = "mean_ms",
            Allocated = "allocated_MB",
            AllocatedScale = 1 << 20,
        },
    ];

    /// <inheritdoc/>
    public void Describe(LabPlan plan)
    {
        StreamSubject.DescribeRivals(plan);
        var time = new Section
        {
            Title = "Reverse the pages",
            About = "Write the file into a stream, read it, take it apart, write it into another stream with its pages reversed, "
                + "read that and take its digest; time for the whole document.",
            Baseline = StreamSubject.Plain,
            Varies = ["document"],
            Operation = "document",
        };
        var memory = new Section
        {
            Title = "What it does to the collector",
            About = $"The output compared with that of MemoryStream, pages that are not in reversed order, bytes put on the large "
                + $"object heap by one document once warm, collections in {Repeats} documents.",
            Layout = SectionLayout.Metrics,
            Varies = ["document"],
        };
        foreach (var subject in Subjects)
        {
            plan.Add(new Workload
            {
                Key = new(Document, subject.Name),
                Section = time,
                Ours = subject.Ours,
                Create = () => new SingleThreadLoop(subject.Run),
            });
            plan.Add(new Probe
            {
                Key = new(Memory, subject.Name),
                Section = memory,
                Ours = subject.Ours,
                Run = _ => subject.Measure(),
            });
        }

        WorkloadKey[] ours = [.. Subjects.Where(subject => subject.Ours).Select(subject => new WorkloadKey(Memory, subject.Name))];
        WorkloadKey[] rivals = [.. Subjects.Where(subject => !subject.Ours).Select(subject => new WorkloadKey(Memory, subject.Name))];
        plan.Add(new MetricRule(Bars.PdfSame, Differs, ours));
        plan.Add(new MetricRule(Bars.PdfReversed, Misplaced, ours));
        plan.Add(new NotAboveRule(Bars.PdfLargeObjects, LargeBytes, ours, rivals));
        plan.Add(new NotAboveRule(Bars.PdfGen2, Gen2, ours, rivals));
    }

    private sealed record Subject(string Name, bool Ours, Action<int> Run, Func<Dictionary<string, double>> Measure)
    {
        public static Subject Of<T>(string name, bool ours)
            where T : struct, IStreamSubject<T> => new(name, ours, PdfLoop<T>.Run, MeasureOf<T>);

        private static Dictionary<string, double> MeasureOf<T>()
            where T : struct, IStreamSubject<T>
        {
            byte[] expected = PdfLoop<PlainStream>.Reverse(out _);
            bool same = expected.AsSpan().SequenceEqual(PdfLoop<T>.Reverse(out long length));
            PdfLoop<T>.Run(3);
            long large = LargeObjects.AllocatedBy(() => PdfLoop<T>.Run(1));
            GC.Collect();
            var before = CollectionCounts.Now();
            PdfLoop<T>.Run(Repeats);
            var collections = CollectionCounts.Now().Since(before);
            return new()
            {
                [Differs] = same ? 0 : 1,
                [Misplaced] = PdfLoop<T>.CountMisplaced(),
                ["output_B"] = length,
                [LargeBytes] = large,
                ["gen0"] = collections.Gen0,
                ["gen1"] = collections.Gen1,
                [Gen2] = collections.Gen2,
            };
        }
    }
}

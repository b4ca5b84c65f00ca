namespace Tidepool.Labs;

/// <summary>A row of lab <c>streams</c>: the name and the loops of one kind of stream.</summary>
/// <param name="Name">The name in tables and results.</param>
/// <param name="Ours">Whether it is ours.</param>
internal abstract record StreamSubject(string Name, bool Ours)
{
    public const string Plain = "MemoryStream";
    public const string New = "PooledMemoryStream, new";
    public const string Rented = "PooledMemoryStream, rented";
    public const string Reused = "PooledMemoryStream, object pool";
    public const string Recyclable = "RecyclableMemoryStream";
    public const string Slim = "MemoryStreamSlim";
    public const string Contiguous = "PooledStream";

    /// <summary>What the rows of extra rivals say when they are not there.</summary>
    public const string MissingRival = "build with --extra-rivals";

    /// <summary>All rows, in the order of the tables.</summary>
    public static IReadOnlyList<StreamSubject> All { get; } =
    [
        Of<PlainStream>(Plain, ours: false),
        Of<RecyclableStream>(Recyclable, ours: false),
#if EXTRA_RIVALS
        Of<SlimStream>(Slim, ours: false),
        Of<ContiguousStream>(Contiguous, ours: false),
#else
        new MissingSubject(Slim),
        new MissingSubject(Contiguous),
#endif
        Of<OwnStream<NewUse>>(New, ours: true),
        Of<LeasedStream>(Rented, ours: true),
        Of<OwnStream<ObjectPoolUse>>(Reused, ours: true),
    ];

    /// <summary>Whether this build has the rivals that are optional.</summary>
    public static bool HasExtraRivals => All.All(subject => subject is not MissingSubject);

    /// <summary>Names the versions of what is measured beside ours.</summary>
    public static void DescribeRivals(LabPlan plan)
    {
        plan.Rivals["MemoryStream"] = RivalVersion.Of(typeof(MemoryStream));
        plan.Rivals["RecyclableMemoryStream"] = RivalVersion.Of(typeof(Microsoft.IO.RecyclableMemoryStream));
#if EXTRA_RIVALS
        plan.Rivals["MemoryStreamSlim"] = RivalVersion.Of(typeof(KZDev.PerfUtils.MemoryStreamSlim));
        plan.Rivals["PooledStream"] = RivalVersion.Of(typeof(global::PooledStream.PooledMemoryStream));
#endif
    }

    /// <summary>Create, write in steps, rewind, read back, dispose.</summary>
    public abstract Loop? Life(long size, int step, int threads);

    /// <summary>Create with room for the size, write at once, rewind, read back, dispose.</summary>
    public abstract Loop? KnownLife(int size);

    /// <summary>Bytes written one by one, on the exact type or through the base class.</summary>
    public abstract Loop? Bytes(bool throughBase);

    /// <summary>Content of a size copied to a target that ignores it.</summary>
    public abstract Loop? CopyOut(int size);

    /// <summary>Bytes of the large object heap that lives of a size add once the memory is warm.</summary>
    public abstract double? LargeObjectBytes(long size, int step);

    private static Loops<T> Of<T>(string name, bool ours)
        where T : struct, IStreamSubject<T> => new(name, ours);

    private sealed record MissingSubject(string Name) : StreamSubject(Name, Ours: false)
    {
        public override Loop? Life(long size, int step, int threads) => null;

        public override Loop? KnownLife(int size) => null;

        public override Loop? Bytes(bool throughBase) => null;

        public override Loop? CopyOut(int size) => null;

        public override double? LargeObjectBytes(long size, int step) => null;
    }

    private sealed record Loops<T>(string Name, bool Ours) : StreamSubject(Name, Ours)
        where T : struct, IStreamSubject<T>
    {
        public override Loop? Life(long size, int step, int threads) => threads == 1
            ? new SingleThreadLoop(operations => StreamLife<T>.Run(operations, size, step))
            : new ParallelLoop((_, operations) => StreamLife<T>.Run(operations, size, step), threads);

        public override Loop? KnownLife(int size) => new SingleThreadLoop(operations => StreamLife<T>.RunKnown(operations, size));

        public override Loop? Bytes(bool throughBase) => throughBase
            ? new SingleThreadLoop(StreamLife<T>.RunBytesThroughBase, StreamLife<T>.BytesBeforeRewind)
            : new SingleThreadLoop(StreamLife<T>.RunBytes, StreamLife<T>.BytesBeforeRewind);

        public override Loop? CopyOut(int size) => new SingleThreadLoop(StreamLife<T>.Copies(size));

        public override double? LargeObjectBytes(long size, int step)
        {
            StreamLife<T>.Run(3, size, step);
            return LargeObjects.AllocatedBy(() => StreamLife<T>.Run(1, size, step));
        }
    }
}

namespace Tidepool.Labs;

/// <summary>A subject of lab <c>objects</c>: its name and how its loops are made.</summary>
internal sealed record InstanceSubject(string Name, bool Ours, Func<int, int, Loop> Create, Func<int, Loop> Drain)
{
    public const string New = "new";
    public const string Bag = "ConcurrentBag<T>";
    public const string Microsoft = "Microsoft.Extensions.ObjectPool";
    public const string Raw = "ObjectPool<T>, raw";
    public const string Lease = "ObjectLease<T>";

    /// <summary>Characters that a new builder has room for.</summary>
    public const int BuilderCapacity = 256;

    /// <summary>What a renter of a builder appends.</summary>
    public const string Text = "id=";

    /// <summary>Objects that every pool may keep: more than any cell has at once.</summary>
    public const int Retained = 4096;

    /// <summary>Subjects that rent a parser state.</summary>
    public static IReadOnlyList<InstanceSubject> States { get; } =
    [
        Of<NewState, State>(New, ours: false),
        Of<BagState, State>(Bag, ours: false),
        Of<MicrosoftState, State>(Microsoft, ours: false),
        Of<RawState, State>(Raw, ours: true),
        Of<LeasedState, StateLease>(Lease, ours: true),
    ];

    /// <summary>Subjects that rent a string builder.</summary>
    public static IReadOnlyList<InstanceSubject> Builders { get; } =
    [
        Of<NewBuilder, Builder>(New, ours: false),
        Of<BagBuilder, Builder>(Bag, ours: false),
        Of<MicrosoftBuilder, Builder>(Microsoft, ours: false),
        Of<RawBuilder, Builder>(Raw, ours: true),
        Of<LeasedBuilder, BuilderLease>(Lease, ours: true),
    ];

    /// <summary>Options of a pool of ours: the same bound as its rivals have, and no leak watching, which they do not have.</summary>
    public static ObjectPoolOptions Options(string name) => new()
    {
        Name = name,
        Budget = Retained,
        LeakSampling = 0,
        Checks = PoolChecks.Default,
    };

    private static InstanceSubject Of<TSubject, TItem>(string name, bool ours)
        where TSubject : struct, IRentalSubject<TSubject, TItem>
        where TItem : struct => new(
        name,
        ours,
        (depth, threads) =>
        {
            var body = RentalBodies<TSubject, TItem>.Of(RentalPattern.Inlined, depth);
            return threads == 1
                ? new SingleThreadLoop(operations => body(operations, 0), depth)
                : new ParallelLoop((_, operations) => body(operations, 0), threads, depth);
        },
        count => new SingleThreadLoop(new DrainBody<TSubject, TItem>(count).Run, count));
}

namespace Tidepool.Labs;

/// <summary>A subject of lab <c>objects</c>: its name and how its loops are made.</summary>
internal sealed record InstanceSubject(string Name, bool Ours, Func<int, int, Loop> Create, Func<int, Loop> Drain)
{
    public const string New = "new";
    public const string Bag = "ConcurrentBag<T>";
    public const string Microsoft = "Microsoft.Extensions.ObjectPool";
    public const string Raw = "ObjectPool<T>, raw";
    public const string Lease = "ObjectLease<T>";

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
    public static IReadOnlyList<InstanceSubject> Builders { get; } = BuildersOf<UsualSize>();

    /// <summary>Subjects that rent a string builder of 1 KB.</summary>
    public static IReadOnlyList<InstanceSubject> LongBuilders { get; } = BuildersOf<LongSize>();

    /// <summary>Options of a pool of ours: the same bound as its rivals have, and no leak watching, which they do not have.</summary>
    public static ObjectPoolOptions Options(string name) => new()
    {
        Name = name,
        Budget = Retained,
        LeakSampling = 0,
        Checks = PoolChecks.Default,
    };

    private static InstanceSubject[] BuildersOf<TSize>()
        where TSize : struct, IBuilderSize =>
    [
        Of<NewBuilder<TSize>, Builder>(New, ours: false),
        Of<BagBuilder<TSize>, Builder>(Bag, ours: false),
        Of<MicrosoftBuilder<TSize>, Builder>(Microsoft, ours: false),
        Of<RawBuilder<TSize>, Builder>(Raw, ours: true),
        Of<LeasedBuilder<TSize>, BuilderLease>(Lease, ours: true),
    ];

    private static InstanceSubject Of<TSubject, TItem>(string name, bool ours)
        where TSubject : struct, IRentalSubject<TSubject, TItem>
        where TItem : struct => new(
        name,
        ours,
        (depth, threads) =>
        {
            if (depth > RentalBodies<TSubject, TItem>.Depth)
            {
                DrainBody<TSubject, TItem>[] bodies =
                    [.. Enumerable.Range(0, threads).Select(_ => new DrainBody<TSubject, TItem>(depth, touches: true))];
                return new ParallelLoop((member, operations) => bodies[member].Run(operations), threads, depth);
            }

            var body = RentalBodies<TSubject, TItem>.Of(RentalPattern.Inlined, depth);
            return threads == 1
                ? new SingleThreadLoop(operations => body(operations, 0), depth)
                : new ParallelLoop((_, operations) => body(operations, 0), threads, depth);
        },
        count => new SingleThreadLoop(new DrainBody<TSubject, TItem>(count).Run, count));
}

namespace Tidepool.Labs;

/// <summary>The cells of lab <c>native</c> and the groups that they form.</summary>
internal sealed class NativeGrid(LabMode mode)
{
    /// <summary>One block at a time.</summary>
    public const string Pair = "pair";

    /// <summary>Rent all, then return all.</summary>
    public const string Bulk = "bulk";

    /// <summary>As bulk; every third block is returned in between and rented again.</summary>
    public const string Stress = "stress";

    /// <summary>A working set of mixed sizes.</summary>
    public const string Mixed = "mixed";

    /// <summary>One thread rents, another returns.</summary>
    public const string Ring = "producer/consumer";

    /// <summary>More threads than a small machine has cores.</summary>
    public const int Many = 16;

    /// <summary>As many threads as cores; at least two, and fewer than <see cref="Many"/>.</summary>
    public static readonly int Cores = Math.Clamp(Environment.ProcessorCount, 2, Many - 1);

    /// <summary>The sizes of the classic experiment.</summary>
    public static readonly IReadOnlyList<int> Sizes = [32, 64, 128, 256, 512, 1024, 2048, 4096];

    private IReadOnlyList<(Bar Bar, CellGroup Group)>? _groups;

    /// <summary>The groups of the design's table, each with its bar.</summary>
    public IReadOnlyList<(Bar Bar, CellGroup Group)> Groups => _groups ??=
    [
        (Bars.PairSmall, Group("pair up to 1 KiB, 1 thread", Pair, 1, quick: [64, 1024], [32, 64, 128, 256, 512, 1024])),
        (Bars.PairLarge, Group("pair 2-4 KiB, 1 thread", Pair, 1, quick: [4096], [2048, 4096])),
        (Bars.PairCores, Group($"pair, {Cores} threads", Pair, Cores, quick: [256], Sizes)),
        (Bars.PairMany, Group($"pair, {Many} threads", Pair, Many, quick: [256], Sizes)),
        (Bars.BulkSmall, Group("bulk up to 256 B, 1 thread", Bulk, 1, quick: [64], [32, 64, 128, 256])),
        (Bars.BulkLarge, Group("bulk 512 B-4 KiB, 1 thread", Bulk, 1, quick: [2048], [512, 1024, 2048, 4096])),
        (Bars.BulkCores, Group($"bulk, {Cores} threads", Bulk, Cores, quick: [512], Sizes)),
        (Bars.BulkMany, Group($"bulk, {Many} threads", Bulk, Many, quick: [512], Sizes)),
        (Bars.StressOne, Group("stress, 1 thread", Stress, 1, quick: [256], Sizes)),
        (Bars.StressCores, Group($"stress, {Cores} threads", Stress, Cores, quick: [256], Sizes)),
        (Bars.StressMany, Group($"stress, {Many} threads", Stress, Many, quick: [256], Sizes)),
        (Bars.MixedOne, new CellGroup("mixed, 1 thread", [MixedPoint(1)])),
        (Bars.MixedCores, new CellGroup($"mixed, {Cores} threads", [MixedPoint(Cores)])),
        (Bars.MixedMany, new CellGroup($"mixed, {Many} threads", [MixedPoint(Many)])),
        (
            Bars.ProducerConsumer,
            new CellGroup(Ring, [.. (mode == LabMode.Full ? (int[])[64, 512, 4096] : [512]).Select(size => Point(Ring, size, 2))])),
    ];

    /// <summary>The cells of the classic experiment, which both modes measure.</summary>
    public static IEnumerable<Cell> Classic { get; } =
    [
        .. from pattern in (string[])[Bulk, Stress]
           from threads in (int[])[1, Many]
           from size in Sizes
           select Point(pattern, size, threads),
    ];

    /// <summary>One point of the grid.</summary>
    public static Cell Point(string pattern, int size, int threads) => Cell.Of(("pattern", pattern), ("size", size), ("threads", threads));

    /// <summary>The point with mixed sizes.</summary>
    public static Cell MixedPoint(int threads) => Cell.Of(("pattern", Mixed), ("threads", threads));

    /// <summary>The driver's command for a cell.</summary>
    public static string CommandOf(Cell cell, int microseconds)
    {
        string workload = cell["pattern"] == Ring ? "ring" : cell["pattern"]!;
        return $"run {workload} {cell["size"] ?? "0"} {cell["threads"]} {microseconds}";
    }

    private CellGroup Group(string name, string pattern, int threads, IReadOnlyList<int> quick, IReadOnlyList<int> full) =>
        new(name, [.. (mode == LabMode.Full ? full : quick).Select(size => Point(pattern, size, threads))]);
}

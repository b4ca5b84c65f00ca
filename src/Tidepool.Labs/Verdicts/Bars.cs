namespace Tidepool.Labs;

/// <summary>
/// Every bar of the product, in one place. <see cref="Bar.Row"/> is the row of the design's table; a test reads the
/// ids of each row and fails when no lab judges one of them.
/// </summary>
internal static class Bars
{
    public static readonly Bar RawInlined = Ratio(
        "arrays.raw.inlined", "raw arrays, depth 1", "raw arrays at depth 1, inlined: at most 0.95 of ArrayPool.Shared", 0.95);

    public static readonly Bar RawCallSite = Ratio(
        "arrays.raw.callsite", "raw arrays, depth 1", "raw arrays at depth 1, at call sites: at most 0.80 of ArrayPool.Shared", 0.80);

    public static readonly Bar LeaseInlined = Ratio(
        "arrays.lease.inlined", "lease, depth 1", "leases at depth 1, inlined: at most 0.80 of ArrayPool.Shared", 0.80);

    public static readonly Bar LeaseCallSite = Ratio(
        "arrays.lease.callsite", "lease, depth 1", "leases at depth 1, at call sites: at most 0.68 of ArrayPool.Shared", 0.68);

    public static readonly Bar LeaseBytes = Count(
        "arrays.lease.bytes", "lease, depth 1", "leases allocate nothing", 0);

    public static readonly Bar ScopeOwn = Ratio(
        "arrays.scope.own", "scope", "scopes: at most 1.20 of our raw arrays", 1.20);

    public static readonly Bar ScopeCallSite = Ratio(
        "arrays.scope.callsite", "scope", "scopes at call sites: at most 0.90 of ArrayPool.Shared", 0.90);

    public static readonly Bar Handle = Ratio(
        "arrays.handle", "thread handle", "thread handle: at most 0.70 of our own lease", 0.70);

    public static readonly Bar Depth8Inlined = Ratio(
        "arrays.depth8.inlined", "depth 8, one thread", "depth 8, inlined: at most 0.30 of ArrayPool.Shared", 0.30);

    public static readonly Bar Depth8CallSite = Ratio(
        "arrays.depth8.callsite", "depth 8, one thread", "depth 8, at call sites: at most 0.48 of ArrayPool.Shared", 0.48);

    public static readonly Bar Depth8Own = Ratio(
        "arrays.depth8.own", "depth 8, one thread", "depth 8: at most 1.30 of our own depth 1", 1.30);

    public static readonly Bar ThreadsDepth8 = Ratio(
        "arrays.threads.depth8", "two threads", "two threads at depth 8: at most 0.25 of ArrayPool.Shared", 0.25);

    public static readonly Bar ThreadsScaling = Ratio(
        "arrays.threads.scaling", "two threads", "two threads, depth 1 and 8: wall time per operation at most 0.65 of ours on one", 0.65);

    public static readonly Bar RingShared = Ratio(
        "arrays.ring.shared", "producer/consumer", "producer/consumer: at most 0.25 of ArrayPool.Shared", 0.25);

    public static readonly Bar RingKestrel = Ratio(
        "arrays.ring.kestrel", "producer/consumer", "producer/consumer: at most 0.75 of Kestrel's pool", 0.75);

    public static readonly Bar Hop = Ratio(
        "arrays.hop", "async hop", "async hop: at most 1.25 of ArrayPool.Shared", 1.25);

    public static readonly Bar Objects = Ratio(
        "arrays.objects", "object arrays", "object arrays of 1000: at most 1.10 of ArrayPool.Shared with clearArray", 1.10);

    public static readonly Bar Grid = Ratio(
        "arrays.grid", "every length", "every length and element type: never above 1.10 of ArrayPool.Shared", 1.10);

    public static readonly Bar Waste = Count(
        "arrays.waste", "waste", "memory wasted by rounding lengths up, default classes, log-uniform lengths: at most 9 %", 9);

    public static readonly Bar FullChecks = Ratio(
        "arrays.checks.full", "full checks", "full checks at 4 KiB, without stacks: at most 40 times the default", 40);

    public static readonly Bar ReusedKestrel = Ratio(
        "memory.reused.kestrel", "memory pools", "reused owners: at most 0.70 of Kestrel's pool", 0.70);

    public static readonly Bar ReusedShared = Ratio(
        "memory.reused.shared", "memory pools", "reused owners: at most 0.65 of MemoryPool.Shared", 0.65);

    public static readonly Bar ReusedBytes = Count(
        "memory.reused.bytes", "memory pools", "reused owners allocate nothing", 0);

    public static readonly Bar HeldBytes = Count(
        "memory.reused.hold", "memory pools", "1000 reused owners rented again allocate nothing", 0);

    public static readonly Bar IdleHeld = Count(
        "memory.idle.held", "idle", "60 s after 1 GiB was returned: at most 10 % is still held", 10);

    public static readonly Bar IdleAlive = Count(
        "memory.idle.alive", "idle", "60 s after 1 GiB was returned: at most 10 % survives one collection", 10);

    public static readonly Bar TrimHeld = Count(
        "memory.trim.held", "idle", "Trim() after 1 GiB was returned: at most 10 % is still held", 10);

    public static readonly Bar TrimAlive = Count(
        "memory.trim.alive", "idle", "Trim() after 1 GiB was returned: at most 10 % survives one collection", 10);

    /// <summary>All bars.</summary>
    public static IReadOnlyList<Bar> All { get; } =
    [
        RawInlined, RawCallSite, LeaseInlined, LeaseCallSite, LeaseBytes, ScopeOwn, ScopeCallSite, Handle,
        Depth8Inlined, Depth8CallSite, Depth8Own, ThreadsDepth8, ThreadsScaling, RingShared, RingKestrel, Hop,
        Objects, Grid, Waste, FullChecks, ReusedKestrel, ReusedShared, ReusedBytes, HeldBytes,
        IdleHeld, IdleAlive, TrimHeld, TrimAlive,
    ];

    private static Bar Ratio(string id, string row, string name, double limit) => new(id, row, name, BarKind.Ratio, limit);

    private static Bar Count(string id, string row, string name, double limit) => new(id, row, name, BarKind.Count, limit);
}

namespace Tidepool;

/// <summary>One size class of one pool, for one kind of item: where its idle items go and how many a thread may hold.</summary>
internal sealed class Bucket
{
    private const int FullMagazineBytes = 16 << 10; // items up to this size get a full magazine
    private const int MagazineBytes = 256 << 10;    // larger ones as many as fit, at least the hot one
    private const int HotBytes = 16 << 20;          // above this no thread holds any
    private const int MostObjects = 64;              // what a chunk of objects has room for, and a magazine that has overflowed
    private const int MostBesideSingles = 2;
    private const int InboxBytes = 1 << 20;
    private const int MaxInbox = 256;
    private const int Widening = 4;

    /// <summary>Makes a bucket, with an empty shared tier.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="id">The index in every thread's table, or -1.</param>
    /// <param name="itemLength">The length of each item in elements.</param>
    /// <param name="itemBytes">Its bytes.</param>
    /// <param name="holdsObjects">Whether the items are objects, which have no home.</param>
    /// <param name="holdsReferences">Whether they keep objects alive until they are cleared.</param>
    internal Bucket(
        TieredPool pool, int id, int itemLength, long itemBytes, bool holdsObjects = false, bool holdsReferences = false)
    {
        Pool = pool;
        Id = id;
        ItemLength = itemLength;
        ItemBytes = itemBytes;
        HoldsObjects = holdsObjects;
        long fitting = Math.Max(0, (MagazineBytes / itemBytes) - 1);
        MagazineCapacity = itemBytes <= FullMagazineBytes ? Items.Capacity : (int)Math.Min(fitting, Items.Capacity);
        MovesSingles = MagazineCapacity <= (holdsObjects ? 0 : MostBesideSingles);
        GrownCapacity = holdsObjects ? (int)Math.Clamp(fitting, MagazineCapacity, MostObjects - 1) : MagazineCapacity;
        ChunkCapacity = holdsObjects ? MostObjects : Items.Capacity;
        InboxLimit = (int)Math.Clamp(InboxBytes / itemBytes, 1, MaxInbox);
        IsInboxDeep = itemBytes <= FullMagazineBytes && !holdsReferences;
        WideInboxLimit = IsInboxDeep ? InboxLimit * Widening : InboxLimit;
        WideInboxBytes = 2 * (WideInboxLimit - InboxLimit) * itemBytes;
        Shared = new SharedTier(this);
        ClosedHome = Magazine.NewClosed(this);
    }

    /// <summary>
    /// The home of slots whose return must take the slow path: their pool checks or clears, or they are too large for a thread.
    /// </summary>
    internal Magazine ClosedHome { get; }

    internal TieredPool Pool { get; }

    /// <summary>
    /// The index of this bucket's magazine in every thread's table, or -1 when its items are too large for the thread tier.
    /// </summary>
    internal int Id { get; }

    /// <summary>The length of each item in elements.</summary>
    internal int ItemLength { get; }

    internal long ItemBytes { get; }

    /// <summary>Whether the items are objects, which have no home.</summary>
    internal bool HoldsObjects { get; }

    /// <summary>Whether its items are arrays without slots.</summary>
    internal bool HoldsArrays { get; init; }

    /// <summary>How many items a magazine holds besides its hot one.</summary>
    internal int MagazineCapacity { get; }

    /// <summary>
    /// Whether the items are so large that a thread keeps a few at most: what it has no place for goes to the shared tier one at a time,
    /// and comes from there one at a time. A chunk would hold one or two.
    /// </summary>
    internal bool MovesSingles { get; }

    /// <summary>
    /// How many items a magazine may grow to hold besides its hot one, once its thread has given many to the shared tier. For buffers that
    /// is <see cref="MagazineCapacity"/>: a magazine grows that began smaller.
    /// </summary>
    internal int GrownCapacity { get; }

    /// <summary>How many items a chunk has room for.</summary>
    internal int ChunkCapacity { get; }

    /// <summary>
    /// How many posted slots may wait in the ring, and again in the stack, of an inbox before the next poster widens it or moves them to
    /// the shared tier.
    /// </summary>
    internal int InboxLimit { get; }

    /// <summary>How many may wait in the stack of a wide inbox.</summary>
    internal int WideInboxLimit { get; }

    /// <summary>What a wide inbox is charged: as many may wait in its stack, and again settled in the magazine's surplus.</summary>
    internal long WideInboxBytes { get; }

    /// <summary>
    /// Whether an inbox may widen and keep slots in its ring. False for large items, and for those with references, which settling clears.
    /// </summary>
    internal bool IsInboxDeep { get; }

    internal SharedTier Shared { get; }

    /// <summary>
    /// Whether a returned item rests behind others before a thread rents it again: see <see cref="Magazine.TryTakeRested"/>.
    /// </summary>
    internal bool IsRested { get; init; }

    /// <summary>The bytes of the places in which a thread's items rest, charged with its magazine.</summary>
    internal long RestingBytes => IsRested ? Magazine.RestingPlaces * ItemBytes : 0;

    /// <summary>False for items that are given to the source as soon as they come back.</summary>
    internal bool IsKept { get; init; } = true;

    /// <summary>
    /// The bucket of the same pool with items of the same length in the other form (slots for arrays, arrays for slots), if any.
    /// </summary>
    internal Bucket? Sibling { get; set; }

    internal static bool FitsThreadTier(long itemBytes) => itemBytes <= HotBytes;
}

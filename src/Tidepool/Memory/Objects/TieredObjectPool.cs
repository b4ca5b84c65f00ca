namespace Tidepool;

/// <summary>
/// Objects in the tiers: thread tier, shared tier, budget, trimming and counters as buffers have them. A derived class says which
/// kinds of items there are, makes and destroys them, and makes sure that each is returned once.
/// </summary>
internal abstract class TieredObjectPool : TieredPool, ILivePool
{
    private readonly List<Bucket> _buckets = [];
    private readonly long _itemBytes;

    /// <summary>Makes a pool; <see cref="Start"/> makes it known.</summary>
    /// <param name="name">The name in messages, events and metrics.</param>
    /// <param name="budget">What idle items are charged to.</param>
    /// <param name="itemBytes">What one idle item is charged.</param>
    protected TieredObjectPool(PoolName name, Budget budget, long itemBytes)
        : base(name, budget) => _itemBytes = itemBytes;

    PoolName ILivePool.PoolName => PoolName;

    /// <summary>What the list of live pools calls it.</summary>
    private protected virtual PoolKind Kind => PoolKind.Objects;

    long ILivePool.BudgetBytes => OwnBudgetBytes;

    int ILivePool.PoolId => PoolId;

    PoolInfo ILivePool.Describe() => new(Name, Kind) { Statistics = GetStatistics() };

    /// <summary>A new kind of item. Only in constructors.</summary>
    /// <param name="isRested">Whether returned items rest behind others before they are rented again.</param>
    protected Bucket AddBucket(bool isRested = false)
    {
        var bucket = new Bucket(this, ThreadTier.AllocateId(), 1, _itemBytes, holdsObjects: true) { IsRested = isRested };
        _buckets.Add(bucket);
        return bucket;
    }

    /// <summary>Joins trimming, metrics and the list of live pools, once the constructor has done its work.</summary>
    protected void Start()
    {
        Trimmer.Add(this);
        PoolMeter.Start();
        LivePools.Add(this);
    }

    internal sealed override List<Bucket> Buckets() => _buckets;
}

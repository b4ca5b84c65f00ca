#pragma warning disable CA1001 // Finish ends the pools.

namespace Tidepool.Attacks;

/// <summary>Leases of resources.</summary>
internal sealed class TornResources : TornRentals<ResourceLease<Marked>>
{
    private ResourcePool<Marked>? _pool;

    public override string Name => "torn-resources";

    protected override string Noun => "A lease of a resource";

    protected override void Begin(int threads) => _pool = new(new Policy(), new() { Name = Name, MaxSize = threads * 5 });

    protected override ResourceLease<Marked> Rent(Random random) => _pool!.Rent(TimeSpan.FromMinutes(1));

    protected override void Use(ref ResourceLease<Marked> field, int way)
    {
        switch (way)
        {
            case 0:
                field.MarkBroken();
                break;
            case 1:
                if (!field.Detach().TryKeep())
                {
                    Break("a detached resource had another renter");
                }

                break;
            case < 8:
                field.Dispose();
                break;
            case < 10:
                _ = field.Info;
                break;
            default:
                _ = field.Value;
                break;
        }
    }

    protected override void End(ResourceLease<Marked> lease) => lease.Dispose();

    protected override void Hold(int me, Random random)
    {
        using ResourceLease<Marked> lease = _pool!.Rent(TimeSpan.FromMinutes(1));
        if (!lease.Value.IsMineAlone(me))
        {
            Break("one resource had two renters, or was ended under one");
        }

        if (!lease.IsActive)
        {
            Break("a stranger ended a rental");
        }
    }

    protected override void Finish()
    {
        AllEnded(_pool!.GetStatistics().Leased);
        Ends("the end of the pool", () => _pool.DisposeAsync().AsTask().GetAwaiter().GetResult());
    }

    private sealed class Policy : ResourcePolicy<Marked>
    {
        public override ValueTask<Marked> CreateAsync(CancellationToken cancellationToken) => new(new Marked());

        public override Marked Create(CancellationToken cancellationToken) => new();

        public override ValueTask DestroyAsync(Marked resource, DestroyReason reason)
        {
            resource.End();
            return ValueTask.CompletedTask;
        }
    }
}

/// <summary>Leases of a pool with keys: the resource is of the key that was asked for.</summary>
internal sealed class TornKeyed : TornRentals<KeyedResourceLease<int, Marked>>
{
    private KeyedResourcePool<int, Marked>? _pool;

    public override string Name => "torn-keyed";

    protected override string Noun => "A lease of a resource of a key";

    protected override void Begin(int threads) =>
        _pool = new(new KeyedPolicy(), new() { PerKey = new() { Name = Name, MaxSize = threads * 5 }, MaxTotal = threads * 5, StealIdleAcrossKeys = true });

    protected override KeyedResourceLease<int, Marked> Rent(Random random) => Get(random.Next(3));

    protected override void Use(ref KeyedResourceLease<int, Marked> field, int way)
    {
        switch (way)
        {
            case 0:
                field.MarkBroken();
                break;
            case < 8:
                field.Dispose();
                break;
            default:
                _ = field.Value;
                break;
        }
    }

    protected override void End(KeyedResourceLease<int, Marked> lease) => lease.Dispose();

    protected override void Hold(int me, Random random)
    {
        int key = random.Next(3);
        using KeyedResourceLease<int, Marked> lease = Get(key);
        if (lease.Value.Key != key)
        {
            Break("a resource of another key");
        }

        if (!lease.Value.IsMineAlone(me))
        {
            Break("one resource had two renters, or was ended under one");
        }
    }

    protected override void Finish() => Ends("the end of the pool", () => _pool!.DisposeAsync().AsTask().GetAwaiter().GetResult());

    private KeyedResourceLease<int, Marked> Get(int key) => _pool!.RentAsync(key, TimeSpan.FromMinutes(1)).AsTask().GetAwaiter().GetResult();
}

/// <summary>Leases of a resource that many share.</summary>
internal sealed class TornShared : TornRentals<SharedLease<Marked>>
{
    private KeyedResourcePool<int, Marked>? _pool;

    public override string Name => "torn-shared";

    protected override string Noun => "A shared lease";

    protected override void Begin(int threads) =>
        _pool = new(new KeyedPolicy(), new() { PerKey = new() { Name = Name, MaxSize = threads * 5 }, MaxTotal = threads * 5 });

    protected override SharedLease<Marked> Rent(Random random) => Get();

    protected override void Use(ref SharedLease<Marked> field, int way)
    {
        switch (way)
        {
            case 0:
                field.MarkBroken();
                break;
            case < 8:
                field.Dispose();
                break;
            default:
                _ = field.Value;
                break;
        }
    }

    protected override void End(SharedLease<Marked> lease) => lease.Dispose();

    protected override void Hold(int me, Random random)
    {
        using SharedLease<Marked> lease = Get();
        Marked value = lease.Value;
        Thread.SpinWait(20);
        if (value.HasEnded || !lease.IsActive)
        {
            Break("a shared resource was ended under a renter");
        }
    }

    protected override void Finish() => Ends("the end of the pool", () => _pool!.DisposeAsync().AsTask().GetAwaiter().GetResult());

    private SharedLease<Marked> Get() => _pool!.RentSharedAsync(1).AsTask().GetAwaiter().GetResult();
}

/// <summary>Makes resources that know their key.</summary>
internal sealed class KeyedPolicy : KeyedResourcePolicy<int, Marked>
{
    public override ValueTask<Marked> CreateAsync(int key, CancellationToken cancellationToken) => new(new Marked(key));

    public override Marked Create(int key, CancellationToken cancellationToken) => new(key);

    public override ValueTask DestroyAsync(Marked resource, DestroyReason reason)
    {
        resource.End();
        return ValueTask.CompletedTask;
    }
}

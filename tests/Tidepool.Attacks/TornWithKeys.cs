#pragma warning disable CA1001 // Finish ends the pool.

namespace Tidepool.Attacks;

/// <summary>Leases of a pool with keys, whose resources know their key and give way to those of other keys.</summary>
internal abstract class TornWithKeys<TLease> : TornRentals<TLease>
{
    private KeyedResourcePool<int, Marked>? _pool;

    protected KeyedResourcePool<int, Marked> Pool => _pool!;

    protected override void Begin(int threads) => _pool = new(static key => new Policy(key), new()
    {
        PerKey = new() { Name = Name, MaxSize = threads * 5 },
        MaxTotal = threads * 5,
        StealIdleAcrossKeys = true,
    });

    protected override void Finish() => Ends("the end of the pool", () => Pool.DisposeAsync().AsTask().GetAwaiter().GetResult());

    private sealed class Policy(int key) : ResourcePolicy<Marked>
    {
        public override ValueTask<Marked> CreateAsync(CancellationToken cancellationToken) => new(new Marked(key));

        public override Marked Create(CancellationToken cancellationToken) => new(key);

        public override ValueTask DestroyAsync(Marked resource, DestroyReason reason) => resource.EndAsync();
    }
}

/// <summary>Leases of a pool with keys: each has a resource of the key that it was rented for.</summary>
internal sealed class TornKeyed : TornWithKeys<KeyedResourceLease<int, Marked>>
{
    public override string Name => "torn-keyed";

    protected override string Noun => "A lease of a resource of a key";

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
            Break("one resource had two renters, or was destroyed under one");
        }
    }

    private KeyedResourceLease<int, Marked> Get(int key) => Pool.Rent(key, TimeSpan.FromMinutes(1));
}

/// <summary>Leases of a shared resource.</summary>
internal sealed class TornShared : TornWithKeys<SharedLease<Marked>>
{
    public override string Name => "torn-shared";

    protected override string Noun => "A shared lease";

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
            Break("a shared resource was destroyed under a renter");
        }
    }

    private SharedLease<Marked> Get() => Pool.RentSharedAsync(1).AsTask().GetAwaiter().GetResult();
}

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
            Break("one resource had two renters, or was destroyed under one");
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

        public override ValueTask DestroyAsync(Marked resource, DestroyReason reason) => resource.EndAsync();
    }
}

using System.Text;
using Their = Microsoft.Extensions.ObjectPool;

namespace Tidepool.Extensions.Tests;

/// <summary>Pools of either kind where the other is expected.</summary>
public sealed class ObjectPoolAdapterTests
{
    [Fact]
    public void Our_pool_serves_code_that_expects_theirs()
    {
        using MicrosoftObjectPool<StringBuilder> pool = new StringBuilderPool().AsMicrosoftPool();
        Their.ObjectPool<StringBuilder> seen = pool;
        StringBuilder builder = seen.Get();
        builder.Append("text");
        seen.Return(builder);
        Assert.Equal(0, builder.Length);
        Assert.Same(builder, seen.Get());
        Assert.Equal((2, 1, 1), (pool.Pool.GetStatistics().Rented, pool.Pool.GetStatistics().Returned, pool.Pool.GetStatistics().Missed));
        seen.Return(builder);
        Assert.Throws<PoolMisuseException>(() => seen.Return(builder));
        Assert.Throws<ArgumentNullException>("obj", () => seen.Return(null!));
    }

    [Fact]
    public void Disposing_the_adapter_disposes_the_pool()
    {
        MicrosoftObjectPool<StringBuilder> pool = new StringBuilderPool().AsMicrosoftPool();
        pool.Dispose();
        Assert.Throws<ObjectDisposedException>(() => pool.Get());
    }

    [Fact]
    public void Our_provider_makes_pools_for_their_policies_and_interfaces()
    {
        var provider = new TidepoolObjectPools(new ObjectPoolOptions { Budget = 100, Checks = PoolChecks.Default });
        Their.ObjectPool<TheirResettable> pool = provider.Create<TheirResettable>();
        MicrosoftObjectPool<TheirResettable> ours = Assert.IsType<MicrosoftObjectPool<TheirResettable>>(pool);
        TheirResettable item = pool.Get();
        item.Count = 5;
        pool.Return(item);
        Assert.Equal(0, item.Count); // their IResettable was honoured
        item = pool.Get();
        item.Count = -1;
        pool.Return(item);
        Assert.True(item.IsDisposed);
        Assert.Equal(1, ours.Pool.GetStatistics().Refused);
        StringBuilder builder = Their.ObjectPoolProviderExtensions.CreateStringBuilderPool(provider).Get();
        Assert.Equal(0, builder.Length);
        ours.Dispose();
    }

    [Fact]
    public void Their_policy_runs_in_our_pool()
    {
        using ObjectPool<StringBuilder> pool = new Their.StringBuilderPooledObjectPolicy { MaximumRetainedCapacity = 100 }.ToTidepoolPool();
        StringBuilder builder;
        using (ObjectLease<StringBuilder> lease = pool.Rent())
        {
            builder = lease.Value.Append("text");
        }

        Assert.Equal(0, builder.Length);
        using (ObjectLease<StringBuilder> lease = pool.Rent())
        {
            Assert.Same(builder, lease.Value);
            builder.Append('x', 1000);
        }

        Assert.Equal(1, pool.GetStatistics().Refused);
    }

    [Fact]
    public void Our_pool_in_front_of_theirs_gives_every_object_back()
    {
        var behind = new CountingPool();
        ObjectPool<TheirResettable> pool = behind.AsTidepoolPool(item => item.TryReset());
        List<ObjectLease<TheirResettable>> leases = [.. Enumerable.Range(0, 50).Select(_ => pool.Rent())];
        Assert.Equal(50, behind.Out);
        leases[0].Value.Count = -1;
        leases.ForEach(l => l.Return());
        Assert.Equal(49, behind.Out); // the refused one went back at once
        pool.Trim();
        Assert.Equal(0, behind.Out);
        TheirResettable raw = pool.RentRaw();
        pool.Dispose();
        Assert.Equal(1, behind.Out);
        pool.ReturnRaw(raw);
        Assert.Equal(0, behind.Out);
    }

    [Fact]
    public void There_and_back_again_one_object_has_one_renter()
    {
        using ObjectPool<StringBuilder> front = new StringBuilderPool().AsMicrosoftPool().AsTidepoolPool();
        var items = new HashSet<StringBuilder>();
        Parallel.For(0, 4, _ =>
        {
            for (int i = 0; i < 1000; i++)
            {
                using ObjectLease<StringBuilder> one = front.Rent(), two = front.Rent();
                Assert.NotSame(one.Value, two.Value);
                lock (items)
                {
                    items.Add(one.Value);
                    items.Add(two.Value);
                }
            }
        });
        Assert.Equal(0, front.GetStatistics().Leased);
        Assert.InRange(items.Count, 2, 200);
        front.Validate();
    }

    [Fact]
    public void Arguments_are_checked()
    {
        Assert.Throws<ArgumentNullException>("pool", () => default(ObjectPool<StringBuilder>)!.AsMicrosoftPool());
        Assert.Throws<ArgumentNullException>("pool", () => default(Their.ObjectPool<StringBuilder>)!.AsTidepoolPool());
        Assert.Throws<ArgumentNullException>("policy", () => default(Their.IPooledObjectPolicy<StringBuilder>)!.ToTidepoolPool());
        Assert.Throws<ArgumentOutOfRangeException>(
            "options", () => new TidepoolObjectPools(new ObjectPoolOptions { Budget = -1 }).Create<StringBuilder>());
        Assert.Throws<InvalidOperationException>(() => default(MicrosoftPolicy<StringBuilder>).Create());
        Assert.Throws<InvalidOperationException>(() => default(MicrosoftPoolPolicy<StringBuilder>).Create());
    }

    private sealed class TheirResettable : Their.IResettable, IDisposable
    {
        public int Count { get; set; }

        public bool IsDisposed { get; private set; }

        public bool TryReset()
        {
            bool isFit = Count >= 0;
            Count = 0;
            return isFit;
        }

        public void Dispose() => IsDisposed = true;
    }

    private sealed class CountingPool : Their.ObjectPool<TheirResettable>
    {
        private int _out;

        public int Out => _out;

        public override TheirResettable Get()
        {
            Interlocked.Increment(ref _out);
            return new TheirResettable();
        }

        public override void Return(TheirResettable obj) => Interlocked.Decrement(ref _out);
    }
}

using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>The list of live pools: complete, weak, and a copy.</summary>
public sealed class PoolsTests
{
    private static string NewName([CallerMemberName] string test = "") => $"{test}-{Guid.NewGuid():N}";

    [Fact]
    public async Task Every_kind_of_pool_is_listed_while_it_lives_and_not_after_its_end()
    {
        string name = NewName();
        BufferPool<byte> buffers = BufferPool<byte>.Create(new() { Name = name + " buffers" });
        ObjectPool<object> objects = ObjectPool<object>.Create(static () => new(), options: new() { Name = name + " objects" });
        var blocks = new SlabMemoryPool<byte>(name: name + " blocks");
        var resources = new ResourcePool<object>(new Policy(), new() { Name = name + " resources", MaxSize = 3 });
        var keyed = new KeyedResourcePool<int, object>(
            static _ => new Policy(), new() { PerKey = new() { Name = name + " keyed", MaxSize = 1 }, MaxTotal = 7 });

        (string, PoolKind)[] expected =
        [
            ($"{name} blocks", PoolKind.Buffers), ($"{name} buffers", PoolKind.Buffers), ($"{name} keyed", PoolKind.KeyedResources),
            ($"{name} objects", PoolKind.Objects), ($"{name} resources", PoolKind.Resources),
        ];
        Assert.Equal(expected, Named(name).Select(static pool => (pool.Name, pool.Kind)));
        Assert.All(Named(name), static pool => Assert.Equal(pool, Pools.Find(pool.Name)));
        Assert.Null(Pools.Find(name));

        buffers.Dispose();
        objects.Dispose();
        blocks.Dispose();
        await resources.DisposeAsync();
        await keyed.DisposeAsync();
        Assert.Empty(Named(name));
    }

    [Fact]
    public async Task The_numbers_are_those_of_the_pool()
    {
        string name = NewName();
        using BufferPool<byte> buffers = BufferPool<byte>.Create(new() { Name = name });
        await using var resources = new ResourcePool<object>(new Policy(), new() { Name = name, MaxSize = 3 });
        using (BufferLease<byte> buffer = buffers.Rent(100))
        using (ResourceLease<object> resource = await resources.RentAsync())
        {
            PoolInfo[] used = Named(name);
            Assert.Equal(buffers.GetStatistics(), used[0].Statistics);
            Assert.Null(used[0].ResourceStatistics);
            Assert.Equal(resources.GetStatistics(), used[1].ResourceStatistics);
            Assert.Null(used[1].Statistics);
            Assert.All(used, static pool => Assert.Equal((1, 0), (pool.Leased, pool.Idle)));
        }

        Assert.All(Named(name), static pool => Assert.Equal((0, 1), (pool.Leased, pool.Idle)));
    }

    [Fact]
    public async Task A_keyed_pool_has_the_sums_of_its_keys_and_the_limit_of_all()
    {
        string name = NewName();
        await using var pool = new KeyedResourcePool<int, object>(
            static _ => new Policy(), new() { PerKey = new() { Name = name, MaxSize = 2 }, MaxTotal = 7 });
        using KeyedResourceLease<int, object> one = await pool.RentAsync(1);
        using KeyedResourceLease<int, object> two = await pool.RentAsync(2);
        (await pool.RentAsync(3)).Dispose();

        ResourcePoolStatistics sum = Assert.Single(Named(name)).ResourceStatistics!.Value;
        Assert.Equal((2, 1, 3, 3, 1, 7), (sum.Leased, sum.Idle, sum.Created, sum.Rented, sum.Returned, sum.MaxSize));
    }

    [Fact]
    public void The_streams_of_the_process_are_one_pool()
    {
        using PooledMemoryStream stream = PooledMemoryStream.Rent();
        Assert.Single(Pools.All, static pool => pool.Kind == PoolKind.Streams);
    }

    [Fact]
    public void A_pool_that_is_dropped_is_collected_and_leaves_the_list()
    {
        string name = NewName();
        Drop(name);
        Eventually.TrueAfterCollections(() => Named(name).Length == 0, "the dropped pools to leave the list");
    }

    [Fact]
    public void Pools_that_come_and_go_do_not_grow_the_list()
    {
        for (int i = 0; i < 2000; i++)
        {
            BufferPool<byte>.Create().Dispose();
        }

        Assert.InRange(LivePools.Count, 1, 1500); // other tests run beside this one and have pools of their own
    }

    [Fact]
    public async Task The_list_can_be_read_while_pools_come_and_go()
    {
        string name = NewName();
        using BufferPool<byte> steady = BufferPool<byte>.Create(new() { Name = name });
        using var stop = new CancellationTokenSource();
        Task[] churn =
        [
            .. Enumerable.Range(0, 2).Select(_ => Task.Run(() =>
            {
                while (!stop.IsCancellationRequested)
                {
                    BufferPool<byte>.Create(new() { Name = $"{name} passing" }).Dispose();
                }
            })),
        ];
        for (int i = 0; i < 200; i++)
        {
            Assert.Single(Pools.All, pool => pool.Name == name);
        }

        await stop.CancelAsync();
        await Task.WhenAll(churn);
    }

    private static PoolInfo[] Named(string name) => [.. Pools.All.Where(pool => pool.Name.StartsWith(name, StringComparison.Ordinal))];

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Drop(string name)
    {
        BufferPool<byte> buffers = BufferPool<byte>.Create(new() { Name = name + " buffers" });
        var resources = new ResourcePool<object>(new Policy(), new() { Name = name + " resources", MaxSize = 1 });
        Assert.Equal(2, Named(name).Length);
        GC.KeepAlive(buffers);
        GC.KeepAlive(resources);
    }

    private sealed class Policy : ResourcePolicy<object>
    {
        public override ValueTask<object> CreateAsync(CancellationToken cancellationToken) => new(new object());
    }
}

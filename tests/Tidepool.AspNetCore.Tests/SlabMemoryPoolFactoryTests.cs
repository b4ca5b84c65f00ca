using System.Buffers;
using System.Runtime.InteropServices;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.AspNetCore.Tests;

/// <summary>The factory and its pools, beside those of the framework.</summary>
public sealed class SlabMemoryPoolFactoryTests
{
    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(4095)]
    [InlineData(4096)]
    [InlineData(4097)]
    [InlineData(int.MaxValue)]
    public void A_rental_ends_as_in_the_pool_of_the_framework(int length)
    {
        using MemoryPool<byte> theirs = Framework().Create(new MemoryPoolOptions { Owner = "theirs" });
        using MemoryPool<byte> ours = new SlabMemoryPoolFactory().Create(new MemoryPoolOptions { Owner = "ours" });
        Assert.Equal(theirs.MaxBufferSize, ours.MaxBufferSize);
        Assert.Equal(Rent(theirs, length), Rent(ours, length));
    }

    [Fact]
    public void A_disposed_pool_refuses_as_the_pool_of_the_framework_does()
    {
        foreach (IMemoryPoolFactory<byte> factory in (IMemoryPoolFactory<byte>[])[Framework(), new SlabMemoryPoolFactory()])
        {
            MemoryPool<byte> pool = factory.Create();
            IMemoryOwner<byte> block = pool.Rent();
            Memory<byte> memory = block.Memory;
            pool.Dispose();
            pool.Dispose();
            Assert.Throws<ObjectDisposedException>(() => pool.Rent());
            memory.Span.Fill(7); // a connection that still drains keeps its block
            Assert.Equal(-1, memory.Span.IndexOfAnyExcept((byte)7));
            block.Dispose();
        }
    }

    [Fact]
    public void Blocks_returned_after_the_end_of_their_pool_are_counted_and_not_kept()
    {
        var pool = (SlabMemoryPool<byte>)new SlabMemoryPoolFactory().Create();
        IMemoryOwner<byte>[] blocks = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent())];
        pool.Dispose();
        Array.ForEach(blocks, static block => block.Dispose());
        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((100, 100, 0), (statistics.Rented, statistics.Returned, statistics.BytesIdle));
        pool.Validate();
    }

    [Fact]
    public void Pools_are_named_after_their_owner()
    {
        var factory = new SlabMemoryPoolFactory();
        using var first = (SlabMemoryPool<byte>)factory.Create(new MemoryPoolOptions { Owner = "front door" });
        using var second = (SlabMemoryPool<byte>)factory.Create(new MemoryPoolOptions { Owner = "front door" });
        using var other = (SlabMemoryPool<byte>)factory.Create(new MemoryPoolOptions { Owner = " " });
        Assert.Equal(("front door", "front door#2"), (first.Name, second.Name));
        Assert.StartsWith("SlabMemoryPool<Byte>", other.Name, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(64 * 1024)]
    [InlineData(1024 * 1024)]
    public void All_pools_of_a_factory_share_one_budget(long budget)
    {
        var factory = new SlabMemoryPoolFactory(budget);
        SlabMemoryPool<byte>[] pools = [.. Enumerable.Range(0, 4).Select(_ => (SlabMemoryPool<byte>)factory.Create())];
        foreach (SlabMemoryPool<byte> pool in pools)
        {
            IMemoryOwner<byte>[] blocks = [.. Enumerable.Range(0, 300).Select(_ => pool.Rent())];
            Array.ForEach(blocks, static block => block.Dispose());
        }

        // 300 blocks are 1.2 MB: a single pool would use the whole budget, and four budgets would hold four times as much.
        long idle = pools.Sum(static pool => pool.GetStatistics().BytesIdle);
        Assert.InRange(idle, budget / 2, budget);
        Array.ForEach(pools, static pool => pool.Validate());
        Array.ForEach(pools, static pool => pool.Trim());
        Assert.Equal(0, pools.Sum(static pool => pool.GetStatistics().BytesIdle));
        Array.ForEach(pools, static pool => pool.Dispose());
    }

    [Fact]
    public void The_end_of_a_pool_gives_its_share_of_the_budget_to_the_others()
    {
        var factory = new SlabMemoryPoolFactory(256 * 1024);
        for (int i = 0; i < 50; i++)
        {
            using var pool = (SlabMemoryPool<byte>)factory.Create();
            IMemoryOwner<byte>[] blocks = [.. Enumerable.Range(0, 300).Select(_ => pool.Rent())];
            Array.ForEach(blocks, static block => block.Dispose());
            Assert.InRange(pool.GetStatistics().BytesIdle, 128 * 1024, 256 * 1024);
        }
    }

    [Fact]
    public void Blocks_never_move_and_are_whole()
    {
        using MemoryPool<byte> pool = new SlabMemoryPoolFactory().Create();
        using IMemoryOwner<byte> block = pool.Rent(1);
        Assert.Equal(4096, block.Memory.Length);
        Assert.True(MemoryMarshal.TryGetArray((ReadOnlyMemory<byte>)block.Memory, out ArraySegment<byte> segment));
        nint before = Marshal.UnsafeAddrOfPinnedArrayElement(segment.Array!, segment.Offset);
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
        Assert.Equal(before, Marshal.UnsafeAddrOfPinnedArrayElement(segment.Array!, segment.Offset));
        Assert.Equal(GC.MaxGeneration, GC.GetGeneration(segment.Array!));
    }

    [Fact]
    public void A_negative_budget_is_refused_and_nothing_is_registered()
    {
        var services = new ServiceCollection();
        var error = Assert.Throws<ArgumentOutOfRangeException>(() => services.AddTidepoolMemoryPool(-1));
        Assert.Equal(("budget", -1L), (error.ParamName, error.ActualValue));
        Assert.Empty(services);
        Assert.Throws<ArgumentOutOfRangeException>(() => WebApplication.CreateBuilder().WebHost.UseTidepoolMemoryPool(-1));
        Assert.Throws<ArgumentNullException>(() => HostingExtensions.AddTidepoolMemoryPool(null!));
        Assert.Throws<ArgumentNullException>(() => HostingExtensions.UseTidepoolMemoryPool(null!));
    }

    private static IMemoryPoolFactory<byte> Framework()
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new());
        builder.WebHost.UseKestrelCore();
        var factory = builder.Build().Services.GetRequiredService<IMemoryPoolFactory<byte>>();
        Assert.IsNotType<SlabMemoryPoolFactory>(factory);
        return factory;
    }

    private static string Rent(MemoryPool<byte> pool, int length)
    {
        try
        {
            using IMemoryOwner<byte> block = pool.Rent(length);
            return $"{block.Memory.Length} bytes";
        }
        catch (ArgumentException e)
        {
            return e.GetType().Name;
        }
    }
}

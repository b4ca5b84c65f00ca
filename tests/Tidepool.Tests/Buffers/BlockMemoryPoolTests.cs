using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

/// <summary>What the slab pool and the pinned pool have in common, and what a server relies on.</summary>
public sealed class BlockMemoryPoolTests : IDisposable
{
    private readonly List<MemoryPool<byte>> _pools = [];

    public static TheoryData<string> Kinds => ["slab", "pinned"];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Every_rental_is_a_whole_block(string kind)
    {
        MemoryPool<byte> pool = Pool(kind);
        Assert.Equal(4096, pool.MaxBufferSize);
        foreach (int asked in (int[])[-1, 0, 1, 4095, 4096])
        {
            using IMemoryOwner<byte> owner = pool.Rent(asked);
            Assert.Equal(4096, owner.Memory.Length);
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_request_longer_than_a_block_is_refused(string kind)
    {
        ArgumentOutOfRangeException failure = Assert.Throws<ArgumentOutOfRangeException>("minBufferSize", () => Pool(kind).Rent(4097));
        Assert.Contains("4096", failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public unsafe void A_block_never_moves(string kind)
    {
        MemoryPool<byte> pool = Pool(kind);
        using IMemoryOwner<byte> owner = pool.Rent();
        owner.Memory.Span.Fill(7);
        nint before = (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(owner.Memory.Span));
        Eventually.Collect();
        Assert.Equal(before, (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(owner.Memory.Span)));
        Assert.Equal(-1, owner.Memory.Span.IndexOfAnyExcept((byte)7));
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_pool_may_be_disposed_twice_and_with_blocks_out(string kind)
    {
        MemoryPool<byte> pool = Pool(kind);
        IMemoryOwner<byte> owner = pool.Rent();
        pool.Dispose();
        pool.Dispose();
        owner.Memory.Span.Fill(1);
        owner.Dispose();
        owner.Dispose();
        Assert.Throws<ObjectDisposedException>(() => owner.Memory);
        Assert.Equal(0, Statistics(pool).Leased);
        Assert.Equal(0, Statistics(pool).BytesIdle);
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void A_disposed_pool_rents_nothing_on_any_thread_and_never_the_blocks_of_another(string kind)
    {
        using ParkedThread other = new();
        MemoryPool<byte> pool = Pool(kind);
        pool.Rent().Dispose();
        other.Run(() => pool.Rent().Dispose());
        pool.Dispose();

        // Pools that come after it may stand in its place of the threads' tables.
        BufferPool<byte>[] next = [.. Enumerable.Range(0, 8).Select(_ => BufferPool<byte>.Create())];
        Array.ForEach(next, p => p.Rent(64).Return());
        other.Run(() => Array.ForEach(next, p => p.Rent(64).Return()));
        Assert.Throws<ObjectDisposedException>(() => pool.Rent());
        other.Run(() => Assert.Throws<ObjectDisposedException>(() => pool.Rent()));
        Array.ForEach(next, p => p.Dispose());
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Trim_gives_idle_blocks_back_and_statistics_tell(string kind)
    {
        MemoryPool<byte> pool = Pool(kind);
        IMemoryOwner<byte>[] owners = [.. Enumerable.Range(0, 100).Select(_ => pool.Rent())];
        Assert.Equal(100 * 4096, Statistics(pool).BytesLeased);
        Array.ForEach(owners, o => o.Dispose());
        Assert.Equal(100 * 4096, Statistics(pool).BytesIdle);
        if (pool is SlabMemoryPool<byte> slabs)
        {
            slabs.Trim();
        }
        else
        {
            ((PinnedMemoryPool<byte>)pool).Trim();
        }

        PoolStatistics statistics = Statistics(pool);
        Assert.Equal((100, 100, 100, 0), (statistics.Rented, statistics.Returned, statistics.Trimmed, statistics.BytesIdle));
    }

    [Theory]
    [InlineData(64)]
    [InlineData(4096)]
    public unsafe void Aligned_blocks_begin_at_a_multiple_of_the_alignment(int alignment)
    {
        using SlabMemoryPool<byte> slabs = new(1000, 1 << 16, alignment);
        using PinnedMemoryPool<byte> pinned = new(1000, alignment);
        foreach (MemoryPool<byte> pool in (MemoryPool<byte>[])[slabs, pinned])
        {
            IMemoryOwner<byte>[] owners = [.. Enumerable.Range(0, 50).Select(_ => pool.Rent())];
            foreach (IMemoryOwner<byte> owner in owners)
            {
                Assert.Equal(0, (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(owner.Memory.Span)) % alignment);
                owner.Dispose();
            }
        }
    }

    [Fact]
    public void Many_blocks_of_a_slab_pool_lie_in_one_array()
    {
        using SlabMemoryPool<byte> pool = new();
        IMemoryOwner<byte>[] owners = [.. Enumerable.Range(0, 256).Select(_ => pool.Rent())];
        int arrays =
            owners.Select(o => MemoryMarshal.TryGetArray(o.Memory, out ArraySegment<byte> segment) ? segment.Array : null)
                .Distinct().Count();
        Assert.Equal(1, arrays);
        Array.ForEach(owners, o => o.Dispose());
    }

    [Fact]
    public void A_block_of_a_pinned_pool_is_a_whole_array()
    {
        using PinnedMemoryPool<byte> pool = new();
        using IMemoryOwner<byte> owner = pool.Rent();
        Assert.True(MemoryMarshal.TryGetArray(owner.Memory, out ArraySegment<byte> segment));
        Assert.Equal((0, 4096, 4096), (segment.Offset, segment.Count, segment.Array!.Length));
    }

    [Fact]
    public void Blocks_of_other_elements_have_their_length_in_elements()
    {
        using SlabMemoryPool<decimal> slabs = new(100);
        using PinnedMemoryPool<Guid> pinned = new(100);
        using IMemoryOwner<decimal> first = slabs.Rent();
        using IMemoryOwner<Guid> second = pinned.Rent();
        Assert.Equal((100, 100), (first.Memory.Length, second.Memory.Length));
    }

    [Fact]
    public void Arguments_out_of_range_are_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>("blockLength", () => new SlabMemoryPool<byte>(0));
        Assert.Throws<ArgumentOutOfRangeException>("blockLength", () => new PinnedMemoryPool<byte>((1 << 20) + 1));
        Assert.Throws<ArgumentOutOfRangeException>("slabBytes", () => new SlabMemoryPool<byte>(4096, 100));
        Assert.ThrowsAny<ArgumentException>(() => new SlabMemoryPool<byte>(4096, alignment: 48));
        Assert.ThrowsAny<ArgumentException>(() => new PinnedMemoryPool<byte>(4096, alignment: 8192));
        Assert.Throws<NotSupportedException>(() => new SlabMemoryPool<string>());
        Assert.Throws<NotSupportedException>(() => new PinnedMemoryPool<string>());
    }

    public void Dispose() => _pools.ForEach(p =>
    {
        Assert.Equal(0, Statistics(p).Leased);
        p.Dispose();
    });

    private static PoolStatistics Statistics(MemoryPool<byte> pool) =>
        pool is SlabMemoryPool<byte> slabs ? slabs.GetStatistics() : ((PinnedMemoryPool<byte>)pool).GetStatistics();

    private MemoryPool<byte> Pool(string kind)
    {
        MemoryPool<byte> pool = kind == "slab" ? new SlabMemoryPool<byte>() : new PinnedMemoryPool<byte>();
        _pools.Add(pool);
        return pool;
    }
}

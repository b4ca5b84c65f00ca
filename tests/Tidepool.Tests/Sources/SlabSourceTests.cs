using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Sources;

public sealed class SlabSourceOfBytesTests(ITestOutputHelper output) : SourceConformance<byte>(output)
{
    protected override BufferSource<byte> NewSource() => new SlabSource<byte>(1 << 16);

    [Fact]
    public void Many_buffers_are_carved_from_one_slab()
    {
        SlabSource<byte> source = new(1 << 16);
        SourceBuffer<byte>[] buffers = [.. Enumerable.Range(0, 16).Select(_ => source.Allocate(4096, 0))];
        Assert.Single(buffers.Select(b => b.Array).Distinct());
        Assert.Equal(16, buffers.Select(b => b.Offset).Distinct().Count());
        Assert.Equal(1, source.SlabCount);

        SourceBuffer<byte> oneMore = source.Allocate(4096, 0);
        Assert.NotSame(buffers[0].Array, oneMore.Array);
        Assert.Equal(2, source.SlabCount);
        source.Free(oneMore);
        Array.ForEach(buffers, b => source.Free(b));
        Assert.Equal(0, source.SlabCount);
    }

    [Fact]
    public void A_freed_buffer_is_carved_again_before_a_new_slab_is_made()
    {
        SlabSource<byte> source = new(1 << 16);
        SourceBuffer<byte>[] buffers = [.. Enumerable.Range(0, 16).Select(_ => source.Allocate(4096, 0))];
        source.Free(buffers[7]);
        SourceBuffer<byte> again = source.Allocate(4096, 0);
        Assert.Same(buffers[7].Array, again.Array);
        Assert.Equal(buffers[7].Offset, again.Offset);
        Assert.Equal(1, source.SlabCount);
    }

    [Fact]
    public void A_slab_whose_buffers_are_all_freed_is_left_to_the_collector()
    {
        SlabSource<byte> source = new(1 << 16);
        WeakReference slab = MakeAndFree(source);
        Eventually.TrueAfterCollections(() => !slab.IsAlive, "the slab to be collected");
        Assert.Equal(0, source.SlabCount);
        GC.KeepAlive(source);
    }

    [Fact]
    public void A_buffer_longer_than_a_quarter_of_a_slab_gets_an_array_of_its_own()
    {
        SlabSource<byte> source = new(1 << 16);
        SourceBuffer<byte> large = source.Allocate((1 << 14) + 1, 0);
        Assert.Equal(0, source.SlabCount);
        source.Free(large);
        SourceBuffer<byte> small = source.Allocate(1 << 14, 0);
        Assert.Equal(1, source.SlabCount);
        source.Free(small);
    }

    [Theory]
    [InlineData(0)]
    [InlineData((1 << 16) - 1)]
    [InlineData((1 << 30) + 1)]
    public void A_slab_size_out_of_range_is_refused(int slabBytes) =>
        Assert.Throws<ArgumentOutOfRangeException>(nameof(slabBytes), () => new SlabSource<byte>(slabBytes));

    [Fact]
    public void Types_with_references_cannot_live_in_slabs()
    {
        Assert.Throws<NotSupportedException>(() => new SlabSource<object>());
        Assert.Throws<NotSupportedException>(() => new SlabSource<Named>());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference MakeAndFree(SlabSource<byte> source)
    {
        SourceBuffer<byte> first = source.Allocate(100, 0);
        SourceBuffer<byte> second = source.Allocate(100, 0);
        source.Free(first);
        source.Free(second);
        return new WeakReference(first.Array);
    }
}

public sealed class SlabSourceOfTriplesTests(ITestOutputHelper output) : SourceConformance<Triple>(output)
{
    protected override BufferSource<Triple> NewSource() => new SlabSource<Triple>(1 << 17);
}

public sealed class SlabSourceOfLongsTests(ITestOutputHelper output) : SourceConformance<long>(output)
{
    protected override BufferSource<long> NewSource() => new SlabSource<long>();
}

public sealed class SlabSourceOfDecimalsTests(ITestOutputHelper output) : SourceConformance<decimal>(output)
{
    protected override BufferSource<decimal> NewSource() => new SlabSource<decimal>(1 << 18);
}

using Xunit.Abstractions;

namespace Tidepool.Native.Tests;

/// <summary>Small buffers are cells of slabs: one call of the library makes many, and an empty slab goes back.</summary>
public sealed class NativeSlabTests(ITestOutputHelper output)
{
    private static readonly NativeSource<byte> Source = NativeLoader.TryLoad(out _, out _) ? NativeSource<byte>.Instance : null!;

    [Theory]
    [InlineData(16, 0)]
    [InlineData(100, 0)]
    [InlineData(100, 64)]
    [InlineData(1000, 4096)]
    [InlineData(8192, 0)]
    public void A_slab_serves_as_many_buffers_as_fit(int length, int alignment)
    {
        int cell = (length + Math.Max(alignment, 16) - 1) / Math.Max(alignment, 16) * Math.Max(alignment, 16);
        int fit = NativeSlab.Bytes / cell;
        int before = NativeSlabs.Count;
        List<SourceBuffer<byte>> buffers = [.. Enumerable.Range(0, 3 * fit).Select(_ => Source.Allocate(length, alignment))];
        Assert.Equal(before + 3, NativeSlabs.Count);
        buffers.Add(Source.Allocate(length, alignment));
        Assert.Equal(before + 4, NativeSlabs.Count);
        Assert.True(NativeSlabs.IsValid());
        buffers.ForEach(b => Source.Free(b));
        Assert.Equal(before, NativeSlabs.Count);
        Assert.True(NativeSlabs.IsValid());
    }

    [Fact]
    public void Larger_buffers_are_blocks_by_themselves()
    {
        int before = NativeSlabs.Count;
        SourceBuffer<byte> buffer = Source.Allocate(NativeSlabs.MaxCellBytes + 1, 0);
        SourceBuffer<byte> aligned = Source.Allocate(100, 2 * NativeSlabs.MaxCellBytes);
        Assert.Equal(before, NativeSlabs.Count);
        Source.Free(buffer);
        Source.Free(aligned);
    }

    [Fact]
    public void A_freed_cell_is_carved_again_before_a_new_slab_is_made()
    {
        List<SourceBuffer<byte>> buffers = [.. Enumerable.Range(0, 200).Select(_ => Source.Allocate(1000, 0))];
        int slabs = NativeSlabs.Count;
        for (int i = 0; i < 1000; i++)
        {
            nint freed = buffers[i % 200].Address;
            Source.Free(buffers[i % 200]);
            buffers[i % 200] = Source.Allocate(1000, 0);
            Assert.True(i > 0 || buffers[0].Address != 0 && freed != 0);
        }

        Assert.InRange(NativeSlabs.Count, 1, slabs);
        buffers.ForEach(b => Source.Free(b));
    }

    [Fact]
    public void Random_births_and_deaths_on_many_threads_keep_the_slabs_in_order()
    {
        int before = NativeSlabs.Count;
        Random random = Seeds.New(output);
        int[] seeds = [.. Enumerable.Range(0, 4).Select(_ => random.Next())];
        var crossing = new System.Collections.Concurrent.ConcurrentQueue<SourceBuffer<byte>>();
        Threads.RunAll(4, thread =>
        {
            Random mine = new(seeds[thread]);
            for (int i = 0; i < 20_000; i++)
            {
                if (mine.Next(2) == 0)
                {
                    SourceBuffer<byte> born = Source.Allocate(1 << mine.Next(4, 14), mine.Next(3) == 0 ? 64 : 0);
                    Mark(born);
                    crossing.Enqueue(born);
                }
                else if (crossing.TryDequeue(out SourceBuffer<byte> old))
                {
                    AssertMark(old);
                    Source.Free(old);
                }
            }
        });
        Assert.True(NativeSlabs.IsValid());
        while (crossing.TryDequeue(out SourceBuffer<byte> last))
        {
            AssertMark(last);
            Source.Free(last);
        }

        Assert.Equal(before, NativeSlabs.Count);
        Assert.True(NativeMethods.tp_is_valid());
    }

    private static unsafe void Mark(SourceBuffer<byte> buffer)
    {
        *(nint*)buffer.Address = buffer.Address;
        *(byte*)(buffer.Address + buffer.Length - 1) = (byte)buffer.Length;
        *(nint*)buffer.Address = buffer.Address;
    }

    private static unsafe void AssertMark(SourceBuffer<byte> buffer) => Assert.Equal(buffer.Address, *(nint*)buffer.Address);
}

using Tidepool.Tests.Sources;
using Xunit.Abstractions;

namespace Tidepool.Native.Tests;

public sealed class NativeSourceOfBytesTests(ITestOutputHelper output) : SourceConformance<byte>(output)
{
    protected override BufferSource<byte> NewSource() => NativeSource<byte>.Instance;

    [Theory]
    [InlineData(1, 16)]
    [InlineData(1, 64)]
    [InlineData(100, 4096)]
    [InlineData(5000, 65_536)]
    [InlineData(100_000, 1 << 21)]
    [InlineData(20, 1 << 26)]
    public unsafe void Alignment_has_no_limit_in_practice(int length, int alignment)
    {
        List<SourceBuffer<byte>> buffers = [];
        for (int i = 0; i < 5; i++)
        {
            buffers.Add(NativeSource<byte>.Instance.Allocate(length, alignment));
            Assert.Equal(0, buffers[i].Address % alignment);
            Elements(buffers[i]).Fill((byte)i);
        }

        Assert.All(buffers, b => Assert.Equal(-1, Elements(b).IndexOfAnyExcept((byte)buffers.IndexOf(b))));
        buffers.ForEach(b => NativeSource<byte>.Instance.Free(b));
    }

    [Fact]
    public void Without_an_alignment_buffers_begin_at_a_multiple_of_16()
    {
        foreach (int length in (int[])[1, 17, 40, 100, 9000, 70_000])
        {
            SourceBuffer<byte> buffer = NativeSource<byte>.Instance.Allocate(length, 0);
            Assert.Equal(0, buffer.Address % 16);
            NativeSource<byte>.Instance.Free(buffer);
        }
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(-1, 0)]
    [InlineData(1, -1)]
    public void Arguments_out_of_range_are_refused(int length, int alignment) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => NativeSource<byte>.Instance.Allocate(length, alignment));

    [Fact]
    public void A_pool_refuses_an_alignment_that_is_no_power_of_two() =>
        Assert.Throws<ArgumentOutOfRangeException>(
            () => BufferPool<byte>.Create(new() { Source = NativeSource<byte>.Instance, Alignment = 48 }));

    [Fact]
    public void The_memory_is_the_librarys()
    {
        foreach (int length in (int[])[1, 5000, 100_000, 50_000_000])
        {
            SourceBuffer<byte> buffer = NativeSource<byte>.Instance.Allocate(length, 0);
            Assert.True(Owns(buffer.Address) && Owns(buffer.Address + length - 1), $"{length}");
            NativeSource<byte>.Instance.Free(buffer);
        }

        static unsafe bool Owns(nint address) => NativeMethods.tp_owns((void*)address);
    }
}

public sealed class NativeSourceOfTriplesTests(ITestOutputHelper output) : SourceConformance<Triple>(output)
{
    protected override BufferSource<Triple> NewSource() => NativeSource<Triple>.Instance;
}

public sealed class NativeSourceOfDecimalsTests(ITestOutputHelper output) : SourceConformance<decimal>(output)
{
    protected override BufferSource<decimal> NewSource() => NativeSource<decimal>.Instance;
}

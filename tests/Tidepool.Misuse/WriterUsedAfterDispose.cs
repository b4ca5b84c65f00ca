namespace Tidepool.Misuse;

public sealed class WriterUsedAfterDispose
{
    [Fact]
    public void Every_use_throws()
    {
        var contiguous = new PooledBufferWriter<byte>();
        contiguous.Write([1, 2, 3]);
        contiguous.Dispose();
        contiguous.Dispose();
        Action[] uses =
        [
            () =>
                contiguous.Write([1]), () =>
                    contiguous.Write([]), () => contiguous.GetMemory(), () => contiguous.GetSpan(), () => contiguous.Advance(0),
            () =>
                _ = contiguous.WrittenSpan, () =>
                    _ = contiguous.WrittenMemory, () => _ = contiguous.WrittenCount, () => _ = contiguous.Capacity,
            () => _ = contiguous.FreeCapacity, () => contiguous.ToSpanUnsafe(), () => contiguous.Detach(), contiguous.Reset,
        ];
        Assert.All(uses, use => Assert.Throws<ObjectDisposedException>(use));

        var segmented = new PooledSequenceWriter<byte>();
        segmented.Write([1, 2, 3]);
        segmented.Dispose();
        segmented.Dispose();
        uses =
        [
            () =>
                segmented.Write([1]), () =>
                    segmented.Write([]), () => segmented.GetMemory(), () => segmented.GetSpan(), () => segmented.Advance(0),
            () =>
                segmented.GetReadOnlySequence(), () =>
                    _ = segmented.WrittenCount, () => segmented.ToSpanUnsafe(), () => segmented.Detach(), segmented.Reset,
        ];
        Assert.All(uses, use => Assert.Throws<ObjectDisposedException>(use));
    }
}

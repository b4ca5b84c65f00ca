namespace Tidepool.Misuse;

public sealed class StreamUsedAfterDispose
{
    [Fact]
    public void Every_use_throws_and_touches_no_other_stream()
    {
        var stream = new PooledMemoryStream();
        stream.Write(new byte[100]);
        stream.Dispose();
        using var other = new PooledMemoryStream(); // has the memory of the first by now
        other.Write([1, 2, 3]);
        Action[] uses =
        [
            () => stream.WriteByte(9), () => stream.Write([9]), () => stream.Write([9], 0, 1), () => stream.ReadByte(),
            () => _ = stream.Read(new byte[1]), () => stream.Position = 0, () => _ = stream.Position, () => _ = stream.Length,
            () =>
                stream.Seek(0, SeekOrigin.Begin), () =>
                    stream.CopyTo(Stream.Null), () => stream.WriteTo(Stream.Null), () => stream.ToArray(),
            () =>
                stream.GetBuffer(), () =>
                    stream.GetMemory(), () => stream.Advance(0), () => stream.Append(new byte[1]), () => stream.Reserve(1),
            () =>
                stream.Detach(), () =>
                    stream.GetReadOnlySequence(), () =>
                        stream.ToUnsafeArraySegment(), () => stream.Capacity = 1, () => _ = stream.CapacityLong,
        ];
        Assert.All(uses, use => Assert.Throws<ObjectDisposedException>(use));
        Assert.Throws<NotSupportedException>(() => stream.SetLength(0)); // as MemoryStream does
        Assert.False(stream.TryReset());
        Assert.False(stream.TryGetBuffer(out ArraySegment<byte> none)); // MemoryStream still gives its buffer away
        Assert.Null(none.Array);
        Assert.Equal([1, 2, 3], other.ToArray());
    }

    [Fact]
    public void A_stream_over_an_array_of_the_caller_goes_on_giving_that_array()
    {
        byte[] array = [1, 2, 3];
        var stream = new PooledMemoryStream(array, 0, 3, writable: true, publiclyVisible: true);
        stream.Dispose();
        Assert.Equal(array, stream.ToArray());
        Assert.Same(array, stream.GetBuffer());
        Assert.True(stream.TryGetBuffer(out ArraySegment<byte> content));
        Assert.Same(array, content.Array);
        Assert.Throws<ObjectDisposedException>(() => stream.WriteByte(9));
        Assert.Throws<ObjectDisposedException>(() => _ = stream.Length);
    }
}

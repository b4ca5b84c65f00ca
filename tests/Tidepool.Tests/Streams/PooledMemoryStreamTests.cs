using System.Buffers;
using System.Text;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>What ours does beyond <see cref="MemoryStream"/>, and the documented differences.</summary>
public sealed class PooledMemoryStreamTests : PoolTest
{
    private static readonly byte[] Data = TestData.Random(300_000);

    public static TheoryData<int> Lengths => [0, 1, 255, 256, 257, 1023, 1024, 1025, 5000, 100_000, 300_000];

    [Fact]
    public void Content_access_after_dispose_throws_and_names_the_ways_out()
    {
        var stream = new PooledMemoryStream();
        stream.Write(Data, 0, 100);
        stream.Dispose();
        Action[] uses =
        [
            () => stream.ToArray(),
            () => stream.GetBuffer(),
            () => stream.ToUnsafeArraySegment(),
            () => stream.GetReadOnlySequence(),
            () => stream.Detach(),
        ];
        foreach (Action use in uses)
        {
            ObjectDisposedException thrown = Assert.Throws<ObjectDisposedException>(use);
            Assert.Contains("leaveOpen", thrown.Message, StringComparison.Ordinal);
            Assert.Contains("Detach", thrown.Message, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData(true, true, 100)]
    [InlineData(true, false, 100)]
    [InlineData(false, true, 100)]
    [InlineData(false, false, 0)]
    [InlineData(true, true, 0)]
    public void An_array_of_the_caller_is_given_also_after_dispose(bool writable, bool visible, int count)
    {
        byte[] array = TestData.Random(200);
        foreach (int length in writable ? new[] { count, count / 2, 0 } : [count])
        {
            var theirs = new MemoryStream(array, 50, count, writable, visible);
            var ours = new PooledMemoryStream(array, 50, count, writable, visible);
            if (writable)
            {
                theirs.SetLength(length);
                ours.SetLength(length);
            }

            theirs.Dispose();
            ours.Dispose();
            ours.Dispose();
            Assert.Equal(theirs.ToArray(), ours.ToArray());
            Assert.Equal(theirs.TryGetBuffer(out ArraySegment<byte> part), ours.TryGetBuffer(out ArraySegment<byte> own));
            Assert.Equal((part.Array, part.Offset, part.Count), (own.Array, own.Offset, own.Count));
            if (visible)
            {
                Assert.Same(array, ours.GetBuffer());
            }
            else
            {
                Assert.Throws<UnauthorizedAccessException>(ours.GetBuffer);
            }

            Assert.False(ours.CanRead || ours.CanWrite || ours.CanSeek);
            Assert.Throws<ObjectDisposedException>(() => ours.Length);
            Assert.Throws<ObjectDisposedException>(() => ours.ReadByte());
        }
    }

    [Fact]
    public void A_stream_over_an_array_alone_is_read_only()
    {
        byte[] array = [1, 2, 3];
        using var stream = new PooledMemoryStream(array);
        Assert.False(stream.CanWrite);
        Assert.Throws<NotSupportedException>(() => stream.WriteByte(1));
        Assert.Throws<NotSupportedException>(() => stream.SetLength(1));
        using var writable = new PooledMemoryStream(array, writable: true);
        writable.WriteByte(9);
        Assert.Equal(9, array[0]);
    }

    [Theory]
    [MemberData(nameof(Lengths))]
    public void All_ways_out_give_the_same_content(int length)
    {
        foreach (PooledMemoryStream stream in Streams())
        {
            using (stream)
            {
                for (int written = 0; written < length; written += 777)
                {
                    stream.Write(Data, written, Math.Min(777, length - written));
                }

                byte[] expected = Data[..length];
                Assert.Equal(expected, stream.ToArray());
                Assert.Equal(expected, stream.GetReadOnlySequence().ToArray());
                using var copied = new MemoryStream();
                stream.WriteTo(copied);
                Assert.Equal(expected, copied.ToArray());
                stream.Position = 0;
                copied.SetLength(0);
                stream.CopyTo(copied);
                Assert.Equal(expected, copied.ToArray());
                Assert.Equal(expected, stream.ToUnsafeArraySegment().ToArray());
                Assert.Equal(expected, stream.GetBuffer()[..length]);
                Assert.True(stream.TryGetBuffer(out ArraySegment<byte> segment));
                Assert.Equal(expected, segment.ToArray());
                Assert.Equal(0, segment.Offset);
                Assert.Null(stream.FindFault());
                using BufferLease<byte> detached = stream.Detach();
                Assert.Equal(expected, detached.Span.ToArray());
                Assert.Equal(0, stream.Length);
                stream.WriteByte(7);
                Assert.Equal([7], stream.ToArray());
                Assert.Equal(expected, detached.Span.ToArray());
            }
        }
    }

    [Fact]
    public void Growth_shows_no_bytes_of_earlier_streams()
    {
        for (int round = 0; round < 20; round++)
        {
            foreach (PooledMemoryStream stream in Streams())
            {
                using (stream)
                {
                    stream.Write(Enumerable.Repeat((byte)0xFF, 50_000).ToArray());
                    stream.SetLength(10);
                    stream.SetLength(40_000);
                    stream.Position = 45_000;
                    stream.WriteByte(1);
                    Assert.Equal(-1, stream.ToArray().AsSpan(10, 44_990).IndexOfAnyExcept((byte)0));
                }
            }
        }
    }

    [Fact]
    public void Get_memory_inside_the_content_changes_only_what_is_advanced_over()
    {
        using var stream = new PooledMemoryStream();
        stream.Write(Data, 0, 3000);
        stream.Position = 1000;
        Span<byte> room = stream.GetSpan(500);
        room[..10].Fill(0xAA);
        room[10..].Fill(0xBB);
        stream.Advance(10);
        byte[] expected = Data[..3000];
        expected.AsSpan(1000, 10).Fill(0xAA);
        Assert.Equal(expected, stream.ToArray());
        Assert.Equal(1010, stream.Position);
        stream.Advance(5);
        expected.AsSpan(1010, 5).Fill(0xBB);
        Assert.Equal(expected, stream.ToArray());
        int length = room.Length;
        Assert.Throws<InvalidOperationException>(() => stream.Advance(length - 14));
        stream.Position = 2000;
        Assert.Throws<InvalidOperationException>(() => stream.Advance(1));
    }

    [Fact]
    public void Appended_memory_is_not_copied_and_never_written_to()
    {
        byte[] mine = Data[..5000];
        byte[] before = [.. mine];
        using var stream = new PooledMemoryStream();
        stream.Write(Data, 0, 100);
        stream.Append(mine);
        Assert.Equal(5100, stream.Position);
        stream.Write(Data, 0, 100);
        mine[4000] ^= 0xFF;
        before[4000] ^= 0xFF;
        Assert.Equal([.. Data[..100], .. mine, .. Data[..100]], stream.ToArray());
        stream.Position = 90;
        stream.Write(new byte[50]);
        Assert.Equal(before, mine);
        Assert.Equal([.. Data[..90], .. new byte[50], .. mine[40..], .. Data[..100]], stream.ToArray());
        Assert.Null(stream.FindFault());
        stream.SetLength(2000);
        stream.SetLength(6000);
        Assert.Equal(-1, stream.ToArray().AsSpan(2000).IndexOfAnyExcept((byte)0));
        Assert.Equal(before, mine);
    }

    [Fact]
    public void Append_into_an_empty_stream_needs_no_memory_of_its_own()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var stream = new PooledMemoryStream(pool);
        stream.Append(Data);
        Assert.Equal(Data, stream.ToArray());
        Assert.Equal(0, pool.GetStatistics().Rented);
    }

    [Fact]
    public void A_detached_single_segment_is_the_segment_itself()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var stream = new PooledMemoryStream(pool);
        stream.Reserve(10_000);
        stream.Write(Data, 0, 10_000);
        byte[] array = stream.ToUnsafeArraySegment().Array!;
        using BufferLease<byte> lease = stream.Detach();
        Assert.Same(array, lease.Segment.Array);
        Assert.Equal(10_000, lease.Length);
        Assert.Equal(1, pool.GetStatistics().Rented);
    }

    [Fact]
    public void Reserved_memory_is_rented_at_once_and_never_again()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var stream = new PooledMemoryStream(pool);
        stream.Reserve(200_000);
        long rented = pool.GetStatistics().Rented;
        Assert.Equal(1, rented);
        Assert.True(stream.Capacity >= 200_000);
        stream.Write(Data, 0, 200_000);
        Assert.Equal(rented, pool.GetStatistics().Rented);
        Assert.Throws<ArgumentOutOfRangeException>("capacity", () => stream.Reserve(-1));
    }

    [Fact]
    public void The_maximum_length_refuses_what_is_beyond_and_changes_nothing()
    {
        using var stream = new PooledMemoryStream(new PooledMemoryStreamOptions { MaxLength = 1000 });
        stream.Write(Data, 0, 900);
        Action[] beyond =
        [
            () => stream.Write(Data, 0, 101), () => stream.SetLength(1001), () => stream.Append(Data.AsMemory(0, 101)),
            () => stream.GetMemory(101), () => { stream.Position = 1000; stream.WriteByte(1); },
        ];
        foreach (Action act in beyond)
        {
            stream.Position = 900;
            IOException thrown = Assert.Throws<IOException>(act);
            Assert.Contains("MaxLength", thrown.Message, StringComparison.Ordinal);
            Assert.Contains("1000", thrown.Message, StringComparison.Ordinal);
            Assert.Equal(Data[..900], stream.ToArray());
        }

        stream.Position = 900;
        Assert.Equal(100, stream.GetMemory().Length);
        stream.Write(Data, 0, 100);
        Assert.Equal(1000, stream.Length);
        Assert.Throws<ArgumentOutOfRangeException>("value", () => stream.CapacityLong = 1001);
        Assert.True(stream.Capacity <= 1000);
    }

    [Fact]
    public void Zero_on_return_leaves_nothing_behind()
    {
        BufferPool<byte> pool = NewPool<byte>();
        byte[] array;
        using (var stream = new PooledMemoryStream(new PooledMemoryStreamOptions { Pool = pool, ZeroOnReturn = true }))
        {
            stream.Write(Enumerable.Repeat((byte)0xEE, 4000).ToArray());
            array = stream.GetBuffer();
            stream.SetLength(5);
        }

        Assert.Equal(-1, array.AsSpan().IndexOfAnyExcept((byte)0));
    }

    [Fact]
    public void A_budget_in_the_options_bounds_what_waits_idle()
    {
        var options = new PooledMemoryStreamOptions { Budget = 0 };
        byte[] first;
        using (var stream = new PooledMemoryStream(options))
        {
            stream.Write(Data, 0, 4096);
            first = stream.GetBuffer();
        }

        using (var stream = new PooledMemoryStream(options))
        {
            stream.Write(Data, 0, 4096);
            Assert.NotSame(first, stream.GetBuffer());
        }
    }

    public static TheoryData<PooledMemoryStreamOptions, string> WrongOptions => new()
    {
        { new() { Budget = -1 }, "Budget must be 0" },
        { new() { MaxLength = -1 }, "MaxLength must be 0 to 1099511627776" },
        { new() { MaxLength = (1L << 40) + 1 }, "MaxLength must be 0 to 1099511627776" },
        { new() { InitialSize = -1 }, "InitialSize must be 0 to 1048576" },
        { new() { InitialSize = (1 << 20) + 1 }, "InitialSize must be 0 to 1048576" },
        { new() { Budget = 1, Pool = BufferPool<byte>.Shared }, "Pool and Budget exclude each other" },
    };

    [Theory]
    [MemberData(nameof(WrongOptions))]
    public void Wrong_options_are_refused_as_those_of_pools_are(PooledMemoryStreamOptions options, string message)
    {
        Action[] uses =
        [
            () => new PooledMemoryStream(options).Dispose(),
            () => PooledMemoryStream.Rent(options).Dispose(),
            () => PooledMemoryStream.RentLease(options).Dispose(),
        ];
        Assert.All(uses, use =>
        {
            ArgumentException refused = Assert.ThrowsAny<ArgumentException>(use);
            Assert.Equal("options", refused.ParamName);
            Assert.StartsWith(message, refused.Message, StringComparison.Ordinal);
        });
    }

    [Fact]
    public void Read_only_streams_over_memory_and_sequences_read_it_all()
    {
        using var writer = new PooledSequenceWriter<byte>();
        writer.Write(Data);
        PooledMemoryStream[] streams = [new(Data.AsMemory()), new(writer.GetReadOnlySequence())];
        foreach (PooledMemoryStream stream in streams)
        {
            using (stream)
            {
                Assert.False(stream.CanWrite);
                Assert.Equal(Data.Length, stream.Length);
                Assert.Equal(Data.Length, stream.Capacity);
                byte[] read = new byte[Data.Length];
                stream.ReadExactly(read);
                Assert.Equal(Data, read);
                stream.Position = 12_345;
                Assert.Equal(Data[12_345], stream.ReadByte());
                Assert.Equal(Data, stream.ToArray());
                Assert.False(stream.TryGetBuffer(out _));
                Assert.Throws<UnauthorizedAccessException>(stream.GetBuffer);
                Assert.Throws<NotSupportedException>(() => stream.Write(Data, 0, 1));
                Assert.Throws<NotSupportedException>(() => stream.Append(Data));
                Assert.Throws<NotSupportedException>(() => stream.Detach());
                Assert.Throws<NotSupportedException>(() => stream.Capacity = 1 << 20);
            }
        }

        using var empty = new PooledMemoryStream(ReadOnlyMemory<byte>.Empty);
        Assert.Equal(-1, empty.ReadByte());
    }

    [Fact]
    public void Arguments_of_constructors_are_checked()
    {
        Assert.Throws<ArgumentOutOfRangeException>("capacity", () => new PooledMemoryStream(-1));
        Assert.Throws<ArgumentOutOfRangeException>("capacity", () => new PooledMemoryStream(BufferPool<byte>.Shared, -1));
        Assert.Throws<ArgumentNullException>("buffer", () => new PooledMemoryStream((byte[])null!));
        Assert.Throws<ArgumentNullException>("buffer", () => new PooledMemoryStream(null!, 0, 0));
        Assert.Throws<ArgumentOutOfRangeException>("index", () => new PooledMemoryStream(Data, -1, 0));
        Assert.Throws<ArgumentOutOfRangeException>("count", () => new PooledMemoryStream(Data, 0, -1));
        Assert.Throws<ArgumentException>(() => new PooledMemoryStream(new byte[3], 2, 2));
        Assert.Throws<ArgumentNullException>("pool", () => new PooledMemoryStream((ArrayPool<byte>)null!));
        Assert.Throws<ArgumentNullException>("pool", () => new PooledMemoryStream((BufferPool<byte>)null!));
        Assert.Throws<ArgumentNullException>("options", () => new PooledMemoryStream((PooledMemoryStreamOptions)null!));
        Assert.Throws<ArgumentNullException>("options", () => PooledMemoryStream.Rent(null!));
    }

    [Fact]
    public void Resetting_makes_a_used_stream_as_new()
    {
        foreach (PooledMemoryStream stream in Streams())
        {
            using (stream)
            {
                stream.Write(Data, 0, 20_000);
                Assert.True(stream.TryReset());
                Assert.Equal((0, 0, 0), (stream.Length, stream.Position, stream.Capacity));
                stream.Write(Data, 0, 10);
                Assert.Equal(Data[..10], stream.ToArray());
                stream.Dispose();
                Assert.False(stream.TryReset());
            }
        }

        using var over = new PooledMemoryStream(Data, writable: true);
        Assert.False(over.TryReset());
    }

    [Fact]
    public void Copying_writes_at_least_80_KiB_at_a_time()
    {
        using var stream = new PooledMemoryStream();
        for (int i = 0; i < 300_000; i += 1000)
        {
            stream.Write(Data, i, 1000);
        }

        stream.Position = 0;
        using var lengths = new LengthsOfWrites();
        stream.CopyTo(lengths);
        Assert.Equal(300_000, lengths.Lengths.Sum());
        Assert.All(lengths.Lengths.SkipLast(1), l => Assert.True(l >= 80 << 10, $"{l} bytes"));
    }

    [Fact]
    public async Task Asynchronous_copying_sends_everything()
    {
        using var stream = new PooledMemoryStream();
        await stream.WriteAsync(Data);
        stream.Position = 0;
        using var lengths = new LengthsOfWrites();
        await stream.CopyToAsync(lengths);
        Assert.Equal(Data.Length, lengths.Lengths.Sum());
    }

    [Fact]
    public void The_idiom_of_a_wrapper_that_leaves_open_works()
    {
        using var stream = new PooledMemoryStream();
        using (var writer = new StreamWriter(stream, Encoding.UTF8, leaveOpen: true))
        {
            writer.Write("content");
        }

        Assert.EndsWith("content", Encoding.UTF8.GetString(stream.ToArray()), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(256)]
    [InlineData(257)]
    [InlineData(600)]
    public void The_capacity_after_the_first_writes_is_that_of_a_MemoryStream(int length)
    {
        foreach (int given in (int[])[0, 1, 100, 256, 300, 5000])
        {
            Assert.Equal(Capacities(new MemoryStream(given), length), Capacities(new PooledMemoryStream(given), length));
        }
    }

    [Fact]
    public void The_first_writes_end_at_the_maximum_length()
    {
        using var stream = new PooledMemoryStream(new PooledMemoryStreamOptions { MaxLength = 100 });
        for (int round = 0; round < 2; round++)
        {
            stream.Write(new byte[50]);
            Assert.Equal(100, stream.Capacity);
            Assert.Throws<IOException>(() => stream.Write(new byte[51]));
            stream.Write(new byte[50]);
            Assert.Throws<IOException>(() => stream.WriteByte(1));
            Assert.Equal(100, stream.Length);
            Assert.True(stream.TryReset());
        }
    }

    private static int[] Capacities(MemoryStream stream, int length)
    {
        using (stream)
        {
            int empty = stream.Capacity;
            stream.Write(new byte[length]);
            int written = stream.Capacity;
            stream.WriteByte(1);
            int longer = stream.Capacity;
            stream.SetLength(0);
            int cleared = stream.Capacity;
            stream.Capacity = 40;
            stream.Write(new byte[41]);
            return [empty, written, longer, cleared, stream.Capacity];
        }
    }

    private IEnumerable<PooledMemoryStream> Streams()
    {
        BufferPool<byte> pool = NewPool<byte>();
        BufferPool<byte> slabs = NewPool<byte>(new() { Source = new SlabSource<byte>() });
        using var native = new NativeTestSource<byte>();
        using BufferPool<byte> natives = BufferPool<byte>.Create(new() { Source = native });
        yield return new PooledMemoryStream();
        yield return PooledMemoryStream.Rent();
        yield return new PooledMemoryStream(10_000);
        yield return new PooledMemoryStream(pool);
        yield return new PooledMemoryStream(slabs);
        yield return new PooledMemoryStream(natives);
        yield return new PooledMemoryStream(pool.AsArrayPool());
        yield return new PooledMemoryStream(new PooledMemoryStreamOptions { InitialSize = 3000, ZeroOnReturn = true });
        yield return PooledMemoryStream.Rent(new PooledMemoryStreamOptions { Pool = pool });
        Assert.Equal(0, natives.GetStatistics().Leased);
    }

    private sealed class LengthsOfWrites : TargetStream
    {
        public List<int> Lengths { get; } = [];

        public override void Write(byte[] buffer, int offset, int count) => Lengths.Add(count);

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Lengths.Add(buffer.Length);
            return new ValueTask(Task.Delay(1, cancellationToken));
        }
    }
}

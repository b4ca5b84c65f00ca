using System.Buffers;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>What is too long or too far is refused before anything is rented or changed.</summary>
public sealed class StreamLimitTests : PoolTest
{
    private const long Longest = 1L << 40;

    private static readonly byte[] Data = TestData.Random(5000);

    public static TheoryData<long> TooFar => [Longest + 1, 1L << 50, long.MaxValue - 1, long.MaxValue];

    [Theory]
    [MemberData(nameof(TooFar))]
    public void A_place_that_no_content_reaches_is_refused_by_name(long place)
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var stream = new PooledMemoryStream(pool);
        stream.Write(Data, 0, 10);
        Refuses<ArgumentOutOfRangeException>(stream, pool, Longest, "value", () => stream.Position = place);
        Refuses<ArgumentOutOfRangeException>(stream, pool, Longest, "offset", () => stream.Seek(place, SeekOrigin.Begin));
        Refuses<ArgumentOutOfRangeException>(stream, pool, Longest, "offset", () => stream.Seek(place - 10, SeekOrigin.Current));
        Refuses<ArgumentOutOfRangeException>(stream, pool, Longest, "offset", () => stream.Seek(place - 10, SeekOrigin.End));
        Refuses<ArgumentOutOfRangeException>(stream, pool, Longest, "value", () => stream.SetLength(place));
        Refuses<ArgumentOutOfRangeException>(stream, pool, Longest, "value", () => stream.CapacityLong = place);
        Refuses<IOException>(stream, pool, Longest, null, () => stream.Reserve(place));
    }

    [Fact]
    public void Behind_the_last_place_of_all_nothing_can_be_written()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var stream = new PooledMemoryStream(pool) { Position = Longest };
        Assert.Equal(-1, stream.ReadByte());
        Refuses<IOException>(stream, pool, Longest, null, () => stream.WriteByte(1));
        Refuses<IOException>(stream, pool, Longest, null, () => stream.Write(Data));
        Refuses<IOException>(stream, pool, Longest, null, () => stream.GetMemory(1));
    }

    [Fact]
    public void More_than_the_process_may_have_is_refused_and_not_rented_until_it_ends()
    {
        long there = GC.GetGCMemoryInfo(GCKind.Any).TotalAvailableMemoryBytes;
        long place = there + (1L << 30);
        Assert.InRange(place, 0, Longest - Data.Length); // a machine with a terabyte for this test would be a surprise
        BufferPool<byte> pool = NewPool<byte>();
        using var stream = new PooledMemoryStream(pool);
        Refuses<InsufficientMemoryException>(stream, pool, there, null, () => stream.SetLength(place));
        Refuses<InsufficientMemoryException>(stream, pool, there, null, () => stream.Reserve(place));
        stream.Position = place;
        Refuses<InsufficientMemoryException>(stream, pool, there, null, () => stream.WriteByte(1));
        Refuses<InsufficientMemoryException>(stream, pool, there, null, () => stream.Write(Data));
        stream.GetSpan(10)[..10].Fill(1);
        Assert.Throws<InsufficientMemoryException>(() => stream.Advance(10));
        Assert.Equal((0, place), (stream.Length, stream.Position));
        stream.Position = 0;
        stream.Write(Data);
        Assert.Equal(Data, stream.ToArray());
    }

    [Fact]
    public void The_option_says_what_the_longest_content_is()
    {
        Assert.Equal(Longest, new PooledMemoryStreamOptions().MaxLength);
        var tooLong = new PooledMemoryStreamOptions { MaxLength = Longest + 1 };
        ArgumentOutOfRangeException thrown = Assert.Throws<ArgumentOutOfRangeException>("options", () => new PooledMemoryStream(tooLong));
        Assert.Contains($"{Longest}", thrown.Message, StringComparison.Ordinal);
        using var stream = new PooledMemoryStream(new PooledMemoryStreamOptions { MaxLength = 10 });
        stream.Position = 1000; // far is not long
        Assert.Equal(-1, stream.ReadByte());
    }

    [Fact]
    public void A_sequence_of_more_than_2_GiB_is_read_at_every_place()
    {
        byte[] block = TestData.Random(64 << 20);
        const int Blocks = 40;
        var first = new SequencePart(block, null);
        SequencePart last = first;
        for (int i = 1; i < Blocks; i++)
        {
            last = new SequencePart(block, last);
        }

        long length = (long)Blocks * block.Length;
        using var stream = new PooledMemoryStream(new ReadOnlySequence<byte>(first, 0, last, block.Length));
        Assert.Equal((length, length, int.MaxValue), (stream.Length, stream.CapacityLong, stream.Capacity));
        foreach (long place in new[] { 0, block.Length - 1, block.Length, int.MaxValue, length - 1 })
        {
            Assert.Equal(place, stream.Seek(place, SeekOrigin.Begin));
            Assert.Equal(block[place % block.Length], stream.ReadByte());
        }

        Assert.Equal(-1, stream.ReadByte());
        Assert.Throws<ArgumentOutOfRangeException>("value", () => stream.Position = length + 1);
        Assert.Throws<IOException>(stream.ToArray);
        Assert.Throws<IOException>(() => stream.ToUnsafeArraySegment());
        Assert.Equal(length, stream.GetReadOnlySequence().Length);
        Assert.Null(stream.FindFault());
    }

    [Fact]
    public void A_pool_that_makes_only_short_buffers_is_used_for_what_it_makes()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = new ShortSource(1000) });
        using var stream = new PooledMemoryStream(pool);
        stream.Write(Data);
        Assert.Equal(5, pool.GetStatistics().Leased);
        Assert.Equal(Data, stream.ToArray());
        Assert.True(stream.GetMemory(3000).Length >= 3000);
        stream.Position = 2500;
        stream.GetSpan(2000)[..2000].Clear();
        stream.Advance(2000);
        Assert.Equal([.. Data[..2500], .. new byte[2000], .. Data[4500..]], stream.ToArray());
        Assert.Equal(stream.ToArray(), stream.GetBuffer()[..5000]);
        Assert.Null(stream.FindFault());
        using BufferLease<byte> lease = stream.Detach();
        Assert.Equal(5000, lease.Length);
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void A_pool_of_secrets_leaves_nothing_in_memory_that_it_did_not_make()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = new ShortSource(1000), Secrets = true });
        using var target = new KeepingTarget();
        byte[] buffer;
        using (var stream = new PooledMemoryStream(pool))
        {
            stream.Write(Data);
            stream.Position = 0;
            stream.CopyTo(target);
            buffer = stream.GetBuffer();
            Assert.Equal(Data, buffer[..5000]);
        }

        Assert.Equal(-1, buffer.AsSpan(0, 5000).IndexOfAnyExcept((byte)0));
        Assert.All(target.Arrays, array => Assert.Equal(-1, array.AsSpan().IndexOfAnyExcept((byte)0)));
    }

    [Fact]
    public void An_array_pool_that_gives_less_than_it_was_asked_for_is_found_out()
    {
        var pool = new StingyPool();
        using var stream = new PooledMemoryStream(pool);
        Action[] acts =
        [
            () => stream.Write(Data),
            () => stream.SetLength(5000),
            () => stream.GetMemory(5000),
            () => stream.Reserve(5000),
        ];
        foreach (Action act in acts)
        {
            InvalidOperationException thrown = Assert.Throws<InvalidOperationException>(act);
            Assert.Contains(nameof(StingyPool), thrown.Message, StringComparison.Ordinal);
            Assert.Equal((0, 0, 0), (stream.Length, stream.Position, pool.Out));
        }
    }

    private static void Refuses<T>(PooledMemoryStream stream, BufferPool<byte> pool, long limit, string? parameter, Action act)
        where T : Exception
    {
        (long length, long position, long capacity, long rented) = (
            stream.Length, stream.Position, stream.CapacityLong, pool.GetStatistics().Rented);
        T thrown = Assert.Throws<T>(act);
        Assert.Contains($"{limit}", thrown.Message, StringComparison.Ordinal);
        Assert.Equal(parameter, (thrown as ArgumentException)?.ParamName);
        Assert.Equal(
            (length, position, capacity, rented),
            (stream.Length, stream.Position, stream.CapacityLong, pool.GetStatistics().Rented));
        Assert.Null(stream.FindFault());
    }

    private sealed class StingyPool : ArrayPool<byte>
    {
        public int Out { get; private set; }

        public override byte[] Rent(int minimumLength)
        {
            Out++;
            return new byte[minimumLength / 2];
        }

        public override void Return(byte[] array, bool clearArray = false) => Out--;
    }
}

using System.Buffers;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>Pools that fail, callers that hold on to what was handed out, and sources that are the stream's own memory.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class StreamRobustnessTests : PoolTest
{
    private static readonly byte[] Data = TestData.Random(500_000);

    [Fact]
    public void Advancing_over_memory_from_before_a_write_throws_and_keeps_what_was_written()
    {
        using var stream = new PooledMemoryStream();
        stream.Write(Data, 0, 100);
        stream.GetSpan(50);
        stream.Write(Data, 100, 200);
        stream.Position = 100;
        Assert.Throws<InvalidOperationException>(() => stream.Advance(10));
        Assert.Equal(Data[..300], stream.ToArray());
    }

    [Fact]
    public void Advancing_over_memory_that_was_given_back_meanwhile_throws()
    {
        Action<PooledMemoryStream>[] meanwhile =
            [s => s.GetBuffer(), s => { s.Capacity = 10_000; s.Capacity = 3000; }, s => s.Reserve(100_000), s => s.SetLength(s.Length)];
        foreach (Action<PooledMemoryStream> act in meanwhile)
        {
            using var stream = new PooledMemoryStream();
            stream.Write(Data, 0, 500);
            stream.Write(Data, 500, 2500);
            stream.GetSpan(5000);
            act(stream);
            Assert.Throws<InvalidOperationException>(() => stream.Advance(4000));
            Assert.Null(stream.FindFault());
            Assert.Equal(Data[..3000], stream.ToArray());
        }
    }

    [Theory]
    [InlineData(4096, 100)]
    [InlineData(1000, 999)]
    [InlineData(70_000, 1)]
    public void Writing_its_own_buffer_over_the_end_of_a_segment_does_what_MemoryStream_does(int length, int position)
    {
        using var theirs = new MemoryStream();
        using var ours = new PooledMemoryStream();
        foreach (MemoryStream stream in new[] { theirs, ours })
        {
            stream.Write(Data, 0, length);
            byte[] own = stream.GetBuffer();
            stream.Position = position;
            stream.Write(own, 0, length);
        }

        Assert.Equal(theirs.ToArray(), ours.ToArray());
    }

    [Fact]
    public void A_pool_that_fails_to_take_room_back_does_not_lose_the_segment_rented_for_it()
    {
        var pool = new FailingPool();
        using (var stream = new PooledMemoryStream(pool))
        {
            stream.Write(Data, 0, 256);
            stream.Reserve(2000);
            pool.FailingReturns = 1;
            Assert.Throws<InvalidOperationException>(() => stream.GetMemory(1 << 20));
            Assert.Equal(Data[..256], stream.ToArray());
        }

        Assert.Equal(0, pool.Out);
    }

    [Fact]
    public void Appended_memory_is_not_written_to_after_a_pool_failed_to_take_a_segment_back()
    {
        var pool = new FailingPool();
        byte[] mine = Data[..1000];
        using var stream = new PooledMemoryStream(pool);
        stream.Append(mine);
        stream.Write(Data, 0, 3000);
        pool.FailingReturns = 1;
        Assert.Throws<InvalidOperationException>(() => stream.SetLength(500));
        Assert.Equal((500, 500), (stream.Length, stream.Position));
        stream.SetLength(900);
        Assert.Equal([.. Data[..500], .. new byte[400]], stream.ToArray());
        Assert.Equal(Data[..1000], mine);
    }

    [Fact]
    public void Appended_memory_is_not_written_to_after_a_pool_failed_to_rent_a_copy()
    {
        var pool = new FailingPool();
        byte[][] mine = [Data[..441], Data[441..772]];
        using var stream = new PooledMemoryStream(pool);
        stream.Append(mine[0]);
        stream.Append(mine[1]);
        stream.Position = 300;
        pool.RentsLeft = 1;
        Assert.Throws<TimeoutException>(() => stream.Write(new byte[200]));
        Assert.Null(stream.FindFault());
        Assert.Equal(Data[..772], stream.ToArray());
        stream.Write(new byte[100]);
        Assert.Equal([.. Data[..300], .. new byte[100], .. Data[400..772]], stream.ToArray());
        Assert.Equal(Data[..441], mine[0]);
        Assert.Equal(Data[441..772], mine[1]);
    }

    [Fact]
    public void A_buffer_stays_the_same_while_the_capacity_is_more_than_one_array_can_have()
    {
        using var stream = new PooledMemoryStream(new PooledMemoryStreamOptions { Budget = 0 });
        stream.Write(Data, 0, 100);
        stream.CapacityLong = 3L << 30;
        byte[] buffer = stream.GetBuffer(); // the longest array there is; what is not touched costs no memory
        Assert.Equal(Array.MaxLength, buffer.Length);
        Assert.Same(buffer, stream.GetBuffer());
    }

    /// <summary>A pool that fails when it is told to, and counts what is out.</summary>
    private sealed class FailingPool : ArrayPool<byte>
    {
        private readonly HashSet<object> _out = new(ReferenceEqualityComparer.Instance);

        public int Out => _out.Count;

        public int RentsLeft { get; set; } = int.MaxValue;

        public int FailingReturns { get; set; }

        public override byte[] Rent(int minimumLength)
        {
            if (RentsLeft-- <= 0)
            {
                throw new TimeoutException("No more arrays.");
            }

            byte[] array = new byte[minimumLength];
            Array.Fill(array, (byte)0xDD);
            _out.Add(array);
            return array;
        }

        public override void Return(byte[] array, bool clearArray = false)
        {
            Assert.True(_out.Remove(array));
            if (FailingReturns-- > 0)
            {
                throw new TimeoutException("The array is not taken back.");
            }
        }
    }
}

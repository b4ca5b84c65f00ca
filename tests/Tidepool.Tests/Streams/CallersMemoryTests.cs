using System.Buffers;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>Memory of a class of the caller's own runs its code when the stream reads it. Here that disposes of the stream.</summary>
public sealed class CallersMemoryTests : PoolTest
{
    private static readonly byte[] Data = TestData.Random(300_000);

    [Theory]
    [InlineData("ToArray")]
    [InlineData("Read")]
    [InlineData("CopyTo")]
    [InlineData("CopyToAsync")]
    [InlineData("WriteTo")]
    [InlineData("Detach")]
    public async Task A_read_gives_the_content_to_its_end(string read)
    {
        BufferPool<byte> pool = NewPool<byte>();
        PooledMemoryStream stream = Make(pool, 600);
        Assert.Equal(Data[..600], await Read(stream, read));
        Assert.False(stream.CanRead);
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Theory]
    [InlineData("ToArray")]
    [InlineData("Read")]
    [InlineData("CopyTo")]
    public async Task So_does_a_read_of_a_stream_over_a_sequence(string read)
    {
        using var memory = new Disposing(Data[..200]);
        var first = new SequencePart(memory.All, null);
        var last = new SequencePart(Data.AsMemory(200, 400), first);
        memory.Stream = new PooledMemoryStream(new ReadOnlySequence<byte>(first, 0, last, 400));
        Assert.Equal(Data[..600], await Read(memory.Stream, read));
    }

    [Theory]
    [InlineData(600, "GetBuffer")]
    [InlineData(600, "WriteTo itself")]
    [InlineData(600, "CopyTo a MemoryStream")] // which gets each segment by itself
    [InlineData(300_000, "CopyTo")]
    [InlineData(300_000, "CopyToAsync")]
    public async Task What_needs_the_stream_afterwards_throws_that_it_is_disposed(int length, string read)
    {
        BufferPool<byte> pool = NewPool<byte>();
        PooledMemoryStream stream = Make(pool, length);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => Read(stream, read));
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void A_write_into_memory_that_throws_changes_nothing_and_loses_no_segment()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var stream = new PooledMemoryStream(pool);
        stream.Write(Data, 0, 100);
        var memory = new Throwing(Data[100..300]);
        stream.Append(memory.All);
        stream.Write(Data, 300, 300);
        PoolStatistics before = pool.GetStatistics();
        stream.Position = 250;
        memory.IsGone = true;
        Assert.Throws<ObjectDisposedException>(() => stream.Write(new byte[100], 0, 100));
        Assert.Equal((before.Leased, before.BytesLeased), (pool.GetStatistics().Leased, pool.GetStatistics().BytesLeased));
        Assert.Equal((250, 600), (stream.Position, stream.Length));
        memory.IsGone = false;
        Assert.Equal(Data[..600], stream.ToArray());
        stream.Write(Data, 0, 100);
        Assert.Equal([.. Data[..250], .. Data[..100], .. Data[350..600]], stream.ToArray());
        stream.Dispose();
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void A_write_into_memory_that_disposes_of_the_stream_ends_and_returns_all()
    {
        BufferPool<byte> pool = NewPool<byte>();
        PooledMemoryStream stream = Make(pool, 600);
        stream.Position = 150;
        stream.Write(new byte[10], 0, 10);
        Assert.False(stream.CanWrite);
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    /// <summary>A stream of 100 bytes, then 200 that dispose of it, then the rest.</summary>
    private static PooledMemoryStream Make(BufferPool<byte> pool, int length)
    {
        var memory = new Disposing(Data[100..300]);
        var stream = new PooledMemoryStream(pool);
        stream.Write(Data, 0, 100);
        stream.Append(memory.All);
        stream.Write(Data, 300, length - 300);
        stream.Position = 0;
        memory.Stream = stream;
        return stream;
    }

    private static async Task<byte[]> Read(PooledMemoryStream stream, string read)
    {
        using var copy = new MemoryStream();
        using var target = new BufferedStream(copy);
        switch (read)
        {
            case "ToArray":
                return stream.ToArray();
            case "Detach":
                using (BufferLease<byte> lease = stream.Detach())
                {
                    return lease.Span.ToArray();
                }

            case "Read":
                byte[] back = new byte[stream.Length];
                stream.ReadExactly(back);
                return back;
            case "GetBuffer":
                return stream.GetBuffer();
            case "CopyTo":
                stream.CopyTo(target);
                break;
            case "CopyToAsync":
                await stream.CopyToAsync(target);
                break;
            case "CopyTo a MemoryStream":
                stream.CopyTo(copy);
                break;
            default:
                stream.WriteTo(read == "WriteTo" ? target : stream);
                break;
        }

        target.Flush();
        return copy.ToArray();
    }

    private sealed class Throwing(byte[] content) : MemoryManager<byte>
    {
        public bool IsGone { get; set; }

        public Memory<byte> All => CreateMemory(content.Length);

        public override Span<byte> GetSpan()
        {
            ObjectDisposedException.ThrowIf(IsGone, this);
            return content;
        }

        public override MemoryHandle Pin(int elementIndex = 0) => throw new NotSupportedException();

        public override void Unpin() => throw new NotSupportedException();

        protected override void Dispose(bool disposing)
        {
        }
    }

    private sealed class Disposing(byte[] content) : MemoryManager<byte>
    {
        public PooledMemoryStream? Stream { get; set; }

        public Memory<byte> All => CreateMemory(content.Length);

        public override Span<byte> GetSpan()
        {
            if (Stream is { } stream)
            {
                Stream = null;
                stream.Dispose();
                for (int i = 0; i < 2 * Magazine.RestingPlaces; i++)
                {
                    using var next = new PooledMemoryStream(); // one of them gets the core, if that was returned
                    next.Write(new byte[3000]);
                }
            }

            return content;
        }

        public override MemoryHandle Pin(int elementIndex = 0) => throw new NotSupportedException();

        public override void Unpin() => throw new NotSupportedException();

        protected override void Dispose(bool disposing)
        {
        }
    }
}

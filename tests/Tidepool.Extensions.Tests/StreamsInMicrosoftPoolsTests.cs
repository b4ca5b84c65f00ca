using Their = Microsoft.Extensions.ObjectPool;

namespace Tidepool.Extensions.Tests;

/// <summary>Streams and writers in the pools of the real Microsoft.Extensions.ObjectPool.</summary>
public sealed class StreamsInMicrosoftPoolsTests
{
    private static readonly byte[] Data = [.. Enumerable.Range(0, 5000).Select(i => (byte)i)];

    [Fact]
    public void A_returned_stream_comes_back_empty_without_any_ritual()
    {
        using BufferPool<byte> memory = BufferPool<byte>.Create();
        Their.ObjectPool<PooledMemoryStream> pool = Their.ObjectPool.Create(
            new PooledMemoryStreamPolicy(new PooledMemoryStreamOptions { Pool = memory }));
        PooledMemoryStream first = pool.Get();
        first.Write(Data);
        first.Position = 17;
        pool.Return(first);
        Assert.Equal(0, memory.GetStatistics().Leased); // what waits in the pool holds no segments
        PooledMemoryStream second = pool.Get();
        Assert.Same(first, second);
        Assert.Equal((0, 0, 0), (second.Length, second.Position, second.Capacity));
        second.Write(Data);
        Assert.Equal(Data, second.ToArray());
        second.Dispose();
        Assert.Equal(0, memory.GetStatistics().Leased);
    }

    [Fact]
    public void A_disposed_stream_is_dropped_by_the_pool()
    {
        Their.ObjectPool<PooledMemoryStream> pool = Their.ObjectPool.Create(new PooledMemoryStreamPolicy());
        PooledMemoryStream stream = pool.Get();
        stream.Dispose();
        pool.Return(stream);
        PooledMemoryStream next = pool.Get();
        Assert.NotSame(stream, next);
        next.WriteByte(1);
        next.Dispose();
    }

    [Fact]
    public void The_classic_ritual_with_SetLength_works_without_a_policy()
    {
        Their.ObjectPool<PooledMemoryStream> pool = Their.ObjectPool.Create<PooledMemoryStream>();
        for (int i = 0; i < 100; i++)
        {
            PooledMemoryStream stream = pool.Get();
            Assert.Equal(0, stream.Length);
            stream.Write(Data.AsSpan(0, 1 + (i * 50)));
            Assert.Equal(Data[..(1 + (i * 50))], stream.ToArray());
            stream.SetLength(0);
            pool.Return(stream);
        }

        pool.Get().Dispose();
    }

    [Fact]
    public void The_classic_ritual_with_Reset_works_for_writers()
    {
        Their.ObjectPool<PooledBufferWriter<byte>> pool = Their.ObjectPool.Create<PooledBufferWriter<byte>>();
        for (int i = 0; i < 100; i++)
        {
            PooledBufferWriter<byte> writer = pool.Get();
            Assert.Equal(0, writer.WrittenCount);
            writer.Write(Data);
            Assert.Equal(Data, writer.WrittenSpan.ToArray());
            writer.Reset();
            pool.Return(writer);
        }

        pool.Get().Dispose();
    }

    [Fact]
    public void Returned_writers_come_back_empty_and_hold_nothing_meanwhile()
    {
        using BufferPool<byte> memory = BufferPool<byte>.Create();
        Their.ObjectPool<PooledBufferWriter<byte>> buffers = Their.ObjectPool.Create(new PooledBufferWriterPolicy<byte>(memory));
        Their.ObjectPool<PooledSequenceWriter<byte>> sequences = Their.ObjectPool.Create(new PooledSequenceWriterPolicy<byte>(memory));
        for (int i = 0; i < 3; i++)
        {
            PooledBufferWriter<byte> buffer = buffers.Get();
            PooledSequenceWriter<byte> sequence = sequences.Get();
            Assert.Equal(0, buffer.WrittenCount);
            Assert.Equal(0, sequence.WrittenCount);
            buffer.Write(Data);
            sequence.Write(Data);
            buffers.Return(buffer);
            sequences.Return(sequence);
            Assert.Equal(0, memory.GetStatistics().Leased);
        }

        PooledBufferWriter<byte> disposed = buffers.Get();
        disposed.Dispose();
        buffers.Return(disposed);
        Assert.NotSame(disposed, buffers.Get());
    }

    [Fact]
    public void Arguments_are_checked()
    {
        Assert.Throws<ArgumentNullException>("options", () => new PooledMemoryStreamPolicy(null!));
        var tooSmall = new PooledMemoryStreamOptions { MaxLength = -1 };
        Assert.Throws<ArgumentOutOfRangeException>("options", () => new PooledMemoryStreamPolicy(tooSmall));
        Assert.Throws<ArgumentNullException>("make", () => new ResettablePolicy<PooledMemoryStream>(null!));
        Assert.Throws<ArgumentNullException>("obj", () => new PooledMemoryStreamPolicy().Return(null!));
    }

    [Fact]
    public void Many_threads_share_a_pool()
    {
        Their.ObjectPool<PooledMemoryStream> pool = Their.ObjectPool.Create(new PooledMemoryStreamPolicy());
        Parallel.For(0, 4, worker =>
        {
            for (int i = 0; i < 2000; i++)
            {
                PooledMemoryStream stream = pool.Get();
                Assert.Equal(0, stream.Length);
                stream.Write(Data.AsSpan(0, (i * 7) % Data.Length));
                stream.WriteByte((byte)worker);
                Assert.Equal(((i * 7) % Data.Length) + 1, stream.Length);
                pool.Return(stream);
            }
        });
    }
}

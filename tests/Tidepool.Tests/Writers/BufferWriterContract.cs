using System.Buffers;
using Tidepool.Tests.Support;
using Xunit.Abstractions;

namespace Tidepool.Tests.Writers;

/// <summary>The contract of <see cref="IBufferWriter{T}"/>, to the letter, for one kind of writer.</summary>
public abstract class BufferWriterContract(ITestOutputHelper output) : PoolTest
{
    /// <summary>A writer over a pool of the test.</summary>
    protected abstract IBufferWriter<byte> Make(BufferPool<byte> pool);

    protected abstract byte[] Written(IBufferWriter<byte> writer);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(255)]
    [InlineData(4096)]
    [InlineData(3_000_000)]
    public void What_is_handed_out_is_at_least_as_long_as_the_hint_and_never_empty(int sizeHint)
    {
        IBufferWriter<byte> writer = Make(NewPool<byte>());
        for (int i = 0; i < 3; i++)
        {
            Assert.True(writer.GetMemory(sizeHint).Length >= Math.Max(1, sizeHint));
            Span<byte> span = writer.GetSpan(sizeHint);
            Assert.True(span.Length >= Math.Max(1, sizeHint));
            span.Fill(1);
            writer.Advance(span.Length); // the next one begins with no room at all
        }

        ((IDisposable)writer).Dispose();
    }

    [Fact]
    public void A_negative_hint_and_a_negative_advance_are_refused()
    {
        IBufferWriter<byte> writer = Make(NewPool<byte>());
        Assert.Throws<ArgumentOutOfRangeException>("sizeHint", () => writer.GetMemory(-1));
        Assert.Throws<ArgumentOutOfRangeException>("sizeHint", () => { writer.GetSpan(-1); });
        writer.GetSpan(10);
        Assert.Throws<ArgumentOutOfRangeException>("sizeHint", () => writer.GetMemory(-1));
        Assert.Throws<ArgumentOutOfRangeException>("count", () => writer.Advance(-1));
        Assert.Empty(Written(writer));
        ((IDisposable)writer).Dispose();
    }

    [Fact]
    public void Advancing_past_what_was_handed_out_is_refused_and_changes_nothing()
    {
        IBufferWriter<byte> writer = Make(NewPool<byte>());
        Assert.Throws<InvalidOperationException>(() => writer.Advance(1));
        writer.Advance(0);
        int length = writer.GetSpan(10).Length;
        Assert.Throws<InvalidOperationException>(() => writer.Advance(length + 1));
        writer.Advance(3);
        writer.Advance(length - 3);
        Assert.Throws<InvalidOperationException>(() => writer.Advance(1));
        Assert.Equal(length, Written(writer).Length);
        ((IDisposable)writer).Dispose();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(5000)]
    public void What_was_handed_out_once_may_be_advanced_over_in_parts(int written)
    {
        IBufferWriter<byte> writer = Make(NewPool<byte>());
        writer.Write(new byte[written]);
        Span<byte> span = writer.GetSpan(6);
        span[..6].Fill(1);
        int length = span.Length;
        writer.Advance(1);
        writer.Advance(0);
        writer.Advance(2);
        Assert.Throws<InvalidOperationException>(() => writer.Advance(length - 2));
        writer.Advance(3);
        Assert.Equal([.. new byte[written], 1, 1, 1, 1, 1, 1], Written(writer));
        ((IDisposable)writer).Dispose();
    }

    [Fact]
    public void A_size_that_no_memory_has_is_refused_as_the_contract_says_and_changes_nothing()
    {
        BufferPool<byte> pool = NewPool<byte>();
        IBufferWriter<byte> writer = Make(pool);
        writer.Write<byte>([1, 2, 3]);
        long rented = pool.GetStatistics().Rented;
        Action[] tooLong =
        [
            () => writer.GetMemory(int.MaxValue),
            () => writer.GetSpan(int.MaxValue),
            () => writer.GetSpan(Array.MaxLength + 1),
        ];
        foreach (Action ask in tooLong)
        {
            OutOfMemoryException thrown = Assert.ThrowsAny<OutOfMemoryException>(ask);
            Assert.Contains($"{Array.MaxLength}", thrown.Message, StringComparison.Ordinal);
        }

        Assert.Equal(rented, pool.GetStatistics().Rented);
        Assert.Equal([1, 2, 3], Written(writer));
        ((IDisposable)writer).Dispose();
    }

    [Fact]
    public void A_pool_that_makes_only_short_buffers_serves_what_it_can()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = new ShortSource(1000) });
        IBufferWriter<byte> writer = Make(pool);
        byte[] data = new byte[1000];
        new Random(5).NextBytes(data);
        for (int i = 0; i < data.Length; i += 10)
        {
            writer.Write(data.AsSpan(i, 10));
        }

        Assert.Equal(data, Written(writer));
        ((IDisposable)writer).Dispose();
    }

    [Fact]
    public void Memory_that_is_asked_for_again_follows_what_was_advanced_over()
    {
        IBufferWriter<byte> writer = Make(NewPool<byte>());
        writer.GetMemory(4).Span[..4].Fill(1);
        writer.Advance(2);
        writer.GetMemory(4).Span[..4].Fill(2);
        writer.Advance(1);
        writer.GetSpan(4)[..4].Fill(3);
        writer.Advance(4);
        Assert.Equal([1, 1, 2, 3, 3, 3, 3], Written(writer));
        ((IDisposable)writer).Dispose();
    }

    [Fact]
    public void After_dispose_everything_throws()
    {
        IBufferWriter<byte> writer = Make(NewPool<byte>());
        writer.GetSpan(10);
        ((IDisposable)writer).Dispose();
        Assert.Throws<ObjectDisposedException>(() => writer.GetMemory());
        Assert.Throws<ObjectDisposedException>(() => { writer.GetSpan(); });
        Assert.Throws<ObjectDisposedException>(() => writer.Advance(0));
        Assert.Throws<ObjectDisposedException>(() => writer.Advance(1));
        Assert.Throws<ObjectDisposedException>(() => Written(writer));
        ((IDisposable)writer).Dispose();
    }

    [Fact]
    public void Random_writes_come_out_as_they_went_in()
    {
        Random random = Seeds.New(output);
        BufferPool<byte> pool = NewPool<byte>();
        for (int round = 0; round < 300; round++)
        {
            IBufferWriter<byte> writer = Make(pool);
            List<byte> model = [];
            for (int step = random.Next(40); step > 0; step--)
            {
                byte[] data = new byte[random.Next(random.Next(15) == 0 ? 20_000 : 300)];
                random.NextBytes(data);
                if (random.Next(2) == 0)
                {
                    writer.Write(data);
                }
                else
                {
                    data.CopyTo(writer.GetSpan(data.Length));
                    writer.Advance(data.Length);
                }

                model.AddRange(data);
            }

            Assert.True(model.SequenceEqual(Written(writer)), $"round {round}");
            ((IDisposable)writer).Dispose();
        }
    }
}

public sealed class PooledBufferWriterContract(ITestOutputHelper output) : BufferWriterContract(output)
{
    protected override IBufferWriter<byte> Make(BufferPool<byte> pool) => new PooledBufferWriter<byte>(pool);

    protected override byte[] Written(IBufferWriter<byte> writer) => ((PooledBufferWriter<byte>)writer).WrittenSpan.ToArray();
}

public sealed class PooledSequenceWriterContract(ITestOutputHelper output) : BufferWriterContract(output)
{
    protected override IBufferWriter<byte> Make(BufferPool<byte> pool) => new PooledSequenceWriter<byte>(pool);

    protected override byte[] Written(IBufferWriter<byte> writer) => ((PooledSequenceWriter<byte>)writer).GetReadOnlySequence().ToArray();
}

public sealed class PooledMemoryStreamWriterContract(ITestOutputHelper output) : BufferWriterContract(output)
{
    protected override IBufferWriter<byte> Make(BufferPool<byte> pool) => new PooledMemoryStream(pool);

    protected override byte[] Written(IBufferWriter<byte> writer) => ((PooledMemoryStream)writer).ToArray();
}

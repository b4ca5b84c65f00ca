using System.Buffers;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Writers;

public sealed class PooledSequenceWriterTests : PoolTest
{
    [Fact]
    public void Growing_moves_nothing_that_was_written()
    {
        using var writer = new PooledSequenceWriter<byte>(NewPool<byte>());
        writer.Write([1, 2, 3]);
        ReadOnlyMemory<byte> early = writer.GetReadOnlySequence().First;
        writer.Write(new byte[3_000_000]);
        Assert.Equal(3_000_003, writer.WrittenCount);
        ReadOnlyMemory<byte> now = writer.GetReadOnlySequence().First;
        Assert.True(early.Span.Overlaps(now.Span, out int offset) && offset == 0);
        Assert.Equal([1, 2, 3], early.Span[..3].ToArray());
    }

    [Fact]
    public void The_elements_in_one_piece_are_copied_once_and_stay()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var writer = new PooledSequenceWriter<byte>(pool);
        byte[] data = new byte[10_000];
        new Random(3).NextBytes(data);
        foreach (byte[] part in data.Chunk(700))
        {
            writer.Write(part);
        }

        Span<byte> whole = writer.ToSpanUnsafe();
        Assert.Equal(data, whole.ToArray());
        Assert.True(Unsafe.AreSame(ref whole[0], ref writer.ToSpanUnsafe()[0]));
        Assert.Equal(1, pool.GetStatistics().Leased);
        writer.Write([5]);
        Assert.Equal([.. data, 5], writer.GetReadOnlySequence().ToArray());
    }

    [Fact]
    public void Reset_keeps_one_segment_and_TryReset_none()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var writer = new PooledSequenceWriter<byte>(pool);
        writer.GetSpan(100);
        writer.Advance(100);
        writer.Write(new byte[100_000]);
        writer.Reset();
        Assert.Equal(0, writer.WrittenCount);
        Assert.True(writer.GetReadOnlySequence().IsEmpty);
        Assert.Equal(1, pool.GetStatistics().Leased);
        writer.Write([1, 2]);
        Assert.Equal([1, 2], writer.GetReadOnlySequence().ToArray());
        Assert.True(writer.TryReset());
        Assert.Equal(0, pool.GetStatistics().Leased);
        writer.Dispose();
        Assert.False(writer.TryReset());
    }

    [Fact]
    public void A_detached_sequence_outlives_the_writer()
    {
        BufferPool<char> pool = NewPool<char>();
        var writer = new PooledSequenceWriter<char>(pool);
        string text = new('x', 5000);
        writer.Write(text);
        SequenceLease<char> lease = writer.Detach();
        writer.Write("other");
        writer.Dispose();
        Assert.Equal(5000, lease.Length);
        Assert.Equal(text, lease.Sequence.ToString());
        lease.Dispose();
        lease.Dispose();
        Assert.Throws<ObjectDisposedException>(() => lease.Sequence);
        Assert.Equal(0, pool.GetStatistics().Leased);
    }

    [Fact]
    public void A_maximum_length_refuses_what_is_beyond_and_changes_nothing()
    {
        using var writer = new PooledSequenceWriter<byte>(NewPool<byte>(), maxLength: 300);
        writer.Write(new byte[299]);
        InsufficientMemoryException thrown = Assert.Throws<InsufficientMemoryException>(() => writer.Write(new byte[2]));
        Assert.Contains("299", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("300", thrown.Message, StringComparison.Ordinal);
        Assert.Throws<InsufficientMemoryException>(() => writer.GetMemory(2));
        Assert.Equal(299, writer.WrittenCount);
        Assert.Equal(1, writer.GetMemory().Length);
        writer.Write([1]);
        Assert.Throws<InsufficientMemoryException>(() => writer.GetMemory());
        Assert.Throws<ArgumentOutOfRangeException>("maxLength", () => new PooledSequenceWriter<byte>(null, -1));
    }

    [Fact]
    public void Reference_elements_are_cleared_when_they_are_given_up()
    {
        BufferPool<object> pool = NewPool<object>();
        using var writer = new PooledSequenceWriter<object>(pool);
        WeakReference reset = Write(writer);
        writer.Reset();
        Eventually.TrueAfterCollections(() => !reset.IsAlive, "the element to be collected after Reset");
        WeakReference disposed = Write(writer);
        writer.Write(new object[5000]);
        writer.Dispose();
        Eventually.TrueAfterCollections(() => !disposed.IsAlive, "the element to be collected after the disposal");
    }

    [Fact]
    public void Racing_disposals_return_each_segment_once()
    {
        BufferPool<byte> pool = NewPool<byte>();
        for (int round = 0; round < 300; round++)
        {
            var writer = new PooledSequenceWriter<byte>(pool);
            writer.Write(new byte[20_000]);
            SequenceLease<byte> lease = writer.Detach();
            writer.Write(new byte[20_000]);
            Threads.RunAll(2, i =>
            {
                writer.Dispose();
                lease.Dispose();
            });
        }

        Assert.Equal(0, pool.GetStatistics().StaleDisposes);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference Write(PooledSequenceWriter<object> writer)
    {
        object element = new();
        writer.Write([element]);
        return new WeakReference(element);
    }
}

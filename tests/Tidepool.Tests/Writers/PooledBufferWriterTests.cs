using System.Buffers;
using System.Runtime.CompilerServices;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Writers;

public sealed class PooledBufferWriterTests : PoolTest
{
    [Fact]
    public void The_written_elements_can_be_changed_in_place()
    {
        using var writer = new PooledBufferWriter<int>(NewPool<int>());
        writer.Write([1, 2, 3]);
        writer.ToSpanUnsafe()[1] = 9;
        Assert.Equal([1, 9, 3], writer.WrittenSpan.ToArray());
        Assert.Equal([1, 9, 3], writer.WrittenMemory.ToArray());
        Assert.Equal(3, writer.WrittenCount);
        Assert.Equal(writer.Capacity - 3, writer.FreeCapacity);
    }

    [Fact]
    public void Reset_keeps_the_buffer_and_TryReset_returns_it()
    {
        BufferPool<byte> pool = NewPool<byte>();
        using var writer = new PooledBufferWriter<byte>(pool, initialCapacity: 1000);
        writer.Write(new byte[1000]);
        writer.Reset();
        Assert.Equal(0, writer.WrittenCount);
        Assert.Equal(1000, writer.Capacity);
        Assert.Throws<InvalidOperationException>(() => writer.Advance(1));
        Assert.Equal(1, pool.GetStatistics().Leased);
        Assert.True(writer.TryReset());
        Assert.Equal(0, pool.GetStatistics().Leased);
        writer.Write([1]);
        Assert.Equal([1], writer.WrittenSpan.ToArray());
        writer.Dispose();
        Assert.False(writer.TryReset());
        Assert.Throws<ObjectDisposedException>(writer.Reset);
    }

    [Fact]
    public void Detached_elements_outlive_the_writer_without_a_copy()
    {
        BufferPool<byte> pool = NewPool<byte>();
        var writer = new PooledBufferWriter<byte>(pool);
        writer.Write([1, 2, 3]);
        ref byte first = ref writer.ToSpanUnsafe()[0];
        using BufferLease<byte> lease = writer.Detach();
        Assert.True(Unsafe.AreSame(ref first, ref lease.Span[0]));
        writer.Write([4]);
        Assert.Equal([4], writer.WrittenSpan.ToArray());
        writer.Dispose();
        Assert.Equal([1, 2, 3], lease.Span.ToArray());
        using var empty = new PooledBufferWriter<byte>(pool);
        using BufferLease<byte> nothing = empty.Detach();
        Assert.Equal(0, nothing.Length);
    }

    [Fact]
    public void A_maximum_length_refuses_what_is_beyond_and_changes_nothing()
    {
        using var writer = new PooledBufferWriter<byte>(NewPool<byte>(), maxLength: 300);
        writer.Write(new byte[299]);
        InsufficientMemoryException thrown = Assert.Throws<InsufficientMemoryException>(() => writer.Write(new byte[2]));
        Assert.Contains("299", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("300", thrown.Message, StringComparison.Ordinal);
        Assert.Throws<InsufficientMemoryException>(() => writer.GetMemory(2));
        Assert.Equal(299, writer.WrittenCount);
        writer.Write([1]);
        Assert.Throws<InsufficientMemoryException>(() => writer.GetMemory());
        Assert.Throws<ArgumentOutOfRangeException>("maxLength", () => new PooledBufferWriter<byte>(null, maxLength: -1));
        Assert.Throws<ArgumentOutOfRangeException>(
            "initialCapacity", () => new PooledBufferWriter<byte>(null, initialCapacity: 2, maxLength: 1));
        Assert.Throws<ArgumentOutOfRangeException>("initialCapacity", () => new PooledBufferWriter<byte>(null, initialCapacity: -1));
    }

    [Fact]
    public void Reference_elements_are_cleared_when_they_are_given_up()
    {
        BufferPool<object> pool = NewPool<object>();
        using var writer = new PooledBufferWriter<object>(pool);
        WeakReference reset = Write(writer);
        writer.Reset();
        Eventually.TrueAfterCollections(() => !reset.IsAlive, "the element to be collected after Reset");
        WeakReference handedOut = WriteWithoutAdvance(writer);
        writer.Reset();
        Eventually.TrueAfterCollections(() => !handedOut.IsAlive, "what was written without Advance to be collected after Reset");
        WeakReference grown = Write(writer);
        writer.GetMemory(100_000);
        writer.Dispose();
        Eventually.TrueAfterCollections(() => !grown.IsAlive, "the element to be collected after growth and disposal");
    }

    [Fact]
    public void Racing_disposals_return_the_buffer_once()
    {
        BufferPool<byte> pool = NewPool<byte>();
        for (int round = 0; round < 300; round++)
        {
            var writer = new PooledBufferWriter<byte>(pool);
            writer.Write(new byte[2000]);
            Threads.RunAll(2, _ => writer.Dispose());
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((300, 300), (statistics.Rented, statistics.Returned));
    }

    [Fact]
    public void A_writer_with_warm_buffers_allocates_only_itself()
    {
        byte[] data = new byte[5000];
        Assert.InRange(Allocations.Each(() => Use(data), operations: 100), 1, 64);
    }

    private static void Use(byte[] data)
    {
        using var writer = new PooledBufferWriter<byte>();
        writer.Write(data.AsSpan(0, 100));
        writer.Write(data);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference Write(PooledBufferWriter<object> writer)
    {
        object element = new();
        writer.Write([element]);
        return new WeakReference(element);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference WriteWithoutAdvance(PooledBufferWriter<object> writer)
    {
        object element = new();
        writer.GetSpan(10)[7] = element;
        return new WeakReference(element);
    }
}

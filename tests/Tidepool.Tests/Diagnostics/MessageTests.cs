using System.Buffers;
using System.Text;
using Tidepool.Data;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Diagnostics;

/// <summary>What messages say to a reader who has never seen the library's inside.</summary>
public sealed class MessageTests : PoolTest
{
    public static TheoryData<string, string, Action> UsesOfDefault => new()
    {
        { "BufferLease<Byte>", "Return", static () => default(BufferLease<byte>).Return() },
        { "BufferLease<Byte>", "Span", static () => { _ = default(BufferLease<byte>).Span; } },
        { "BufferLease<Byte>", "Memory", static () => _ = default(BufferLease<byte>).Memory },
        { "BufferLease<Byte>", "Detach", static () => default(BufferLease<byte>).Detach() },
        { "ObjectLease<StringBuilder>", "Return", static () => default(ObjectLease<StringBuilder>).Return() },
        { "ObjectLease<StringBuilder>", "Value", static () => _ = default(ObjectLease<StringBuilder>).Value },
        { "ObjectLease<StringBuilder>", "Detach", static () => default(ObjectLease<StringBuilder>).Detach() },
        { "StreamLease", "Return", static () => default(StreamLease).Return() },
        { "StreamLease", "Stream", static () => _ = default(StreamLease).Stream },
        { "ResourceLease<StringBuilder>", "Value", static () => _ = default(ResourceLease<StringBuilder>).Value },
        { "ResourceLease<StringBuilder>", "Info", static () => _ = default(ResourceLease<StringBuilder>).Info },
        { "ResourceLease<StringBuilder>", "MarkBroken", static () => default(ResourceLease<StringBuilder>).MarkBroken() },
        { "ResourceLease<StringBuilder>", "Detach", static () => default(ResourceLease<StringBuilder>).Detach() },
        { "ResourceLease<StringBuilder>", "keyed Value", static () => _ = default(KeyedResourceLease<int, StringBuilder>).Value },
        { "ResourceLease<StringBuilder>", "keyed Detach", static () => default(KeyedResourceLease<int, StringBuilder>).Detach() },
        { "SharedLease<StringBuilder>", "Value", static () => _ = default(SharedLease<StringBuilder>).Value },
        { "SharedLease<StringBuilder>", "MarkBroken", static () => default(SharedLease<StringBuilder>).MarkBroken() },
        { "DbConnectionLease", "Connection", static () => _ = default(DbConnectionLease).Connection },
        { "DbConnectionLease", "Info", static () => _ = default(DbConnectionLease).Info },
        { "DbConnectionLease", "MarkBroken", static () => default(DbConnectionLease).MarkBroken() },
    };

    [Theory]
    [MemberData(nameof(UsesOfDefault))]
    public void A_default_lease_says_so_whatever_is_asked_of_it(string name, string use, Action ask)
    {
        ObjectDisposedException refused = Assert.Throws<ObjectDisposedException>(ask);
        Assert.True(refused.Message.Contains("it was never rented", StringComparison.Ordinal), $"{use}: {refused.Message}");
        Assert.Equal(name, refused.ObjectName);
    }

    [Fact]
    public void A_default_lease_may_be_disposed()
    {
        default(BufferLease<byte>).Dispose();
        default(ObjectLease<StringBuilder>).Dispose();
        default(StreamLease).Dispose();
        default(ResourceLease<StringBuilder>).Dispose();
        default(KeyedResourceLease<int, StringBuilder>).Dispose();
        default(SharedLease<StringBuilder>).Dispose();
        default(DbConnectionLease).Dispose();
    }

    [Fact]
    public void A_sequence_and_a_thread_handle_after_their_end_say_so_with_a_short_name()
    {
        using var writer = new PooledSequenceWriter<byte>();
        writer.Write([1, 2, 3]);
        SequenceLease<byte> sequence = writer.Detach();
        sequence.Dispose();
        Refuses("SequenceLease<Byte>", "The lease was disposed", () => _ = sequence.Sequence);

        BufferPool<byte> pool = NewPool<byte>();
        Refuses("ThreadHandle<Byte>", "no pool made it", static () => default(ThreadHandle<byte>).Rent(0));
        Refuses("ThreadHandle<Byte>", "The handle was disposed", () =>
        {
            ThreadHandle<byte> handle = pool.GetThreadHandle(100);
            handle.Dispose();
            handle.Rent(1);
        });

        static void Refuses(string name, string text, Action use)
        {
            ObjectDisposedException refused = Assert.Throws<ObjectDisposedException>(use);
            Assert.Equal(name, refused.ObjectName);
            Assert.Contains(text, refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_writer_after_its_end_says_so_with_a_short_name()
    {
        var contiguous = new PooledBufferWriter<byte>();
        contiguous.Dispose();
        var segmented = new PooledSequenceWriter<byte>();
        segmented.Dispose();
        Assert.Equal("PooledBufferWriter<Byte>", Assert.Throws<ObjectDisposedException>(() => contiguous.GetSpan(1)).ObjectName);
        Assert.Equal("PooledSequenceWriter<Byte>", Assert.Throws<ObjectDisposedException>(() => segmented.GetSpan(1)).ObjectName);
    }

    [Fact]
    public void An_array_or_object_that_was_returned_twice_is_named()
    {
        BufferPool<byte> buffers = NewPool<byte>(new() { Checks = PoolChecks.Default });
        byte[] array = buffers.AsArrayPool().Rent(16);
        buffers.AsArrayPool().Return(array);
        Assert.StartsWith(
            "An array of 16 elements was returned twice. Return it once",
            Assert.Throws<PoolMisuseException>(() => buffers.AsArrayPool().Return(array)).Message,
            StringComparison.Ordinal);

        using ObjectPool<StringBuilder> objects =
            ObjectPool<StringBuilder>.Create(static () => new StringBuilder(), null, new() { Checks = PoolChecks.Default });
        StringBuilder item = objects.RentRaw();
        objects.ReturnRaw(item);
        string message = Assert.Throws<PoolMisuseException>(() => objects.ReturnRaw(item)).Message;
        Assert.StartsWith("A StringBuilder was returned twice. Return it once", message, StringComparison.Ordinal);
        Assert.DoesNotContain("using", message, StringComparison.Ordinal);
        Assert.DoesNotContain("tier", message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_foreign_array_is_named()
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Checks = PoolChecks.Full });
        Assert.StartsWith(
            "An array of 16 elements was returned to a pool that did not hand it out",
            Assert.Throws<PoolMisuseException>(() => pool.AsArrayPool().Return(new byte[16])).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void An_alignment_beyond_the_source_names_sources_that_align()
    {
        ArgumentOutOfRangeException refused = Assert.Throws<ArgumentOutOfRangeException>(
            "options", () => BufferPool<byte>.Create(new() { Alignment = 64 }));
        Assert.Contains("SlabSource", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("up to 0", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('`', refused.Message);
    }
}

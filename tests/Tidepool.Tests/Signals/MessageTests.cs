using System.Text;
using Tidepool.Tests.Support;

namespace Tidepool.Tests.Signals;

/// <summary>What messages say to somebody who has never seen the library's inside.</summary>
public sealed class MessageTests : PoolTest
{
    [Fact]
    public void A_default_lease_says_so_whatever_is_asked_of_it()
    {
        ObjectDisposedException[] refused =
        [
            Assert.Throws<ObjectDisposedException>(() => default(BufferLease<byte>).Return()),
            Assert.Throws<ObjectDisposedException>(() => { _ = default(BufferLease<byte>).Span; }),
            Assert.Throws<ObjectDisposedException>(() => default(ObjectLease<StringBuilder>).Return()),
            Assert.Throws<ObjectDisposedException>(() => default(ObjectLease<StringBuilder>).Value),
        ];
        Assert.All(refused, e =>
        {
            Assert.Contains("it was never rented", e.Message, StringComparison.Ordinal);
            Assert.Contains(e.ObjectName, (string[])["BufferLease<Byte>", "ObjectLease<StringBuilder>"]);
        });
        default(BufferLease<byte>).Dispose();
        default(ObjectLease<StringBuilder>).Dispose();
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

        using ObjectPool<StringBuilder> objects = ObjectPool<StringBuilder>.Create(static () => new StringBuilder(), null, new() { Checks = PoolChecks.Default });
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
        ArgumentOutOfRangeException refused = Assert.Throws<ArgumentOutOfRangeException>("options", () => BufferPool<byte>.Create(new() { Alignment = 64 }));
        Assert.Contains("SlabSource", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("up to 0", refused.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('`', refused.Message);
    }
}

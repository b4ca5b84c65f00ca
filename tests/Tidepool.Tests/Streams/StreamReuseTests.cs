using Tidepool.Tests.Support;

namespace Tidepool.Tests.Streams;

/// <summary>Rented streams: clean, reused, and safe to keep a reference to for a while.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class StreamReuseTests
{
    [Fact]
    public void A_rented_stream_is_clean_whatever_its_object_was_used_for()
    {
        byte[] data = new byte[5000];
        for (int i = 0; i < 200; i++)
        {
            PooledMemoryStream stream = PooledMemoryStream.Rent();
            Assert.Equal((0, 0, 0), (stream.Length, stream.Position, stream.Capacity));
            Assert.True(stream.CanRead && stream.CanWrite && stream.CanSeek);
            Assert.Empty(stream.ToArray());
            switch (i % 6)
            {
                case 0:
                    stream.Write(data, 0, 100);
                    break;
                case 1:
                    stream.Write(data);
                    break;
                case 2:
                    stream.Append(data);
                    break;
                case 3:
                    stream.Position = 7_000;
                    break;
                case 4:
                    stream.GetSpan(10).Fill(9);
                    break;
                default:
                    stream.Capacity = 1_000;
                    break;
            }

            stream.Dispose();
        }
    }

    [Fact]
    public void What_was_handed_out_before_does_not_count_for_the_next_renter()
    {
        for (int i = 0; i < 40; i++)
        {
            using PooledMemoryStream stream = PooledMemoryStream.Rent();
            Assert.Throws<InvalidOperationException>(() => stream.Advance(1));
            stream.GetSpan(100).Fill(1);
        }
    }

    [Fact]
    public void Objects_are_used_again()
    {
        HashSet<PooledMemoryStream> seen = new(ReferenceEqualityComparer.Instance);
        for (int i = 0; i < 1000; i++)
        {
            using PooledMemoryStream stream = PooledMemoryStream.Rent();
            seen.Add(stream);
        }

        Assert.InRange(seen.Count, 1, 100);
    }

    [Fact]
    public void A_stale_reference_throws_until_at_least_16_others_were_rented()
    {
        for (int warm = 0; warm < 100; warm++)
        {
            PooledMemoryStream.Rent().Dispose();
        }

        PooledMemoryStream stale = PooledMemoryStream.Rent();
        stale.Dispose();
        for (int i = 0; i < 16; i++)
        {
            using PooledMemoryStream other = PooledMemoryStream.Rent();
            Assert.NotSame(stale, other);
            other.WriteByte(1);
            Assert.Throws<ObjectDisposedException>(() => stale.WriteByte(2));
            Assert.Throws<ObjectDisposedException>(() => stale.Length);
            Assert.False(stale.CanRead);
            stale.Dispose();
            Assert.Equal([1], other.ToArray());
        }
    }

    [Fact]
    public void Streams_that_end_on_another_thread_are_used_again_there()
    {
        using ParkedThread other = new();
        PooledMemoryStream[] streams = [.. Enumerable.Range(0, 50).Select(_ => PooledMemoryStream.Rent())];
        long rented = PooledMemoryStream.GetStatistics().Rented;
        other.Run(() =>
        {
            foreach (PooledMemoryStream stream in streams)
            {
                stream.Write(new byte[3000]);
                stream.Dispose();
            }

            for (int i = 0; i < 100; i++)
            {
                using PooledMemoryStream stream = PooledMemoryStream.Rent();
                Assert.Equal(0, stream.Length);
            }
        });
        PoolStatistics now = PooledMemoryStream.GetStatistics();
        Assert.Equal(rented + 100, now.Rented);
    }
}

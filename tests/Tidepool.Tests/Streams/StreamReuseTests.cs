using System.Runtime.CompilerServices;
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
            StreamLease lease = PooledMemoryStream.RentLease();
            PooledMemoryStream stream = lease.Stream;
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

            lease.Dispose();
        }
    }

    [Fact]
    public void What_was_handed_out_before_does_not_count_for_the_next_renter()
    {
        for (int i = 0; i < 40; i++)
        {
            using StreamLease lease = PooledMemoryStream.RentLease();
            Assert.Throws<InvalidOperationException>(() => lease.Stream.Advance(1));
            lease.Stream.GetSpan(100).Fill(1);
        }
    }

    [Fact]
    public void Only_a_lease_uses_objects_again()
    {
        HashSet<PooledMemoryStream> leased = new(ReferenceEqualityComparer.Instance);
        HashSet<PooledMemoryStream> rented = new(ReferenceEqualityComparer.Instance);
        for (int i = 0; i < 1000; i++)
        {
            using StreamLease lease = PooledMemoryStream.RentLease();
            leased.Add(lease.Stream);
            using PooledMemoryStream stream = PooledMemoryStream.Rent();
            rented.Add(stream);
        }

        Assert.InRange(leased.Count, 1, 100);
        Assert.Equal(1000, rented.Count);
        Assert.Empty(leased.Intersect(rented));
    }

    [Fact]
    public void A_late_second_disposal_touches_no_other_stream()
    {
        PooledMemoryStream twice = PooledMemoryStream.Rent();
        twice.Dispose();
        for (int i = 0; i < 100; i++)
        {
            using PooledMemoryStream rented = PooledMemoryStream.Rent();
            using StreamLease lease = PooledMemoryStream.RentLease();
            rented.WriteByte(1);
            lease.Stream.WriteByte(2);
            twice.Dispose();
            Assert.Equal([1], rented.ToArray());
            Assert.Equal([2], lease.Stream.ToArray());
        }
    }

    [Fact]
    public void What_is_found_to_be_dropped_no_longer_counts_as_leased()
    {
        const int Streams = 64 * 20;
        Trimmer.Epoch(all: true); // every stream has a new core then: a place of a magazine may still refer to one that was used before
        PoolStatistics before = PooledMemoryStream.GetStatistics();
        int watched = DropHere(Streams);
        Assert.Equal(20, watched);
        Eventually.TrueAfterCollections(
            () =>
            {
                PoolStatistics now = PooledMemoryStream.GetStatistics();
                long found = now.GetMisuse(MisuseKind.NeverReturned) - before.GetMisuse(MisuseKind.NeverReturned); // also of tests before
                long leased = Streams - found;
                return found >= watched
                    && (leased, leased * (1024 + 512)) == (now.Leased - before.Leased, now.BytesLeased - before.BytesLeased);
            },
            "the watched ones of the dropped streams to be found, and no other to count as returned");
    }

    [Fact]
    public void Closing_the_stream_of_a_lease_does_not_end_it()
    {
        StreamLease lease = PooledMemoryStream.RentLease();
        PooledMemoryStream stream = lease.Stream;
        using (var writer = new StreamWriter(stream))
        {
            writer.Write("text");
        }

        stream.Close();
        Assert.True(lease.IsActive && stream.CanWrite);
        Assert.Equal("text"u8.ToArray(), stream.ToArray());
        lease.Return();
        Assert.False(lease.IsActive || stream.CanRead);
        Assert.Throws<ObjectDisposedException>(() => stream.WriteByte(1));
        Assert.Throws<ObjectDisposedException>(() => lease.Stream);
    }

    [Fact]
    public void A_lease_ends_once_whatever_became_of_its_stream()
    {
        StreamLease lease = PooledMemoryStream.RentLease();
        StreamLease copy = lease;
        Assert.True(lease == copy && lease.GetHashCode() == copy.GetHashCode() && lease.Equals((object)copy));
        lease.Dispose();
        long stale = PooledMemoryStream.GetStatistics().StaleDisposes;
        for (int i = 0; i < 100; i++)
        {
            using StreamLease other = PooledMemoryStream.RentLease();
            Assert.True(other != copy);
            other.Stream.WriteByte(1);
            copy.Dispose();
            Assert.Throws<PoolMisuseException>(copy.Return);
            Assert.Throws<ObjectDisposedException>(() => copy.Stream);
            Assert.Equal(1, other.Stream.Length);
        }

        Assert.Equal(stale + 100, PooledMemoryStream.GetStatistics().StaleDisposes);
        default(StreamLease).Dispose();
        Assert.False(default(StreamLease).IsActive);
        Assert.Throws<ObjectDisposedException>(default(StreamLease).Return);
        Assert.Throws<ObjectDisposedException>(() => default(StreamLease).Stream);
    }

    [Fact]
    public void A_lease_with_options_keeps_to_them_and_the_next_one_has_none()
    {
        Assert.Throws<ArgumentNullException>("options", () => PooledMemoryStream.RentLease(null!));
        for (int i = 0; i < 20; i++)
        {
            using StreamLease limited = PooledMemoryStream.RentLease(new PooledMemoryStreamOptions { MaxLength = 10 });
            Assert.Throws<IOException>(() => limited.Stream.Write(new byte[11]));
            using StreamLease free = PooledMemoryStream.RentLease();
            free.Stream.Write(new byte[5000]);
        }
    }

    [Fact]
    public void A_stale_reference_throws_until_the_object_has_rested_behind_others()
    {
        for (int warm = 0; warm < 100; warm++)
        {
            PooledMemoryStream.RentLease().Dispose();
        }

        StreamLease lease = PooledMemoryStream.RentLease();
        PooledMemoryStream stale = lease.Stream;
        lease.Dispose();
        for (int i = 0; i < Magazine.RestingPlaces - 1; i++)
        {
            using StreamLease other = PooledMemoryStream.RentLease();
            Assert.NotSame(stale, other.Stream);
            other.Stream.WriteByte(1);
            Assert.Throws<ObjectDisposedException>(() => stale.WriteByte(2));
            Assert.Throws<ObjectDisposedException>(() => stale.Length);
            Assert.False(stale.CanRead);
            stale.Dispose();
            Assert.Equal([1], other.Stream.ToArray());
        }
    }

    /// <returns>How many of the dropped streams are watched.</returns>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static int DropHere(int count)
    {
        int watched = 0;
        for (int i = 0; i < count; i++)
        {
            var stream = new PooledMemoryStream();
            stream.WriteByte(1);
            watched += stream.Core.Watch is null ? 0 : 1;
        }

        return watched;
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

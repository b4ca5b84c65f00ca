namespace Tidepool.Misuse;

public sealed class StaleReferenceToARentedStream
{
    [Fact]
    public void It_throws_and_its_disposal_ends_no_other_stream()
    {
        StreamLease lease = PooledMemoryStream.RentLease();
        PooledMemoryStream stale = lease.Stream;
        lease.Dispose();
        List<StreamLease> others = [];
        for (int i = 0; i < Magazine.RestingPlaces - 1; i++)
        {
            StreamLease other = PooledMemoryStream.RentLease();
            other.Stream.WriteByte((byte)i);
            others.Add(other);
            Assert.Throws<ObjectDisposedException>(() => stale.WriteByte(99));
            stale.Dispose();
            lease.Dispose();
        }

        for (int i = 0; i < others.Count; i++)
        {
            Assert.Equal([(byte)i], others[i].Stream.ToArray());
            others[i].Return();
        }
    }

    [Fact]
    public void The_lease_throws_and_ends_nothing_also_when_the_object_serves_again()
    {
        StreamLease lease = PooledMemoryStream.RentLease();
        PooledMemoryStream stale = lease.Stream;
        lease.Dispose();
        bool servesAgain = false;
        for (int i = 0; i < 3 * Magazine.RestingPlaces; i++)
        {
            using StreamLease other = PooledMemoryStream.RentLease();
            servesAgain |= other.Stream == stale;
            other.Stream.WriteByte(1);
            Assert.Throws<ObjectDisposedException>(() => lease.Stream);
            Assert.Throws<PoolMisuseException>(lease.Return);
            lease.Dispose();
            stale.Dispose();
            Assert.Equal([1], other.Stream.ToArray());
        }

        Assert.True(servesAgain);
    }
}

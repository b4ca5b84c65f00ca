namespace Tidepool.Misuse;

public sealed class StaleReferenceToARentedStream
{
    [Fact]
    public void It_throws_and_its_disposal_ends_nobody_elses_stream()
    {
        PooledMemoryStream stale = PooledMemoryStream.Rent();
        stale.Dispose();
        List<PooledMemoryStream> others = [];
        for (int i = 0; i < 16; i++)
        {
            PooledMemoryStream other = PooledMemoryStream.Rent();
            other.WriteByte((byte)i);
            others.Add(other);
            Assert.Throws<ObjectDisposedException>(() => stale.WriteByte(99));
            stale.Dispose();
        }

        for (int i = 0; i < others.Count; i++)
        {
            Assert.Equal([(byte)i], others[i].ToArray());
            others[i].Dispose();
        }
    }
}

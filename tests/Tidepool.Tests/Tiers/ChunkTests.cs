namespace Tidepool.Tests.Tiers;

public sealed class ChunkTests
{
    [Fact]
    public void A_chunk_holds_its_capacity_in_order()
    {
        Chunk chunk = new(14);
        object[] items = [.. Enumerable.Range(0, 14).Select(i => (object)i)];
        foreach (object item in items)
        {
            Assert.False(chunk.IsFull);
            chunk.Add(item);
        }

        Assert.True(chunk.IsFull);
        Assert.Equal(items, chunk.Content().ToArray());
    }

    [Fact]
    public void A_cleared_chunk_refers_to_nothing()
    {
        Chunk chunk = new(14);
        chunk.Add(new object());
        chunk.Add(new object());
        chunk.Clear();
        Assert.Equal(0, chunk.Count);
        Assert.All(chunk.Places, Assert.Null);
    }
}

using Tidepool.Tests.Support;

namespace Tidepool.Tests.Tiers;

/// <summary>How many arrays leave a full magazine at a time.</summary>
[Collection(SharedPoolsCollection.Name)]
public sealed class FlushTests : PoolTest
{
    private const int Length = 1024;
    private const int Full = 15;

    [Fact]
    public void A_thread_that_only_returns_keeps_two_and_the_new_one()
    {
        BufferPool<byte> pool = NewPool<byte>();
        byte[][] arrays = Rent(pool, Full + 1);
        using ParkedThread other = new();
        other.Run(() => Return(pool, arrays));
        Assert.Equal(Full - 2, SharedIdle(pool));
    }

    [Fact]
    public void A_thread_that_rents_too_keeps_half()
    {
        BufferPool<byte> pool = NewPool<byte>();
        Return(pool, Rent(pool, Full + 1));
        Assert.Equal(Full / 2, SharedIdle(pool));
    }

    [Fact]
    public void A_thread_that_has_begun_to_rent_keeps_half_at_its_next_flush()
    {
        BufferPool<byte> pool = NewPool<byte>();
        byte[][] arrays = Rent(pool, (2 * Full) - 1);
        using ParkedThread other = new();
        other.Run(() => Return(pool, arrays[..(Full + 1)]));
        other.Run(() => Return(pool, Rent(pool, 1)));
        other.Run(() => Return(pool, arrays[(Full + 1)..])); // three were kept, and these are one too many
        Assert.Equal(Full - 2 + (Full / 2), SharedIdle(pool));
    }

    [Theory]
    [InlineData(128 << 10)] // two in a magazine
    [InlineData(64 << 10)] // four
    public void A_magazine_of_few_makes_room_too(int length)
    {
        BufferPool<byte> pool = NewPool<byte>();
        byte[][] arrays = [.. Enumerable.Range(0, 6).Select(_ => pool.AsArrayPool().Rent(length))];
        using ParkedThread other = new();
        other.Run(() => Return(pool, arrays));
        Assert.Equal(6, pool.GetStatistics().Idle);
        pool.Validate();
    }

    private static byte[][] Rent(BufferPool<byte> pool, int count) =>
        [.. Enumerable.Range(0, count).Select(_ => pool.AsArrayPool().Rent(Length))];

    private static void Return(BufferPool<byte> pool, byte[][] arrays) => Array.ForEach(arrays, array => pool.AsArrayPool().Return(array));

    private static long SharedIdle(BufferPool<byte> pool)
    {
        long idle = 0;
        foreach (Bucket bucket in pool.Core.Buckets())
        {
            idle += bucket.HoldsArrays && bucket.ItemLength == Length ? bucket.Shared.Count().Idle : 0;
        }

        return idle;
    }
}

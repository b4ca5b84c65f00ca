using Tidepool.Tests.Support;

namespace Tidepool.Tests.Buffers;

public sealed class LengthTests : PoolTest
{
    public static TheoryData<int> Grid
    {
        get
        {
            TheoryData<int> data = [];
            int[] lengths =
            [
                0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 127, 128, 129, 1000, 4095, 4096, 4097, 65_535, 65_537, 1_000_000,
                (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_000_000, (1 << 24) + 1,
            ];
            foreach (int length in lengths)
            {
                data.Add(length);
            }

            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Grid))]
    public void A_length_is_served_exactly_twice_in_a_row_with_content_kept(int length)
    {
        BufferPool<byte> pool = NewPool<byte>();
        for (int round = 0; round < 2; round++)
        {
            BufferLease<byte> lease = pool.Rent(length);
            Assert.Equal(length, lease.Span.Length);
            lease.Span.Fill((byte)(round + 1));
            Assert.Equal(-1, lease.Memory.Span.IndexOfAnyExcept((byte)(round + 1)));
            lease.Return();
        }

        PoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((2, 2), (statistics.Rented, statistics.Returned));
    }

    [Fact]
    public void Every_length_up_to_ten_thousand_is_served_exactly()
    {
        BufferPool<char> pool = NewPool<char>();
        for (int length = 0; length <= 10_000; length++)
        {
            using BufferLease<char> lease = pool.Rent(length);
            if (lease.Span.Length != length || lease.Memory.Length != length)
            {
                Assert.Fail($"Rent({length}) gave {lease.Span.Length}.");
            }

            if (length > 0)
            {
                lease.Span[0] = 'a';
                lease.Span[length - 1] = 'z';
            }
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(1000)]
    [InlineData(1024)]
    public void A_source_is_never_asked_for_more_than_it_makes(int most)
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Source = new ShortSource(most) });
        System.Buffers.ArrayPool<byte> arrays = pool.AsArrayPool();
        for (int round = 0; round < 2; round++)
        {
            for (int length = 0; length <= most; length++)
            {
                using BufferLease<byte> lease = pool.Rent(length);
                Assert.Equal(length, lease.Length);
                byte[] array = arrays.Rent(length);
                Assert.InRange(array.Length, length, int.MaxValue);
                arrays.Return(array);
            }
        }

        Assert.Throws<ArgumentOutOfRangeException>("length", () => pool.Rent(most + 1));
    }

    [Theory]
    [Trait("Category", "Slow")]
    [InlineData(1 << 30)]
    [InlineData((1 << 30) + 1)]
    [InlineData(0x7FFFFFC7)]
    public void A_gigantic_length_is_served_exactly_or_memory_is_exhausted(int length)
    {
        BufferPool<byte> pool = NewPool<byte>(new() { Budget = 1 << 20 });
        try
        {
            using BufferLease<byte> lease = pool.Rent(length);
            Assert.Equal(length, lease.Span.Length);
            lease.Span[0] = 1;
            lease.Span[length - 1] = 2;
        }
        catch (OutOfMemoryException)
        {
            Assert.Equal(0, pool.GetStatistics().Leased);
        }

        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesIdle);
    }

    [Fact]
    public void A_length_of_the_largest_elements_beyond_all_memory_fails_and_changes_nothing()
    {
        BufferPool<Guid> pool = NewPool<Guid>();
        PoolStatistics before = pool.GetStatistics();
        try
        {
            using BufferLease<Guid> lease = pool.Rent(Array.MaxLength);
            Assert.Equal(Array.MaxLength, lease.Length);
        }
        catch (OutOfMemoryException)
        {
            Assert.Equal(before.Leased, pool.GetStatistics().Leased);
            Assert.Equal(0, pool.GetStatistics().BytesLeased);
        }

        using BufferLease<Guid> small = pool.Rent(3);
        Assert.Equal(3, small.Span.Length);
    }
}

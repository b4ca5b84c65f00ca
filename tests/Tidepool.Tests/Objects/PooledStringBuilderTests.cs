using System.Globalization;

namespace Tidepool.Tests.Objects;

public sealed class PooledStringBuilderTests
{
    [Fact]
    public void It_is_rented_filled_read_and_returned()
    {
        using var pool = new StringBuilderPool();
        for (int i = 0; i < 100; i++)
        {
            using PooledStringBuilder text = PooledStringBuilder.Rent(pool);
            Assert.Equal(0, text.Builder.Length);
            text.Builder.Append("number ").Append(CultureInfo.InvariantCulture, $"{i}");
            Assert.Equal($"number {i}", text.ToString());
        }

        Assert.Equal((1, 0), (pool.GetStatistics().Missed, pool.GetStatistics().Leased));
    }

    [Fact]
    public void Taking_the_string_can_be_the_return()
    {
        using var pool = new StringBuilderPool();
        using PooledStringBuilder text = PooledStringBuilder.Rent(pool);
        PooledStringBuilder copy = text;
        Assert.True(copy == text);
        text.Builder.Append("abc");
        Assert.Equal("abc", text.ToStringAndReturn());
        Assert.Equal(0, pool.GetStatistics().Leased);
        Assert.Throws<ObjectDisposedException>(() => copy.Builder);
        Assert.Throws<ObjectDisposedException>(() => copy.ToStringAndReturn());
    }

    [Fact]
    public void The_shared_pool_outlives_its_disposal()
    {
        StringBuilderPool.Shared.Dispose();
        using PooledStringBuilder text = PooledStringBuilder.Rent();
        Assert.Equal("x", text.Builder.Append('x').ToString());
    }

    [Fact]
    public void A_default_one_was_never_rented()
    {
        PooledStringBuilder none = default;
        none.Dispose();
        Assert.Throws<ObjectDisposedException>(() => none.Builder);
        Assert.Throws<ArgumentNullException>("pool", () => PooledStringBuilder.Rent(null!));
    }
}

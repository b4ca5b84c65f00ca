using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class WriteAfterReturnOff() : MisuseTest(PoolChecks.Off)
{
    [Fact]
    public void A_write_through_a_span_that_was_taken_before_is_not_noticed()
    {
        BufferLease<int> lease = Pool.Rent(100);
        int[] array = lease.Segment.Array!;
        Span<int> span = lease.Span;
        lease.Return();
        span.Fill(42);
        using BufferLease<int> next = Pool.Rent(100);
        Assert.Same(array, next.Segment.Array);
        Assert.Equal(42, next.Span[0]); // the next renter sees it: what full checks are for
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }

    [Fact]
    public void A_write_to_an_array_that_was_returned_is_not_noticed()
    {
        int[] array = Pool.AsArrayPool().Rent(128);
        Pool.AsArrayPool().Return(array);
        array.AsSpan().Fill(42);
        Assert.Same(array, Pool.AsArrayPool().Rent(128));
        Pool.AsArrayPool().Return(array);
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }
}

namespace Tidepool.Native.Tests.Misuse;

public sealed class DoubleReturn : NativeMisuseTest
{
    [Fact]
    public void The_second_return_throws_and_the_memory_stays_with_its_new_renter()
    {
        BufferLease<int> lease = Pool.Rent(100);
        lease.Return();
        using BufferLease<int> next = Pool.Rent(100);
        next.Span.Fill(7);
        PoolMisuseException thrown = Assert.Throws<PoolMisuseException>(lease.Return);
        Assert.Equal(MisuseKind.DoubleReturn, thrown.Kind);
        AssertNoTwoRenters();
        Assert.Equal(-1, next.Span.IndexOfAnyExcept(7));
    }

    [Fact]
    public void A_second_disposal_is_counted_and_does_nothing()
    {
        BufferLease<int> lease = Pool.Rent(100);
        lease.Dispose();
        lease.Dispose();
        Assert.Equal(1, Pool.GetStatistics().StaleDisposes);
        AssertNoTwoRenters();
    }
}

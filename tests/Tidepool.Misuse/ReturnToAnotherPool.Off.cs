using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ReturnToAnotherPoolOff() : MisuseTest(PoolChecks.Off)
{
    [Fact]
    public void An_array_is_accepted_by_the_other_pool_as_by_the_runtime_s_pool()
    {
        BufferPool<int> other = NewPool<int>(new() { Name = "other", Checks = PoolChecks.Off });
        int[] array = other.AsArrayPool().Rent(128);
        Pool.AsArrayPool().Return(array);
        Assert.Equal(1, other.GetStatistics().Leased);
        Assert.Same(array, Pool.AsArrayPool().Rent(128));
        Pool.AsArrayPool().Return(array);
        Forgive(other, 1);
        Forgive(Pool, -1);
        AssertNoTwoRentersOfArrays();
        Assert.Equal(0, Pool.GetStatistics().Misuses);
    }

    [Fact]
    public void A_lease_knows_its_pool_and_cannot_be_returned_to_another()
    {
        BufferPool<int> other = NewPool<int>(new() { Name = "other", Checks = PoolChecks.Off });
        BufferLease<int> lease = other.Rent(100);
        int[] array = lease.Segment.Array!;
        lease.Return();
        using BufferLease<int> mine = Pool.Rent(100);
        Assert.NotSame(array, mine.Segment.Array);
        Assert.Equal(0, other.GetStatistics().Leased);
    }
}

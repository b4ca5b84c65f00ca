using Tidepool.Misuse.Support;

namespace Tidepool.Misuse;

public sealed class ForeignArrayFull() : MisuseTest(PoolChecks.Full)
{
    [Fact]
    public void An_array_that_was_never_rented_is_refused()
    {
        int[] foreign = new int[128];
        foreign.AsSpan().Fill(5);
        PoolMisuseException misuse = Throws(MisuseKind.ForeignReturn, () => Pool.AsArrayPool().Return(foreign));
        Assert.Contains("did not hand it out", misuse.Message, StringComparison.Ordinal);
        Assert.Equal(1, Count(MisuseKind.ForeignReturn));
        Assert.Equal(0, Pool.GetStatistics().Returned);
        Assert.Equal(-1, foreign.AsSpan().IndexOfAnyExcept(5)); // it was not touched
        Assert.Contains(misuse.Message, Reported);
        AssertNoTwoRentersOfArrays();
    }

    [Fact]
    public void The_array_of_a_lease_is_no_rented_array()
    {
        using BufferLease<int> lease = Pool.Rent(128);
        int[] array = lease.Segment.Array!;
        Assert.ThrowsAny<Exception>(() => Pool.AsArrayPool().Return(array));
        Assert.True(lease.IsActive);
        AssertNoTwoRenters(128);
    }
}

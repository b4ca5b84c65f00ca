using System.Runtime.CompilerServices;

namespace Tidepool.Misuse;

public sealed class NeverReturnedFull() : NeverReturned(PoolChecks.Full, stacks: true)
{
    [Fact]
    public void Every_dropped_lease_is_reported_with_the_place_of_its_rental()
    {
        Drop(10);
        AssertReported(10);
        Assert.Equal((0, 0), (Pool.GetStatistics().Leased, Pool.GetStatistics().BytesLeased));
        AssertNoTwoRenters();
    }

    [Fact]
    public void A_dropped_array_is_reported_with_the_place_of_its_rental()
    {
        LeakArrayHere();
        Eventually.TrueAfterCollections(() => Count(MisuseKind.NeverReturned) == 1, "the dropped array to be reported");
        Eventually.True(() => Reported.Count == 1, "the report");
        Assert.Contains(nameof(LeakArrayHere), Reported.Single(), StringComparison.Ordinal);
        Assert.Equal((0, 0), (Pool.GetStatistics().Leased, Pool.GetStatistics().BytesLeased));
        AssertNoTwoRentersOfArrays();
    }

    [Fact]
    public void A_buffer_that_was_returned_and_dropped_on_its_second_rental_is_reported()
    {
        RentReturnAndLeak();
        Eventually.TrueAfterCollections(
            () =>
            {
                Pool.Trim();
                return Count(MisuseKind.NeverReturned) == 1;
            },
            "the dropped rental to be reported");
        Assert.Equal((0, 0), (Pool.GetStatistics().Leased, Pool.GetStatistics().BytesLeased));
    }

    [Fact]
    public void What_is_returned_is_never_reported() => ReturnEverything();

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void LeakArrayHere() => Pool.AsArrayPool().Rent(128).AsSpan().Fill(1);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void RentReturnAndLeak()
    {
        for (int i = 0; i < 200; i++)
        {
            Pool.Rent(100).Return();
        }

        Pool.Rent(100).Span.Fill(1);
    }
}

namespace Tidepool.Misuse;

public sealed class NeverReturnedDefault() : NeverReturned(PoolChecks.Default, leakSampling: 4)
{
    [Fact]
    public void The_memory_is_collected_and_one_dropped_rental_in_a_sample_is_reported()
    {
        Drop(20);
        AssertReported(5);
        Forgive(Pool, 20 - 5); // what was reported is no longer counted
        AssertNoTwoRenters();
    }

    [Fact]
    public void What_is_returned_is_never_reported() => ReturnEverything();
}

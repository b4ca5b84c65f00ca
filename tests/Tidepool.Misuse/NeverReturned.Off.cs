namespace Tidepool.Misuse;

public sealed class NeverReturnedOff() : NeverReturned(PoolChecks.Off)
{
    [Fact]
    public void The_memory_is_collected_and_the_rental_stays_counted_as_out()
    {
        Drop(20);
        Assert.Equal(20, Pool.GetStatistics().Leased);
        Forgive(Pool, 20);
        AssertNoTwoRenters();
    }
}

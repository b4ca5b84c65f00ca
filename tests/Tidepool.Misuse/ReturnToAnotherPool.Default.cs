namespace Tidepool.Misuse;

public sealed class ReturnToAnotherPoolDefault() : ReturnToAnotherPool(PoolChecks.Default)
{
    [Fact]
    public void An_array_is_accepted_by_the_other_pool_as_by_the_runtime_s_pool() => ReturnAnArrayThatIsAccepted();

    [Fact]
    public void A_lease_knows_its_pool_and_cannot_be_returned_to_another() => ReturnALease();
}

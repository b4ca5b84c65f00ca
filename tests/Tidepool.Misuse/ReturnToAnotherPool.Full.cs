namespace Tidepool.Misuse;

public sealed class ReturnToAnotherPoolFull() : ReturnToAnotherPool(PoolChecks.Full, stacks: true)
{
    [Fact]
    public void The_other_pool_refuses_the_array_and_the_owner_still_takes_it() =>
        ReturnAnArrayThatIsRefused(modeOfItsPool: PoolChecks.Full);

    [Fact]
    public void The_array_of_a_pool_without_checks_is_refused_too() => ReturnAnArrayThatIsRefused(modeOfItsPool: PoolChecks.Default);
}

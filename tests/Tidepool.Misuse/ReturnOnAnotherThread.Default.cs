namespace Tidepool.Misuse;

public sealed class ReturnOnAnotherThreadDefault() : ReturnOnAnotherThread(PoolChecks.Default)
{
    [Fact]
    public void A_lease_may_be_returned_on_any_thread() => ReturnLeasesThere();

    [Fact]
    public void A_lease_may_be_disposed_on_any_thread_while_the_renter_goes_on() => DisposeLeasesThereWhileTheRenterGoesOn();

    [Fact]
    public void An_owner_and_an_array_may_be_returned_on_any_thread() => ReturnOwnersAndAnArrayThere();

    [Fact]
    public void A_lease_may_be_returned_after_its_renting_thread_has_ended() => ReturnHereWhatAThreadRentedThatHasEnded();
}

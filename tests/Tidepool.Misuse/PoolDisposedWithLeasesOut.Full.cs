namespace Tidepool.Misuse;

public sealed class PoolDisposedWithLeasesOutFull() : PoolDisposedWithLeasesOut(PoolChecks.Full)
{
    [Fact]
    public void Leases_stay_usable_and_are_returned_to_the_source() => UseAndReturnLeasesAfterwards();

    [Fact]
    public void Leases_may_be_returned_on_another_thread_too() => ReturnALeaseOnAnotherThreadAfterwards();

    [Fact]
    public void Owners_and_arrays_stay_usable() => UseAndReturnAnOwnerAndAnArrayAfterwards();

    [Fact]
    public void A_second_return_is_refused_as_ever() => ReturnTwiceAfterwards(second => Throws(MisuseKind.DoubleReturn, second));
}

namespace Tidepool.Misuse;

public sealed class ForeignArrayOff() : ForeignArray(PoolChecks.Off)
{
    [Fact]
    public void An_array_of_a_valid_length_is_accepted_as_by_the_runtime_s_pool() => ReturnAnArrayThatIsAccepted();

    [Fact]
    public void An_array_of_a_derived_element_type_is_accepted_and_never_handed_out() => ReturnAnArrayOfADerivedElementType();
}

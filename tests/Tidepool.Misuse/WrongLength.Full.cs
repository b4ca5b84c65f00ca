namespace Tidepool.Misuse;

public sealed class WrongLengthFull() : WrongLength(PoolChecks.Full)
{
    [Theory]
    [MemberData(nameof(Lengths))]
    public void An_array_of_a_length_that_no_class_has_is_refused(int length) => ReturnOneOf(length);

    [Fact]
    public void The_refused_array_is_never_handed_out() => ReturnOneAndRentAHundred();
}

namespace Tidepool.Misuse;

public sealed class WriteAfterReturnDefault() : WriteAfterReturn(PoolChecks.Default)
{
    [Fact]
    public void A_write_through_a_span_that_was_taken_before_is_not_noticed() => WriteThroughASpanUnnoticed();

    [Fact]
    public void A_write_to_an_array_that_was_returned_is_not_noticed() => WriteToAnArrayUnnoticed();
}

namespace Tidepool.Misuse;

public sealed class UseAfterReturnFull() : UseAfterReturn(PoolChecks.Full, stacks: true)
{
    [Fact]
    public void Every_view_of_a_returned_lease_throws_and_the_use_is_counted() =>
        Assert.Contains(nameof(RentHere), TakeEveryView(), StringComparison.Ordinal);

    [Fact]
    public void A_returned_lease_cannot_be_moved_or_detached() => MoveAndDetach();

    [Fact]
    public void A_lease_that_was_returned_on_another_thread_throws_at_once() => UseWhatAnotherThreadReturned();

    [Fact]
    public void A_returned_lease_throws_while_its_buffer_is_leased_to_someone_else() => UseWhatSomeoneElseHasRented();

    [Fact]
    public void Memory_that_was_taken_before_the_return_throws_when_its_span_is_taken_after_it()
    {
        Memory<int> memory = TakeMemoryAndReturn();
        Assert.Throws<ObjectDisposedException>(() => memory.Span.Length);
    }
}

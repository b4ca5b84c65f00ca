namespace Tidepool.Advice.Tests.Watching;

public sealed class ArrayPoolCounterTests
{
    [Fact]
    public void Events_are_counted_by_kind_and_the_lengths_rented_most_come_first()
    {
        var counter = new ArrayPoolCounter();
        for (int i = 0; i < 10; i++)
        {
            counter.Add(1, length: 1024, pool: 7);
            counter.Add(3, length: 1024, pool: 7);
        }

        counter.Add(1, length: 16, pool: 8);
        counter.Add(2, length: 16, pool: 8);
        counter.Add(6, length: 16, pool: 8);
        counter.Add(5, length: 0, pool: 9); // a poll of the trimmer
        ArrayPoolWindow window = counter.Close(2, before: 0.5, within: 0.6, lost: 3);
        Assert.Equal(
            (5.5, 5, 0.5, 0.5, 2),
            (window.RentedPerSecond, window.ReturnedPerSecond, window.AllocatedPerSecond, window.DroppedPerSecond, window.Pools));
        Assert.Equal([new LengthCount(1024, 5), new LengthCount(16, 0.5)], window.Lengths);
        Assert.Equal((0.5, 0.6, 3), (window.ProcessorsBefore, window.ProcessorsWithin, window.LostEvents));
    }
}

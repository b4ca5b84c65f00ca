namespace Tidepool.Advice.Tests.Natives;

public sealed class AllocatorClockTests
{
    [Fact]
    public void A_large_size_is_derived_from_the_largest_that_is_measured()
    {
        using var stop = new CancellationTokenSource();
        stop.Cancel(); // one round
        var clock = new AllocatorClock(stop.Token);
        double largest = clock.PairSeconds(AllocatorClock.LargestSize);
        Assert.True(largest > 0 && double.IsFinite(largest));
        Assert.Equal(largest * 1024, clock.PairSeconds(AllocatorClock.LargestSize * 1024));
    }

    [Fact]
    public void A_size_is_measured_once()
    {
        var clock = new AllocatorClock(CancellationToken.None);
        Assert.Equal(clock.PairSeconds(100), clock.PairSeconds(100));
        Assert.Equal(clock.PairSeconds(1), clock.PairSeconds(0));
    }
}

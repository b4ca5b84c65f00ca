namespace Tidepool.Advice.Tests.Sampling;

public sealed class SurvivorCountTests
{
    [Fact]
    public void A_collection_that_stops_the_program_counts_by_its_depth()
    {
        SurvivorCount count = new();
        count.Begin(0, isInBackground: false);
        count.End(100, 7);
        Assert.Equal((1, 0, 100L, 0L), Of(count));
        count.Begin(2, isInBackground: false);
        count.End(10, 7);
        Assert.Equal((2, 1, 110L, 7L), Of(count));
    }

    [Fact]
    public void One_in_the_background_says_nothing_of_young_objects()
    {
        SurvivorCount count = new();
        count.Begin(2, isInBackground: true);
        count.End(100, 7);
        Assert.Equal((0, 1, 0L, 7L), Of(count));
    }

    [Fact]
    public void Statistics_of_collections_within_one_in_the_background_are_their_own()
    {
        SurvivorCount count = new();
        count.Begin(2, isInBackground: true);
        count.Begin(1, isInBackground: false);
        count.End(100, 5);
        count.Begin(0, isInBackground: false);
        count.End(10, 6);
        count.End(10, 7); // what the last young one promoted, again
        Assert.Equal((2, 1, 110L, 7L), Of(count));
    }

    [Fact]
    public void A_start_without_statistics_and_statistics_without_a_start_say_nothing()
    {
        SurvivorCount count = new();
        count.End(100, 7); // it began before the slice
        count.Begin(2, isInBackground: true);
        Assert.Equal((0, 0, 0L, 0L), Of(count));
    }

    private static (int Young, int Full, long Promoted, long Large) Of(SurvivorCount count) =>
        (count.Young, count.Full, count.PromotedBytes, count.LargeBytes);
}

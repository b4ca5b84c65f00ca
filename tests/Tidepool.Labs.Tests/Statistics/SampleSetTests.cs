namespace Tidepool.Labs.Tests.Statistics;

public class SampleSetTests
{
    [Fact]
    public void Later_rounds_keep_their_place_when_earlier_ones_were_not_asked_for()
    {
        var set = new SampleSet();
        set.Add(process: 0, firstRound: 0, [new Sample(1, 0, 0, 0, 0), null]);
        set.Add(process: 0, firstRound: 4, [new Sample(3, 0, 0, 0, 0)]);

        double[] rounds = Assert.Single(set.Nanoseconds);

        Assert.Equal([1, double.NaN, double.NaN, double.NaN, 3], rounds);
        Assert.Equal(2, set.MedianNanoseconds, 9);
        Assert.Equal(1, set.MinimumNanoseconds);
    }

    [Fact]
    public void A_time_is_the_geometric_mean_of_what_the_processes_say()
    {
        var set = new SampleSet();
        set.Add(process: 0, firstRound: 0, [new Sample(4, 0, 0, 0, 0), new Sample(4, 0, 0, 0, 0), new Sample(90, 0, 0, 0, 0)]);
        set.Add(process: 1, firstRound: 0, [new Sample(9, 0, 0, 0, 0)]);

        Assert.Equal(6, set.MedianNanoseconds, 9);
    }

    [Fact]
    public void One_batch_that_allocates_is_not_a_habit()
    {
        var set = new SampleSet();
        set.Add(0, 0, [new Sample(1, 0, 0, 0, 0), new Sample(1, 500, 0, 0, 0), new Sample(1, 0, 0, 0, 0)]);

        Assert.Equal(0, set.BytesPerOperation);
    }

    [Fact]
    public void Collections_are_per_thousand_operations()
    {
        var set = new SampleSet();
        set.Add(0, 0, [new Sample(1, 0, 0.002, 0.001, 0), new Sample(1, 0, 0, 0, 0)]);

        var (gen0, gen1, gen2) = set.CollectionsPerThousand;

        Assert.Equal((1.0, 0.5, 0.0), (gen0, gen1, gen2));
    }

    [Fact]
    public void An_empty_set_says_so()
    {
        var set = new SampleSet();
        set.Add(0, 0, [null, null]);

        Assert.True(set.IsEmpty);
    }
}

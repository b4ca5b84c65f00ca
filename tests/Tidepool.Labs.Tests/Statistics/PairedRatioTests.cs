namespace Tidepool.Labs.Tests.Statistics;

public class PairedRatioTests
{
    [Fact]
    public void A_constant_ratio_has_an_interval_without_width()
    {
        double[][] twice = [[2, 4, 6], [8, 10, 12]];
        double[][] once = [[1, 2, 3], [4, 5, 6]];

        var ratio = PairedRatio.Estimate(twice, once, seed: 1)!.Value;

        Assert.Equal(2, ratio.Value, 12);
        Assert.Equal(2, ratio.Low, 12);
        Assert.Equal(2, ratio.High, 12);
        Assert.NotEqual(RatioWord.Undecided, ratio.Word);
    }

    [Fact]
    public void Rounds_are_paired_so_a_machine_that_slows_down_changes_nothing()
    {
        double[][] ours = [[5, 50, 500, 5000]];
        double[][] other = [[10, 100, 1000, 10000]];

        Assert.Equal(0.5, PairedRatio.Estimate(ours, other, seed: 1)!.Value.Value, 12);
    }

    [Fact]
    public void A_process_counts_by_its_median_round()
    {
        double[][] ours = [[1, 1, 1, 1, 900]];
        double[][] other = [[1, 1, 1, 1, 1]];

        Assert.Equal(1, PairedRatio.Estimate(ours, other, seed: 1)!.Value.Value, 12);
    }

    [Fact]
    public void Processes_are_averaged_geometrically()
    {
        double[][] ours = [[1, 1, 1], [4, 4, 4]];
        double[][] other = [[1, 1, 1], [1, 1, 1]];

        var ratio = PairedRatio.Estimate(ours, other, seed: 1)!.Value;

        Assert.Equal(2, ratio.Value, 12);
        Assert.Equal(1, ratio.Low, 12);
        Assert.Equal(4, ratio.High, 12);
        Assert.True(ratio.Word is RatioWord.Undecided or RatioWord.NoDifference, ratio.ToString());
    }

    [Fact]
    public void Rounds_that_only_one_subject_has_are_left_out()
    {
        double[][] ours = [[3, double.NaN, 3, 7]];
        double[][] other = [[1, 100, 1, double.NaN]];

        Assert.Equal(3, PairedRatio.Estimate(ours, other, seed: 1)!.Value.Value, 12);
    }

    [Fact]
    public void Without_a_common_round_there_is_no_ratio()
    {
        Assert.Null(PairedRatio.Estimate([[double.NaN, 1]], [[1, double.NaN]], seed: 1));
        Assert.Null(PairedRatio.Estimate([], [], seed: 1));
    }

    [Fact]
    public void The_same_seed_gives_the_same_interval()
    {
        var random = new Random(5);
        double[][] ours = [.. Enumerable.Range(0, 5).Select(_ => Enumerable.Range(0, 20).Select(_ => 1 + random.NextDouble()).ToArray())];
        double[][] other = [.. Enumerable.Range(0, 5).Select(_ => Enumerable.Range(0, 20).Select(_ => 1 + random.NextDouble()).ToArray())];

        Assert.Equal(PairedRatio.Estimate(ours, other, seed: 3), PairedRatio.Estimate(ours, other, seed: 3));
    }

    [Fact]
    public void The_interval_covers_the_true_ratio_about_as_often_as_it_says()
    {
        var random = new Random(11);
        int covered = 0;
        const int Experiments = 200;
        for (int experiment = 0; experiment < Experiments; experiment++)
        {
            // Seven processes, each with its own luck; the true ratio is 0.8.
            double[][] ours = new double[7][];
            double[][] other = new double[7][];
            for (int process = 0; process < 7; process++)
            {
                double luck = Math.Exp(0.1 * Normal(random));
                ours[process] = [.. Enumerable.Range(0, 12).Select(_ => 0.8 * luck * Math.Exp(0.05 * Normal(random)))];
                other[process] = [.. Enumerable.Range(0, 12).Select(_ => Math.Exp(0.05 * Normal(random)))];
            }

            var ratio = PairedRatio.Estimate(ours, other, experiment)!.Value;
            covered += ratio.Low <= 0.8 && ratio.High >= 0.8 ? 1 : 0;
        }

        // A percentile bootstrap over seven processes is a little too narrow: about 88 % instead of 95 %.
        Assert.InRange(covered, Experiments * 80 / 100, Experiments * 99 / 100);
    }

    private static double Normal(Random random) =>
        Math.Sqrt(-2 * Math.Log(1 - random.NextDouble())) * Math.Cos(2 * Math.PI * random.NextDouble());
}

using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Advising;

/// <summary>Estimates against programs that are simulated, so that the truth is known.</summary>
public sealed class AllocationEstimateTests(ITestOutputHelper output)
{
    private const int Seed = 20_261_125;
    private const int Measurements = 400;

    [Theory]
    [InlineData(32, 0.0003125)]
    [InlineData(1024, 0.00995)]
    [InlineData(8192, 0.0769)]
    [InlineData(1_048_576, 0.99996)]
    public void An_object_is_sampled_with_a_probability_that_grows_with_its_size(long size, double probability) =>
        Assert.InRange(AllocationEstimate.ProbabilityOf(size) / probability, 0.999, 1.001);

    [Fact]
    public void The_95_percent_interval_holds_the_truth_in_90_to_99_percent_of_simulated_sites()
    {
        var random = new Random(Seed);
        double[] seconds = [0.25, 1, 1, 1, 1];
        int held = 0;
        double error = 0;
        for (int i = 0; i < Measurements; i++)
        {
            long size = (long)Math.Exp(3.5 + 8 * random.NextDouble());
            double bytes = Math.Exp(Math.Log(2e6) + 5 * random.NextDouble());
            int objects = (int)(bytes / size) + 1;
            List<long>[] slices =
            [
                .. from second in seconds
                   let drawn = Draw(random, (int)(objects * second), AllocationEstimate.ProbabilityOf(size))
                   select Enumerable.Repeat(size, drawn).ToList(),
            ];
            double truth = seconds.Sum(second => (int)(objects * second) * (double)size) / seconds.Sum();
            Interval interval = AllocationEstimate.BytesPerSecond(slices, seconds);
            held += interval.Low <= truth && truth <= interval.High ? 1 : 0;
            error += (interval.Value - truth) / truth / Measurements;
        }

        double coverage = (double)held / Measurements;
        output.WriteLine($"coverage {coverage:P1} of {Measurements}, mean error {error:P2} (seed {Seed})");
        Assert.InRange(coverage, 0.90, 0.995);
        Assert.InRange(error, -0.02, 0.02);
    }

    [Fact]
    public void Three_hundred_samples_give_an_interval_no_wider_than_a_factor_of_one_and_a_half()
    {
        IReadOnlyList<long>[] slices = [.. Enumerable.Range(0, 5).Select(static _ => Enumerable.Repeat(1000L, 60).ToArray())];
        Interval interval = AllocationEstimate.BytesPerSecond(slices, [1, 1, 1, 1, 1]);
        Assert.InRange(interval.High / interval.Low, 1, 1.5);
        Assert.Equal(300 * 1000 / AllocationEstimate.ProbabilityOf(1000) / 5, interval.Value, 3);
        Interval objects = AllocationEstimate.ObjectsPerSecond(slices, [1, 1, 1, 1, 1]);
        Assert.Equal(interval.Value / 1000, objects.Value, 6);
    }

    [Fact]
    public void Slices_that_differ_more_than_chance_widen_the_interval()
    {
        IReadOnlyList<long>[] even = [Repeat(50), Repeat(50), Repeat(50), Repeat(50)];
        IReadOnlyList<long>[] uneven = [Repeat(170), Repeat(10), Repeat(10), Repeat(10)];
        Assert.Equal(1, AllocationEstimate.Dispersion(even, [1, 1, 1, 1]));
        Assert.True(AllocationEstimate.Dispersion(uneven, [1, 1, 1, 1]) > 10);
        Assert.Equal(1, AllocationEstimate.Dispersion(uneven, [17, 1, 1, 1]));
    }

    [Fact]
    public void Nothing_sampled_has_an_upper_end_all_the_same() =>
        Assert.True(AllocationEstimate.BytesPerSecond([[], []], [1, 1]) is { Value: 0, Low: 0, High: > 100_000 });

    private static long[] Repeat(int count) => [.. Enumerable.Repeat(1000L, count)];

    private static int Draw(Random random, int objects, double probability) =>
        objects * probability > 200 ? Normal(random, objects, probability) : Count(random, objects, probability);

    /// <summary>Jumps from one sampled object to the next: the gaps are geometric.</summary>
    private static int Count(Random random, int objects, double probability)
    {
        int count = 0;
        for (double at = Gap(random, probability); at <= objects; at += Gap(random, probability))
        {
            count++;
        }

        return count;
    }

    private static double Gap(Random random, double probability) =>
        1 + Math.Floor(Math.Log(1 - random.NextDouble()) / double.LogP1(-Math.Min(probability, 1 - 1e-12)));

    private static int Normal(Random random, int objects, double probability)
    {
        double angle = Math.Sqrt(-2 * Math.Log(1 - random.NextDouble())) * Math.Cos(2 * Math.PI * random.NextDouble());
        return (int)Math.Round(objects * probability + angle * Math.Sqrt(objects * probability * (1 - probability)));
    }
}

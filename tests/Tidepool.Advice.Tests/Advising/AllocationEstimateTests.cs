using Xunit.Abstractions;

namespace Tidepool.Advice.Tests.Advising;

/// <summary>Estimates against programs that are simulated, so that the truth is known.</summary>
public sealed class AllocationEstimateTests(ITestOutputHelper output)
{
    private const int Seed = 20_261_125;
    private const int Measurements = 400;
    private const int MixMeasurements = 1000;

    private static readonly double[] Seconds = [0.25, 1, 1, 1, 1];

    /// <summary>Sizes, and how many objects of each a site allocates in a second.</summary>
    private static readonly Dictionary<string, IReadOnlyList<(long Size, int PerSecond)>> Mixes = new()
    {
        ["small objects of one size"] = [(24, 30_000)],
        ["few of one size"] = [(24, 3000)],
        ["two sizes"] = [(48, 2000), (4096, 500)],
        ["a vector that grows from 8 to 4,096 bytes"] = Doubling(8, 10, 1000),
        ["the same, a third as often"] = Doubling(8, 10, 333),
        ["the same, ten times as often"] = Doubling(8, 10, 10_000),
        ["a vector of larger elements"] = Doubling(24, 9, 600),
        ["buffers of any size"] = [.. Enumerable.Range(0, 79).Select(static i => (100L + 100 * i, 25))],
        ["sizes as often as they are small"] = [.. Enumerable.Range(1, 100).Select(static i => (32L * i, 5000 / i))],
        ["strings, most of them short"] = [.. Enumerable.Range(3, 40).Select(static i => (8L * i, (int)(2000 * Math.Exp(-i / 8.0))))],
    };

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
        Assert.InRange(coverage, 0.90, 0.99);
        Assert.InRange(error, -0.02, 0.02);
    }

    public static TheoryData<string> NamesOfMixes => [.. Mixes.Keys];

    [Theory]
    [MemberData(nameof(NamesOfMixes))]
    public void The_95_percent_interval_holds_the_truth_in_90_to_99_percent_of_each_mix_of_sizes(string name)
    {
        var (ofObjects, ofBytes) = Coverage(name, Mixes[name]);
        Assert.InRange(ofObjects, 0.90, 0.99);
        Assert.InRange(ofBytes, 0.90, 0.99);
    }

    [Fact]
    public void Thirty_samples_of_a_vector_that_grows_miss_too_many_sizes_to_hold_its_objects_as_often()
    {
        var (ofObjects, ofBytes) = Coverage("a tenth as often", Doubling(8, 10, 100));
        Assert.InRange(ofObjects, 0.80, 0.95);
        Assert.InRange(ofBytes, 0.90, 0.99);
    }

    [Fact]
    public void A_weighted_sum_has_the_interval_that_its_authors_published()
    {
        // Cases of Down syndrome of mothers with five children and more, by age, as a rate per 100,000 births of a standard population.
        // The youngest have no case and the largest weight. Fay and Feuer (1997); the digits are those of the R package dsrTest.
        double[] cases = [0, 8, 63, 112, 262, 295];
        double[] births = [327, 30_666, 123_419, 149_919, 104_088, 34_392];
        double[] standard = [319_933, 931_318, 786_511, 488_235, 237_863, 61_313];
        double[] weights = [.. births.Zip(standard, (own, all) => all / standard.Sum() / own * 1e5)];
        Interval rate = AllocationEstimate.SumOf(
            cases.Zip(weights, static (count, weight) => count * weight).Sum(),
            cases.Zip(weights, static (count, weight) => count * weight * weight).Sum(),
            weights.Max());
        Assert.Equal((67.702, 75.529, 188.300), (Math.Round(rate.Low, 3), Math.Round(rate.Value, 3), Math.Round(rate.High, 3)));
    }

    [Fact]
    public void Small_sizes_that_were_not_sampled_raise_the_upper_end_for_objects_only()
    {
        IReadOnlyList<long>[] one = [[.. Enumerable.Repeat(1024L, 60)]];
        IReadOnlyList<long>[] several = [[.. Enumerable.Repeat(1024L, 58), 96, 4096]];
        Interval oneSize = AllocationEstimate.ObjectsPerSecond(one, [1]);
        Assert.Equal(PoissonRatio(60), oneSize.High / oneSize.Value, 6);
        Interval objects = AllocationEstimate.ObjectsPerSecond(several, [1]);
        double missed = 1 / AllocationEstimate.ProbabilityOf(48);
        Assert.InRange(objects.High, objects.Value + missed, objects.Value + 5 * missed);
        Interval bytes = AllocationEstimate.BytesPerSecond(several, [1]);
        Assert.Equal(PoissonRatio(60), bytes.High / bytes.Value, 2);
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

    private static (long, int)[] Doubling(long from, int sizes, int perSecond) =>
        [.. Enumerable.Range(0, sizes).Select(i => (from << i, perSecond))];

    /// <summary>The shares of the intervals of objects and of bytes that hold the truth.</summary>
    private (double OfObjects, double OfBytes) Coverage(string name, IReadOnlyList<(long Size, int PerSecond)> mix)
    {
        var random = new Random(Seed);
        int heldObjects = 0;
        int heldBytes = 0;
        for (int i = 0; i < MixMeasurements; i++)
        {
            var (slices, objects, bytes) = Simulate(random, mix);
            heldObjects += Holds(AllocationEstimate.ObjectsPerSecond(slices, Seconds), objects) ? 1 : 0;
            heldBytes += Holds(AllocationEstimate.BytesPerSecond(slices, Seconds), bytes) ? 1 : 0;
        }

        double ofObjects = (double)heldObjects / MixMeasurements;
        double ofBytes = (double)heldBytes / MixMeasurements;
        output.WriteLine($"{name}: {ofObjects:P1} of objects, {ofBytes:P1} of bytes, {MixMeasurements} simulated (seed {Seed})");
        return (ofObjects, ofBytes);
    }

    private static bool Holds(Interval interval, double truth) => interval.Low <= truth && truth <= interval.High;

    /// <summary>The upper end over the estimate, for as many samples that weigh the same.</summary>
    private static double PoissonRatio(int samples)
    {
        Interval count = AllocationEstimate.CountPerSecond(samples, 1);
        return count.High / count.Value;
    }

    private static (IReadOnlyList<long>[] Slices, double Objects, double Bytes) Simulate(
        Random random, IReadOnlyList<(long Size, int PerSecond)> mix)
    {
        List<long>[] slices = [.. Seconds.Select(static _ => new List<long>())];
        double objects = 0;
        double bytes = 0;
        for (int i = 0; i < slices.Length; i++)
        {
            foreach (var (size, perSecond) in mix)
            {
                int allocated = (int)(perSecond * Seconds[i]);
                slices[i].AddRange(Enumerable.Repeat(size, Draw(random, allocated, AllocationEstimate.ProbabilityOf(size))));
                objects += allocated;
                bytes += (double)allocated * size;
            }
        }

        return (slices, objects / Seconds.Sum(), bytes / Seconds.Sum());
    }

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

using MathNet.Numerics.Distributions;

namespace Tidepool.Advice;

/// <summary>A rate with the interval that holds its truth with a probability of 95 %.</summary>
/// <param name="Low">The lower end.</param>
/// <param name="Value">The estimate.</param>
/// <param name="High">The upper end.</param>
internal readonly record struct Interval(double Low, double Value, double High)
{
    /// <summary>Whether it can be the interval of a rate.</summary>
    internal bool IsSound => Low >= 0 && Low <= Value && Value <= High && double.IsFinite(High);
}

/// <summary>
/// What a sample of allocations says of all of them. The runtime samples each byte with the same small probability, so an object is
/// sampled with one that grows with its size: dividing by it makes the sums unbiased.
/// </summary>
internal static class AllocationEstimate
{
    /// <summary>The probability that a byte is sampled; the runtime fixes it.</summary>
    public const double ByteProbability = 1.0 / 102_400;

    private const double Outside = 0.025;
    private const long UnseenPart = 2;
    private const long SmallestUnseen = 8;

    /// <summary>The probability that an object of this many bytes is sampled.</summary>
    public static double ProbabilityOf(long size) => -double.ExpM1(size * double.LogP1(-ByteProbability));

    /// <summary>The bytes that a sample stands for.</summary>
    public static double WeightOf(AllocationSample sample) => sample.Size / ProbabilityOf(sample.Size);

    /// <summary>Bytes per second, with an interval.</summary>
    /// <param name="slices">The sizes of the objects that were sampled in each slice.</param>
    /// <param name="seconds">The length of each slice.</param>
    public static Interval BytesPerSecond(IReadOnlyList<IReadOnlyList<long>> slices, IReadOnlyList<double> seconds) =>
        PerSecond(slices, seconds, static size => size);

    /// <summary>Objects per second, with an interval.</summary>
    /// <param name="slices">The sizes of the objects that were sampled in each slice.</param>
    /// <param name="seconds">The length of each slice.</param>
    public static Interval ObjectsPerSecond(IReadOnlyList<IReadOnlyList<long>> slices, IReadOnlyList<double> seconds) =>
        PerSecond(slices, seconds, static _ => 1);

    /// <summary>What may have been allocated of objects of a size although none was sampled.</summary>
    /// <param name="size">The bytes of an object.</param>
    /// <param name="seconds">How long samples were taken.</param>
    public static Interval UnseenBytesPerSecond(long size, double seconds) => Unseen(size, Math.Max(size, 1), seconds);

    /// <summary>A rate of events that were all counted, with the interval of a Poisson count.</summary>
    /// <param name="count">How many there were.</param>
    /// <param name="seconds">In how many seconds.</param>
    public static Interval CountPerSecond(double count, double seconds) => new(
        count == 0 ? 0 : Gamma.InvCDF(count, 1, Outside) / seconds,
        count / seconds,
        Gamma.InvCDF(count + 1, 1, 1 - Outside) / seconds);

    private static Interval Unseen(double weight, long size, double seconds) =>
        new(0, 0, -Math.Log(Outside) * weight / ProbabilityOf(size) / seconds);

    private static Interval PerSecond(
        IReadOnlyList<IReadOnlyList<long>> slices, IReadOnlyList<double> seconds, Func<long, double> what)
    {
        double time = seconds.Sum();
        double sum = 0;
        double squares = 0; // the variance of the sum if objects come as a Poisson process
        foreach (long size in slices.SelectMany(static slice => slice))
        {
            double weight = Weight(size, what);
            sum += weight;
            squares += weight * weight;
        }

        if (sum == 0)
        {
            return Unseen(what(1), 1, time);
        }

        double dispersion = Dispersion(slices, seconds);
        Interval all = SumOf(sum, squares * dispersion, LargestWeight(slices, what) * dispersion);
        return new Interval(all.Low / time, sum / time, all.High / time);
    }

    /// <summary>
    /// A weighted sum of Poisson counts with the interval of Fay and Feuer (1997). One more count of the largest weight may just have been
    /// missed, and the upper end takes it in: a sum that lacks it has too small a variance too.
    /// </summary>
    /// <param name="sum">The sum of the weights.</param>
    /// <param name="variance">The sum of their squares.</param>
    /// <param name="largest">The largest weight that may be, whether it was counted or not.</param>
    internal static Interval SumOf(double sum, double variance, double largest) => new(
        Quantile(sum, variance, Outside), sum, Quantile(sum + largest, variance + largest * largest, 1 - Outside));

    /// <summary>The quantile of the gamma distribution with this mean and variance.</summary>
    private static double Quantile(double mean, double variance, double probability) =>
        Gamma.InvCDF(mean * mean / variance, mean / variance, probability);

    /// <summary>
    /// The largest weight that an object of a site may have. Where several sizes were sampled, others may have been too small for it: down
    /// to half of the smallest they count, but not below a word.
    /// </summary>
    private static double LargestWeight(IReadOnlyList<IReadOnlyList<long>> slices, Func<long, double> what)
    {
        long smallest = slices.SelectMany(static slice => slice).Min();
        long largest = slices.SelectMany(static slice => slice).Max();
        long unseen = smallest < largest ? Math.Min(smallest, Math.Max(SmallestUnseen, smallest / UnseenPart)) : smallest;
        return Math.Max(Weight(unseen, what), Weight(largest, what)); // of objects small ones weigh most, of bytes large ones
    }

    private static double Weight(long size, Func<long, double> what) => what(size) / ProbabilityOf(size);

    /// <summary>
    /// How much more the slices differ than chance alone would make them: 1 unless that is significant, because few slices say little.
    /// </summary>
    internal static double Dispersion(IReadOnlyList<IReadOnlyList<long>> slices, IReadOnlyList<double> seconds)
    {
        double total = slices.Sum(static slice => slice.Count);
        double time = seconds.Sum();
        if (slices.Count < 2 || total < slices.Count)
        {
            return 1;
        }

        double square = 0;
        for (int i = 0; i < slices.Count; i++)
        {
            double expected = total * seconds[i] / time;
            square += (slices[i].Count - expected) * (slices[i].Count - expected) / expected;
        }

        int freedom = slices.Count - 1;
        return square > ChiSquared.InvCDF(freedom, 1 - Outside * 2) ? square / freedom : 1;
    }
}

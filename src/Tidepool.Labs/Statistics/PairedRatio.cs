using MathNet.Numerics.Random;
using MathNet.Numerics.Statistics;

namespace Tidepool.Labs;

/// <summary>A ratio with its 95 % interval.</summary>
/// <param name="Value">Geometric mean over the processes of each process's median ratio.</param>
/// <param name="Low">Lower end of the interval.</param>
/// <param name="High">Upper end of the interval.</param>
internal readonly record struct RatioEstimate(double Value, double Low, double High)
{
    /// <summary>
    /// How far from 1.00 the interval may reach for two times to be called the same, and a difference to be worth a word.
    /// </summary>
    public const double Tolerance = 0.05;

    /// <summary>What the interval says.</summary>
    public RatioWord Word =>
        Low >= 1 - Tolerance && High <= 1 + Tolerance ? RatioWord.NoDifference
        : High < 1 ? RatioWord.Faster
        : Low > 1 ? RatioWord.Slower
        : RatioWord.Undecided;

    /// <summary>
    /// This ratio over another one. No round pairs the two, so the interval is the widest that both allow: it leaves 1 out
    /// only where their intervals do not overlap.
    /// </summary>
    public RatioEstimate Over(RatioEstimate other) => new(Value / other.Value, Low / other.High, High / other.Low);

    /// <summary>Divides by another ratio; null where that is missing.</summary>
    public RatioEstimate? Over(RatioEstimate? other) => other is { } known ? Over(known) : null;
}

/// <summary>What a ratio with its interval says about two times.</summary>
internal enum RatioWord
{
    /// <summary>The whole interval lies below 1, and not all of it within 5 % of 1.</summary>
    Faster,

    /// <summary>The whole interval lies above 1, and not all of it within 5 % of 1.</summary>
    Slower,

    /// <summary>The whole interval lies within 5 % of 1.</summary>
    NoDifference,

    /// <summary>The interval includes 1 and is wider than that: the run does not tell.</summary>
    Undecided,
}

/// <summary>
/// Ratio of two subjects that were measured in the same rounds of the same processes.
/// Within a process each round gives one ratio and their median is taken, so that a disturbed round does not count;
/// over the processes the geometric mean is taken, so that the luck of code layout, which differs by process,
/// averages out. The interval is a percentile bootstrap that redraws processes first, then rounds in each.
/// </summary>
internal static class PairedRatio
{
    /// <summary>Redraws of the bootstrap.</summary>
    public const int Redraws = 2000;

    /// <summary>Estimates <paramref name="numerator"/> over <paramref name="denominator"/>.</summary>
    /// <param name="numerator">One array for each process, one value for each round; NaN where the round has none.</param>
    /// <param name="denominator">The same of the other subject.</param>
    /// <param name="seed">Seed of the redraws; the same seed gives the same interval.</param>
    /// <returns>The estimate, or null when no round has both.</returns>
    public static RatioEstimate? Estimate(
        IReadOnlyList<double[]> numerator, IReadOnlyList<double[]> denominator, int seed)
    {
        double[][] ratios =
        [
            .. numerator.Zip(denominator, PairRounds).Where(rounds => rounds.Length > 0),
        ];
        return ratios.Length == 0 ? null : Bootstrap(ratios, seed);
    }

    /// <summary>
    /// Estimates the geometric mean of the ratios of several pairs of subjects: of pairs that form a group first, then of
    /// the groups, so that each group has the same weight.
    /// </summary>
    /// <returns>The estimate, or null when a pair has no round with both in one of the processes that others have.</returns>
    public static RatioEstimate? EstimateMean(
        IReadOnlyList<IReadOnlyList<(IReadOnlyList<double[]> Numerator, IReadOnlyList<double[]> Denominator)>> groups, int seed)
    {
        double[][][][] ratios =
            [.. groups.Select(group => group.Select(pair => pair.Numerator.Zip(pair.Denominator, PairRounds).ToArray()).ToArray())];
        var pairs = ratios.SelectMany(group => group).ToArray();
        int processes = pairs.Length == 0 ? 0 : pairs.Max(pair => pair.Length);
        int[] complete =
            [.. Enumerable.Range(0, processes).Where(process => pairs.All(pair => pair.Length > process && pair[process].Length > 0))];
        if (ratios.Length == 0 || ratios.Any(group => group.Length == 0) || complete.Length == 0)
        {
            return null;
        }

        var random = new Xoshiro256StarStar(seed, threadSafe: false);
        double value = Math.Exp(complete.Average(process => MeanLog(ratios, pair => ArrayStatistics.MedianInplace([.. pair[process]]))));
        var estimates = new double[Redraws];
        for (int redraw = 0; redraw < Redraws; redraw++)
        {
            double sum = 0;
            for (int place = 0; place < complete.Length; place++)
            {
                int process = complete[random.Next(complete.Length)];
                sum += MeanLog(ratios, pair => RedrawnMedian(pair[process], random));
            }

            estimates[redraw] = Math.Exp(sum / complete.Length);
        }

        Array.Sort(estimates);
        return new(value, SortedArrayStatistics.Quantile(estimates, 0.025), SortedArrayStatistics.Quantile(estimates, 0.975));
    }

    private static double MeanLog(double[][][][] groups, Func<double[][], double> median) =>
        groups.Average(group => group.Average(pair => Math.Log(median(pair))));

    private static double RedrawnMedian(double[] rounds, Xoshiro256StarStar random)
    {
        Span<double> redrawn = rounds.Length <= 64 ? stackalloc double[rounds.Length] : new double[rounds.Length];
        for (int round = 0; round < rounds.Length; round++)
        {
            redrawn[round] = rounds[random.Next(rounds.Length)];
        }

        redrawn.Sort();
        return (redrawn[(rounds.Length - 1) / 2] + redrawn[rounds.Length / 2]) / 2;
    }

    private static double[] PairRounds(double[] numerator, double[] denominator) =>
        [.. numerator.Zip(denominator, (n, d) => n / d).Where(double.IsFinite)];

    private static RatioEstimate Bootstrap(double[][] ratios, int seed)
    {
        var random = new Xoshiro256StarStar(seed, threadSafe: false);
        double value = Math.Exp(ratios.Average(rounds => Math.Log(ArrayStatistics.MedianInplace([.. rounds]))));
        var estimates = new double[Redraws];
        var redrawn = new double[ratios[0].Length];
        for (int redraw = 0; redraw < Redraws; redraw++)
        {
            double sum = 0;
            for (int process = 0; process < ratios.Length; process++)
            {
                double[] rounds = ratios[random.Next(ratios.Length)];
                redrawn = redrawn.Length == rounds.Length ? redrawn : new double[rounds.Length];
                for (int round = 0; round < rounds.Length; round++)
                {
                    redrawn[round] = rounds[random.Next(rounds.Length)];
                }

                sum += Math.Log(ArrayStatistics.MedianInplace(redrawn));
            }

            estimates[redraw] = Math.Exp(sum / ratios.Length);
        }

        Array.Sort(estimates);
        return new(
            value,
            SortedArrayStatistics.Quantile(estimates, 0.025),
            SortedArrayStatistics.Quantile(estimates, 0.975));
    }
}

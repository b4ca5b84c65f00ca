using MathNet.Numerics.Distributions;

namespace Tidepool.Advice;

/// <summary>What a comparison says of one measure.</summary>
internal enum VerifyAnswer
{
    /// <summary>The second program uses less.</summary>
    Less,

    /// <summary>It uses more.</summary>
    More,

    /// <summary>Both use the same, within 2 %.</summary>
    NoDifference,

    /// <summary>The runs differ too much among themselves to tell.</summary>
    NotTold,
}

/// <summary>The difference of two programs in one measure, from runs in turns.</summary>
internal sealed record Difference
{
    /// <summary>How far from equal the whole interval may lie for two programs to be called the same.</summary>
    public const double Tolerance = 0.02;

    /// <summary>The probability that an interval holds the truth: high, because several measures are looked at together.</summary>
    public const double Confidence = 0.99;

    private const int Redraws = 20_000;
    private const int Seed = 1;

    /// <summary>The mean of the first program's runs.</summary>
    public required double Before { get; init; }

    /// <summary>The mean of the second program's.</summary>
    public required double After { get; init; }

    /// <summary>The second minus the first.</summary>
    public required Interval Change { get; init; }

    /// <summary>The second over the first; null when the first may be 0.</summary>
    public Interval? Ratio { get; init; }

    /// <summary>What it says.</summary>
    public VerifyAnswer Answer
    {
        get
        {
            double same = Tolerance * Math.Max(Before, After);
            bool isSame = Change.Low >= -same && Change.High <= same;
            return isSame ? VerifyAnswer.NoDifference
                : Change.High < 0 ? VerifyAnswer.Less
                : Change.Low > 0 ? VerifyAnswer.More
                : VerifyAnswer.NotTold;
        }
    }

    /// <summary>
    /// Compares runs. The first of one is paired with the first of the other, and so on: in turns they are neighbours, so what drifts with
    /// time is in both. The interval is a bootstrap of the pairs, with the percentiles that make it as wide as few runs need.
    /// </summary>
    /// <param name="before">One value for each run, in the order of the runs.</param>
    /// <param name="after">The same, and as many, of the other program.</param>
    public static Difference Of(IReadOnlyList<double> before, IReadOnlyList<double> after)
    {
        var random = new Random(Seed);
        int runs = before.Count;
        var changes = new double[Redraws];
        var ratios = new double[Redraws];
        for (int redraw = 0; redraw < Redraws; redraw++)
        {
            double first = 0;
            double second = 0;
            for (int i = 0; i < runs; i++)
            {
                int pair = random.Next(runs);
                first += before[pair];
                second += after[pair];
            }

            changes[redraw] = (second - first) / runs;
            ratios[redraw] = second / first;
        }

        double mean = before.Average();
        double other = after.Average();
        return new Difference
        {
            Before = mean,
            After = other,
            Change = IntervalOf(changes, other - mean, runs),
            Ratio = ratios.All(double.IsFinite) ? IntervalOf(ratios, other / mean, runs) : null,
        };
    }

    /// <summary>
    /// Percentiles of the redraws. Those of a normal distribution would be too narrow for few runs: Student's quantile, and the variance
    /// that a redraw of n values lacks, set how far out they are taken.
    /// </summary>
    private static Interval IntervalOf(double[] redrawn, double value, int runs)
    {
        double student = StudentT.InvCDF(0, 1, runs - 1, 1 - (1 - Confidence) / 2);
        double outside = Normal.CDF(0, 1, -student * Math.Sqrt(runs / (runs - 1.0)));
        Array.Sort(redrawn);
        int place = (int)(outside * (redrawn.Length - 1));
        return new Interval(redrawn[place], value, redrawn[redrawn.Length - 1 - place]);
    }
}

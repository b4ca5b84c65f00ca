namespace Tidepool.Labs;

/// <summary>How much of a rented buffer stays unused because lengths are rounded up to classes.</summary>
internal static class Waste
{
    /// <summary>Metric: mean share unused, in percent.</summary>
    public const string Percent = "waste_percent";

    private const int Shortest = 16;
    private const int Longest = 1 << 20;

    /// <summary>Sums over every length; a length weighs its inverse, so that each octave weighs the same.</summary>
    public static Dictionary<string, double> Of(SizeClasses classes)
    {
        double unused = 0;
        double weights = 0;
        double worst = 0;
        for (int length = Shortest; length <= Longest; length++)
        {
            double capacity = classes.LengthOf(classes.IndexOf(length));
            double share = 1 - (length / capacity);
            unused += share / length;
            weights += 1.0 / length;
            worst = Math.Max(worst, share);
        }

        return new() { [Percent] = 100 * unused / weights, ["worst_percent"] = 100 * worst };
    }
}

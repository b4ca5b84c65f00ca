namespace Tidepool.Advice;

/// <summary>A request, or what a sampled one stands for.</summary>
/// <param name="Asked">The length that was asked for.</param>
/// <param name="Given">The length that was handed out.</param>
/// <param name="Times">How many requests it stands for.</param>
internal readonly record struct SizeRequest(int Asked, int Given, double Times);

/// <summary>Size classes for the requests of a pool, judged on requests that they were not made from.</summary>
internal sealed record SizeClassFit
{
    /// <summary>The smallest gain that is worth another table.</summary>
    public const double SmallestGain = 0.1;

    private const int FewestRequests = 2000;
    private const int Blocks = 50;
    private const int Resamples = 2000;
    private const int MostClasses = 256;
    private const int UnseenDoublings = 3;
    private const int LeastKept = 1 << 20; // longer requests than the last class are not kept at all
    private const double Outside = 0.025;

    /// <summary>How many requests it was judged on: the later half of what was seen.</summary>
    public int HeldOut { get; init; }

    /// <summary>The share of a buffer that is unused now, over the elements handed out.</summary>
    public double WasteNow { get; init; }

    /// <summary>The share that would be unused.</summary>
    public double Waste { get; init; }

    /// <summary>The share of the elements handed out that would be saved.</summary>
    public Interval Gain { get; init; }

    /// <summary>The lengths, in elements, ascending.</summary>
    public IReadOnlyList<int> Lengths { get; init; } = [];

    /// <summary>Whether the gain is worth it, and not a matter of chance.</summary>
    public bool IsWorthIt => Gain.Value >= SmallestGain && Gain.Low > 0;

    /// <summary>
    /// Makes the best table for the earlier half of the requests, of as many classes as served them, and measures it on the later half.
    /// </summary>
    /// <param name="requests">What was asked for and what was given, in their order.</param>
    /// <returns>Null when the requests are too few.</returns>
    public static SizeClassFit? Of(IReadOnlyList<(int Asked, int Given)> requests) => Of(
        [.. requests.Where(static request => request.Asked > 0).Select(static request => new SizeRequest(request.Asked, request.Given, 1))],
        Fit);

    /// <summary>Lets the earlier half of the requests make a table, and measures it on the later half.</summary>
    /// <param name="requests">The requests in their order, each of 1 or more.</param>
    /// <param name="fit">Makes the table.</param>
    /// <returns>Null when the requests are too few.</returns>
    public static SizeClassFit? Of(IReadOnlyList<SizeRequest> requests, Func<IReadOnlyList<SizeRequest>, SizeClasses> fit)
    {
        if (requests.Count < FewestRequests)
        {
            return null;
        }

        int half = requests.Count / 2;
        SizeClasses table = fit([.. requests.Take(half)]);
        int heldOut = requests.Count - half;
        (double Now, double Then, double Asked)[] blocks = new (double, double, double)[Blocks];
        for (int i = 0; i < heldOut; i++)
        {
            ref var block = ref blocks[(int)((long)i * Blocks / heldOut)];
            var (asked, given, times) = requests[half + i];
            block.Now += given * times;
            block.Then += (table.IndexOf(asked) is >= 0 and var index ? table.LengthOf(index) : asked) * times;
            block.Asked += asked * times;
        }

        double now = blocks.Sum(static block => block.Now);
        double then = blocks.Sum(static block => block.Then);
        double wanted = blocks.Sum(static block => block.Asked);
        return new SizeClassFit
        {
            HeldOut = heldOut,
            WasteNow = 1 - wanted / now,
            Waste = 1 - wanted / then,
            Gain = GainOf(blocks, 1 - then / now),
            Lengths = [.. Enumerable.Range(0, table.Count).Select(table.LengthOf)],
        };
    }

    /// <summary>The best classes, and every power of two, so that an unseen length finds a class of at most twice its length.</summary>
    private static SizeClasses Fit(IReadOnlyList<SizeRequest> requests)
    {
        Dictionary<int, long> histogram = [];
        HashSet<int> classes = [];
        foreach (var (asked, given, _) in requests)
        {
            histogram[asked] = histogram.GetValueOrDefault(asked) + 1;
            classes.Add(given);
        }

        SizeClasses best = SizeClasses.FromHistogram(histogram, Math.Min(classes.Count, MostClasses));
        SortedSet<int> lengths = [.. Enumerable.Range(0, best.Count).Select(best.LengthOf)];
        long last = Math.Clamp((long)best.MaxLength << UnseenDoublings, LeastKept, 1 << 30);
        for (long power = 16; power <= last; power *= 2)
        {
            lengths.Add((int)power);
        }

        return SizeClasses.FromLengths([.. lengths]);
    }

    /// <summary>Resamples whole blocks of neighbours, because requests that follow each other are alike.</summary>
    private static Interval GainOf((double Now, double Then, double Asked)[] blocks, double gain)
    {
        var random = new Random(1); // the same requests get the same answer
        var gains = new double[Resamples];
        for (int i = 0; i < Resamples; i++)
        {
            double now = 0;
            double then = 0;
            for (int j = 0; j < blocks.Length; j++)
            {
                var block = blocks[random.Next(blocks.Length)];
                now += block.Now;
                then += block.Then;
            }

            gains[i] = 1 - then / now;
        }

        Array.Sort(gains);
        return new Interval(gains[(int)(Outside * Resamples)], gain, gains[(int)((1 - Outside) * Resamples)]);
    }
}

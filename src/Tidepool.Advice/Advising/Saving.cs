namespace Tidepool.Advice;

/// <summary>What pooling is expected to save: estimated, until <c>--verify</c> has measured it.</summary>
internal sealed record Saving
{
    /// <summary>
    /// The factor that a program of its own may be away, to either side, from the costs that were measured here: its caches, its collector
    /// and how much of an array it uses are not known.
    /// </summary>
    internal const double ModelFactor = 1.6;

    /// <summary>
    /// The share of what large objects cost here that they cost in a program at least. The collector gives their pages back between two
    /// uses, or does not: one program took 11 page faults for each array of 120 KB in some runs, and 25 in others.
    /// </summary>
    internal const double FewestPages = 0.5;

    /// <summary>High over low at most, unless the samples alone leave it wider: wider than that, a range says nothing.</summary>
    internal const double Widest = 3;

    /// <summary>Bytes that are no longer allocated, per second.</summary>
    public required Interval BytesPerSecond { get; init; }

    /// <summary>
    /// How many processors are busy less: all 0 where that cannot be told, or it is none. Null where the costs were not measured.
    /// </summary>
    public Interval? Processors { get; init; }

    /// <summary>What pooling the objects of a site saves.</summary>
    /// <param name="site">The site.</param>
    /// <param name="seconds">How long samples were taken.</param>
    /// <param name="collections">What collections cost meanwhile.</param>
    /// <param name="costs">What an object costs to allocate and to rent; null where that was not measured.</param>
    public static Saving Of(AllocationSite site, double seconds, CollectorLoad collections, IPoolCosts? costs)
    {
        Interval bytes = site.BytesPerSecond;
        if (costs is null)
        {
            return new Saving { BytesPerSecond = bytes };
        }

        return new Saving
        {
            BytesPerSecond = bytes,
            Processors = Range(SavedOf(site, seconds, costs), collections.PartOf(site), site),
        };
    }

    /// <summary>
    /// A range around the geometric mean of the least and the most: what allocating costs more than renting, without the collections and
    /// with them, because what else the program allocates may cause as many; half of the former for large objects, but a third of the most
    /// at least. Where renting costs more, the collections less that are what is saved. Each end is away by the errors of the costs, of the
    /// samples and of the mean.
    /// </summary>
    private static Interval Range(SavedTime allocating, double collecting, AllocationSite site)
    {
        Interval bytes = site.BytesPerSecond;
        double most = allocating.Seconds + collecting;
        if (most <= allocating.Error)
        {
            return default; // no more than the costs may be off
        }

        double least = Math.Max(allocating.Seconds * (1 - site.LargeShare * (1 - FewestPages)), most / Widest);
        double middle = Math.Sqrt(least * most);
        double costs = double.Hypot(Math.Log(ModelFactor), Math.Log(middle / least));
        double Away(double samples) => Math.Exp(Math.Max(samples, Math.Min(double.Hypot(costs, samples), Math.Log(Widest) / 2)));
        return new Interval(
            middle / Away(Math.Log(bytes.Value / bytes.Low)), middle, middle * Away(Math.Log(bytes.High / bytes.Value)));
    }

    /// <summary>
    /// What its arrays save; where a class of the platform makes them, what the class saves, which copies less when it grows as well. Not
    /// where they are large: what those cost varies from run to run, and fewer are timed as a whole.
    /// </summary>
    private static SavedTime SavedOf(AllocationSite site, double seconds, IPoolCosts costs)
    {
        bool hasReferences = TypeRules.PlainElement(site.Type) is null;
        return site.Builder is { } builder && !hasReferences && !site.IsMostlyLarge
            ? costs.SavedPerByte(builder, site.Quantile(1)) * site.BytesPerSecond.Value
            : site.Sizes.Aggregate(
                default(SavedTime), (sum, size) => sum + costs.SavedBy(size.Size, hasReferences) * (size.Objects / seconds));
    }

    /// <summary>What pooling at several sites saves together; null where there are none.</summary>
    public static Saving? Sum(IReadOnlyList<Saving> savings)
    {
        if (savings.Count == 0)
        {
            return null;
        }

        double bytes = savings.Sum(static one => one.BytesPerSecond.Value);

        // Samples err independently, so their errors add up as squares. The costs err together, so theirs add up as they are.
        double Spread(Func<Interval, double> end) =>
            Math.Sqrt(savings.Sum(one => Math.Pow(end(one.BytesPerSecond) - one.BytesPerSecond.Value, 2)));
        Interval[] processors = [.. savings.Select(static one => one.Processors).OfType<Interval>()];
        return new Saving
        {
            BytesPerSecond = new Interval(
                bytes - Spread(static interval => interval.Low), bytes, bytes + Spread(static interval => interval.High)),
            Processors = processors.Length < savings.Count
                ? null
                : new Interval(
                    processors.Sum(static one => one.Low), processors.Sum(static one => one.Value), processors.Sum(static one => one.High)),
        };
    }

    /// <summary>Says it; a time is never one number before it was verified.</summary>
    /// <param name="saving">The saving.</param>
    /// <param name="processors">How many processors the process keeps busy; null where that is not known.</param>
    public static string Text(Saving saving, double? processors)
    {
        Interval bytes = saving.BytesPerSecond;
        string memory = $"{Quantity.Bytes(bytes.Value)}/s ({Quantity.Bytes(bytes.Low)} to {Quantity.Bytes(bytes.High)})";
        string Share(double cores) => Quantity.Percent(processors is > 0 and var busy ? Math.Min(1, cores / busy) : cores);
        return saving.Processors switch
        {
            null => memory,
            { High: 0 } => $"{memory} and no processor time that can be told",
            { } known => $"{memory} and {Share(known.Low)} to {Share(known.High)} of "
                + (processors is > 0 ? "its processor time" : "a processor"),
        };
    }
}

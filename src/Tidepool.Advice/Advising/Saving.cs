namespace Tidepool.Advice;

/// <summary>What pooling is expected to save: estimated, until <c>--verify</c> has measured it.</summary>
internal sealed record Saving
{
    /// <summary>
    /// The factor that a program of its own may be away, to either side, from the costs that were measured here: its caches, its collector
    /// and how much of an array it uses are not known.
    /// </summary>
    internal const double ModelFactor = 1.6;

    /// <summary>Bytes that are no longer allocated, per second.</summary>
    public required Interval BytesPerSecond { get; init; }

    /// <summary>How many processors are busy less; null where the costs were not measured.</summary>
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

        double allocating = Math.Max(0, SavedOf(site, seconds, costs));
        double processors = allocating + collections.PartOf(site);
        double sampling = Math.Log(Math.Max(bytes.High / bytes.Value, bytes.Value / bytes.Low));
        double factor = Math.Exp(Math.Sqrt(Math.Pow(Math.Log(ModelFactor), 2) + sampling * sampling));
        return new Saving
        {
            BytesPerSecond = bytes,

            // It begins without collections: what else the program allocates may cause as many.
            Processors = new Interval(allocating / factor, processors, processors * factor),
        };
    }

    private static double SavedOf(AllocationSite site, double seconds, IPoolCosts costs)
    {
        if (site.Builder is { } builder)
        {
            return site.BytesPerSecond.Value * costs.SavedSecondsPerByte(builder, site.Quantile(1));
        }

        bool hasReferences = TypeRules.PlainElement(site.Type) is null;
        return site.Sizes.Sum(size => size.Objects * costs.SavedSeconds(size.Size, hasReferences)) / seconds;
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
        return saving.Processors is { } known
            ? $"{memory} and {Share(known.Low)} to {Share(known.High)} of {(processors is > 0 ? "its processor time" : "a processor")}"
            : memory;
    }
}

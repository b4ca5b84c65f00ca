using MathNet.Numerics.Statistics;

namespace Tidepool.Advice;

/// <summary>What collections cost in a window, and which part of it allocations cause.</summary>
internal sealed record CollectorLoad
{
    /// <summary>The share of the time for collections of young generations.</summary>
    public double Young { get; init; }

    /// <summary>The share of the time for collections of generation 2.</summary>
    public double Full { get; init; }

    /// <summary>Bytes per second that went to the small object heap.</summary>
    public double SmallBytes { get; init; }

    /// <summary>Bytes per second that went to the large one.</summary>
    public double LargeBytes { get; init; }

    /// <summary>
    /// The load of a window. Each pause counts as the median of its kind: on a busy machine some last long, because the process has to
    /// wait for a processor, which is not work.
    /// </summary>
    /// <param name="slices">What was allocated, for a part of the window.</param>
    /// <param name="collections">The collections of all of it.</param>
    public static CollectorLoad Of(IReadOnlyList<SampleSlice> slices, CollectionHistory collections)
    {
        double sampled = slices.Sum(static slice => slice.Seconds);
        double Bytes(bool isLarge) => slices.Sum(
            slice => slice.Samples.Where(sample => sample.IsLarge == isLarge).Sum(AllocationEstimate.WeightOf)) / sampled;
        double Share(bool isFull)
        {
            double[] pauses = [.. collections.Pauses.Where(pause => pause.IsFull == isFull).Select(static pause => pause.Seconds)];
            return pauses.Length == 0 ? 0 : pauses.Length * pauses.Median() / collections.Seconds;
        }

        return sampled > 0
            ? new() { Young = Share(false), Full = Share(true), SmallBytes = Bytes(false), LargeBytes = Bytes(true) }
            : new();
    }

    /// <summary>The part of the load that goes when a site allocates no more: collections come by the bytes of their heap.</summary>
    public double PartOf(AllocationSite site)
    {
        double small = site.BytesPerSecond.Value * (1 - site.LargeShare);
        double large = site.BytesPerSecond.Value * site.LargeShare;
        double young = SmallBytes > 0 ? Young * Math.Min(1, small / SmallBytes) : 0;
        double full = LargeBytes > 0 ? Full * Math.Min(1, large / LargeBytes) : 0;
        return young + full;
    }
}

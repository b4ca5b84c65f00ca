using MathNet.Numerics.Statistics;

namespace Tidepool.Advice;

/// <summary>A collection that held the process up.</summary>
/// <param name="Seconds">For how long.</param>
/// <param name="IsFull">Whether it was of generation 2.</param>
internal readonly record struct CollectionPause(double Seconds, bool IsFull);

/// <summary>What collections cost while samples were taken, and which part of it allocations cause.</summary>
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
    /// The load of slices. Each pause counts as the median of its kind: on a busy machine some last long, because the process has to wait
    /// for a processor, which is not work.
    /// </summary>
    public static CollectorLoad Of(IReadOnlyList<SampleSlice> slices)
    {
        double seconds = slices.Sum(static slice => slice.Seconds);
        double Bytes(bool isLarge) => slices.Sum(
            slice => slice.Samples.Where(sample => sample.IsLarge == isLarge).Sum(AllocationEstimate.WeightOf)) / seconds;
        double Share(bool isFull)
        {
            double[] pauses =
                [.. slices.SelectMany(static slice => slice.Pauses).Where(pause => pause.IsFull == isFull).Select(static p => p.Seconds)];
            return pauses.Length == 0 ? 0 : pauses.Length * pauses.Median() / seconds;
        }

        return seconds > 0
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

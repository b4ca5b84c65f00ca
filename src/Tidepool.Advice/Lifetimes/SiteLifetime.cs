using MathNet.Numerics.Distributions;

namespace Tidepool.Advice;

/// <summary>How long the objects of a site live, as shares of its bytes from 0 to 1 with intervals of 95 %.</summary>
internal sealed record SiteLifetime
{
    private const double Outside = 0.025;

    /// <summary>How many of its samples a collection has looked at.</summary>
    public required int Followed { get; init; }

    /// <summary>The share that was dead when its first collection looked at it.</summary>
    public required Interval DieYoung { get; init; }

    /// <summary>The share that reaches generation 2.</summary>
    public required Interval Kept { get; init; }

    /// <summary>The lifetimes of a site; null where no collection looked at a sample of it.</summary>
    /// <param name="samples">Its samples.</param>
    public static SiteLifetime? Of(IReadOnlyList<AllocationSample> samples)
    {
        Sighting[] first =
        [
            .. from sample in samples
               where sample.Lifetime is { Fate: not Fate.Unseen }
               select SightingOf(sample, sample.Lifetime!.Value.Fate != Fate.DiedYoung),
        ];
        if (first.Length == 0)
        {
            return null;
        }

        Sighting[] second =
        [
            .. from sample in samples
               where sample.Lifetime is { Fate: Fate.DiedLater or Fate.Kept }
               select SightingOf(sample, sample.Lifetime!.Value.Fate == Fate.Kept),
        ];
        Interval outliving = ShareOf(first);
        Interval reaching = second.Length > 0 ? ShareOf(second) : new Interval(0, 1, 1);

        // Of those that outlived one collection not all were seen to the end: what is known of the others is taken for them. The ends
        // of both intervals together lie further out than those of the product.
        return new SiteLifetime
        {
            Followed = first.Length,
            DieYoung = new Interval(1 - outliving.High, 1 - outliving.Value, 1 - outliving.Low),
            Kept = new Interval(outliving.Low * reaching.Low, outliving.Value * reaching.Value, outliving.High * reaching.High),
        };
    }

    /// <summary>The share of the freed bytes that another thread freed; null where none was seen to be freed.</summary>
    public static Interval? ElsewhereOf(IReadOnlyList<AllocationSample> samples)
    {
        Sighting[] freed =
        [
            .. from sample in samples
               where sample.Release is { Seconds: not null } && sample.Lifetime is not null
               select SightingOf(sample, sample.Release!.IsElsewhere),
        ];
        return freed.Length == 0 ? null : ShareOf(freed);
    }

    /// <summary>Within how many seconds half of the bytes are freed; null where frees are not seen, or fewer are freed.</summary>
    public static double? HalfOf(IReadOnlyList<AllocationSample> samples)
    {
        AllocationSample[] followed = [.. samples.Where(static sample => sample.Release is not null)];
        double wanted = followed.Sum(AllocationEstimate.WeightOf) / 2;
        foreach (AllocationSample sample in followed.OrderBy(static sample => sample.Release!.Seconds ?? double.PositiveInfinity))
        {
            wanted -= AllocationEstimate.WeightOf(sample);
            if (wanted <= 0)
            {
                return sample.Release!.Seconds;
            }
        }

        return null;
    }

    /// <summary>
    /// The share of the weight that has it, with an interval of a binomial share of as many equal objects as say the same. Objects that one
    /// collection decided about often share their fate: when the collections differ more than chance, they say less.
    /// </summary>
    internal static Interval ShareOf(IReadOnlyList<Sighting> sightings)
    {
        double all = sightings.Sum(static one => one.Weight);
        double share = sightings.Sum(static one => one.Has ? one.Weight : 0) / all;
        double count = all * all / sightings.Sum(static one => one.Weight * one.Weight);
        double[] off =
        [
            .. sightings.GroupBy(static one => one.Collection)
                .Select(one => one.Sum(sighting => sighting.Weight * ((sighting.Has ? 1 : 0) - share)) / all),
        ];
        double variance = off.Sum(static one => one * one) * off.Length / Math.Max(1, off.Length - 1);
        if (variance > share * (1 - share) / count)
        {
            count = Math.Max(1, share * (1 - share) / variance);
        }

        double with = share * count;
        return new Interval(
            with > 0 ? Beta.InvCDF(with, count - with + 1, Outside) : 0,
            share,
            with < count ? Beta.InvCDF(with + 1, count - with, 1 - Outside) : 1);
    }

    private static Sighting SightingOf(AllocationSample sample, bool has) =>
        new(AllocationEstimate.WeightOf(sample), sample.Lifetime!.Value.FirstLook, has);

    /// <summary>One object that was seen again.</summary>
    /// <param name="Weight">The bytes it stands for.</param>
    /// <param name="Collection">The collection that decided first about it.</param>
    /// <param name="Has">Whether it has what is asked for.</param>
    internal readonly record struct Sighting(double Weight, long Collection, bool Has);
}

namespace Tidepool.Advice;

/// <summary>Groups samples into sites.</summary>
internal static class SiteTable
{
    /// <summary>The sites, those with most bytes first.</summary>
    /// <param name="slices">The samples.</param>
    /// <param name="collections">What the collections of the same window did.</param>
    public static IReadOnlyList<AllocationSite> Of(IReadOnlyList<SampleSlice> slices, CollectionHistory collections)
    {
        double[] seconds = [.. slices.Select(static slice => slice.Seconds)];
        double all = slices.Sum(static slice => slice.Samples.Sum(AllocationEstimate.WeightOf));
        var found =
            from indexed in slices.SelectMany((slice, index) => slice.Samples.Select(sample => (sample, index)))
            let place = FrameRules.UserFrame(indexed.sample.Stack)
            group indexed by
                (Method: place?.Method ?? "(unknown)", indexed.sample.Type, IsMiss: FrameRules.IsPoolMiss(indexed.sample.Stack),
                    Builder: FrameRules.BuilderOf(indexed.sample.Stack, indexed.sample.Type)) into site
            let samples = site.Select(static one => one.sample).ToArray()
            let bytes = samples.Sum(AllocationEstimate.WeightOf)
            let large = samples.Where(static sample => sample.IsLarge).Sum(AllocationEstimate.WeightOf)
            let sizes = SizesOf(slices.Count, site)
            let rate = AllocationEstimate.BytesPerSecond(sizes, seconds)
            let line = MostFrequentLine(samples)
            orderby bytes descending
            select new AllocationSite
            {
                Method = site.Key.Method,
                File = line?.File ?? "",
                Line = line?.Line ?? 0,
                Type = site.Key.Type,
                IsPoolMiss = site.Key.IsMiss,
                Builder = site.Key.Builder,
                Samples = samples.Length,
                Slices = site.Select(static one => one.index).Distinct().Count(),
                BytesPerSecond = rate,
                ObjectsPerSecond = AllocationEstimate.ObjectsPerSecond(sizes, seconds),
                Share = bytes / all,
                LargeShare = large / bytes,
                LargeCollectionsPerMinute = collections.PerMinute(CollectionHistory.LargeReason),
                Sizes = Histogram(samples),
                MostSurviving = MostSurviving(collections, rate.Low, large / bytes),
                Lifetime = SiteLifetime.Of(samples),
                FreedElsewhere = SiteLifetime.ElsewhereOf(samples),
                HalfFreedWithin = SiteLifetime.HalfOf(samples),
            };
        return [.. found];
    }

    /// <summary>
    /// The survivors of all sites over the least bytes of this one: the share of its bytes that survived is hardly larger. Null while no
    /// collection has looked at its heap.
    /// </summary>
    private static double? MostSurviving(CollectionHistory collections, double leastPerSecond, double largeShare)
    {
        var (looks, survivors) = largeShare > 0.5
            ? (collections.FullCollections, collections.LargeSurvivingBytes)
            : (collections.YoungCollections, collections.PromotedBytes);
        return looks == 0 ? null : survivors == 0 ? 0 : Math.Min(1, survivors / collections.Seconds / leastPerSecond);
    }

    /// <summary>One method may have several compiled forms, of which optimized ones know only where it begins.</summary>
    private static StackPlace? MostFrequentLine(IEnumerable<AllocationSample> samples) =>
        samples.Select(static sample => FrameRules.UserFrame(sample.Stack)).GroupBy(static place => place)
            .MaxBy(static place => place.Count())?.Key;

    private static List<long>[] SizesOf(int slices, IEnumerable<(AllocationSample Sample, int Index)> samples)
    {
        List<long>[] sizes = [.. Enumerable.Range(0, slices).Select(static _ => new List<long>())];
        foreach (var (sample, index) in samples)
        {
            sizes[index].Add(sample.Size);
        }

        return sizes;
    }

    private static IReadOnlyList<(long Size, double Objects)> Histogram(IEnumerable<AllocationSample> samples) =>
    [
        .. samples.GroupBy(static sample => sample.Size).OrderBy(static size => size.Key)
            .Select(static size => (size.Key, size.Count() / AllocationEstimate.ProbabilityOf(size.Key))),
    ];
}

namespace Tidepool.Advice;

/// <summary>A site in two runs.</summary>
/// <param name="Before">In the first; null where it was not sampled.</param>
/// <param name="After">In the second; null where it was not sampled.</param>
/// <param name="Bytes">Bytes per second. A run that did not sample the site bounds them from above.</param>
internal sealed record SiteChange(FileSite? Before, FileSite? After, RateChange Bytes)
{
    /// <summary>The site as it is now, or was.</summary>
    public FileSite Site => After ?? Before!;
}

/// <summary>A pool whose verdict is another one in the second run.</summary>
/// <param name="Name">The pool.</param>
/// <param name="Kind">What it hands out.</param>
/// <param name="Before">Its verdict in the first run; null where it was not there.</param>
/// <param name="After">In the second.</param>
internal sealed record PoolChange(string Name, string Kind, PoolVerdict? Before, PoolVerdict? After);

/// <summary>Two reports of <c>tidepool advise --json</c>, site by site. Pure.</summary>
internal sealed record AdviceDiff
{
    /// <summary>The first.</summary>
    public required AdviceFile Before { get; init; }

    /// <summary>The second.</summary>
    public required AdviceFile After { get; init; }

    /// <summary>All bytes allocated per second.</summary>
    public RateChange Bytes => new(Before.BytesPerSecond, After.BytesPerSecond);

    /// <summary>Collections per second. They come more evenly than chance would make them, so the intervals are wide enough.</summary>
    public RateChange Collections => new(CollectionsOf(Before), CollectionsOf(After));

    /// <summary>The sites of both, the largest change first.</summary>
    public required IReadOnlyList<SiteChange> Sites { get; init; }

    /// <summary>The pools whose verdict differs.</summary>
    public required IReadOnlyList<PoolChange> Pools { get; init; }

    /// <summary>Why the two may differ in more than the program; empty where nothing is known.</summary>
    public IReadOnlyList<string> Notes =>
    [
        .. Differing("programs", Before.Process.Name, After.Process.Name),
        .. Differing("runtimes", Before.Process.Runtime, After.Process.Runtime),
    ];

    /// <summary>Compares two reports.</summary>
    public static AdviceDiff Of(AdviceFile before, AdviceFile after)
    {
        var first = before.Sites.ToDictionary(static site => site.Key);
        var second = after.Sites.ToDictionary(static site => site.Key);
        var sites = first.Keys.Union(second.Keys).Select(key => ChangeOf(
            first.GetValueOrDefault(key), second.GetValueOrDefault(key), before.Window.SampledSeconds, after.Window.SampledSeconds));
        return new AdviceDiff
        {
            Before = before,
            After = after,
            Sites = [.. sites.OrderByDescending(static site => Math.Abs(site.Bytes.Change.Value))],
            Pools = [.. PoolsOf(before, after)],
        };
    }

    private static SiteChange ChangeOf(FileSite? before, FileSite? after, double secondsBefore, double secondsAfter) => new(
        before,
        after,
        new RateChange(
            before?.BytesPerSecond ?? AllocationEstimate.UnseenBytesPerSecond(after!.Sizes.Largest, secondsBefore),
            after?.BytesPerSecond ?? AllocationEstimate.UnseenBytesPerSecond(before!.Sizes.Largest, secondsAfter)));

    private static Interval CollectionsOf(AdviceFile file) => AllocationEstimate.CountPerSecond(
        Math.Round(file.Collections.Sum(static reason => reason.PerSecond) * file.Window.Seconds), file.Window.Seconds);

    /// <summary>Several pools may have one name: then the most urgent verdict of them counts.</summary>
    private static IEnumerable<PoolChange> PoolsOf(AdviceFile before, AdviceFile after)
    {
        var (first, second) = (VerdictsOf(before), VerdictsOf(after));
        return from key in first.Keys.Union(second.Keys)
               let was = first.TryGetValue(key, out PoolVerdict old) ? old : (PoolVerdict?)null
               let isNow = second.TryGetValue(key, out PoolVerdict now) ? now : (PoolVerdict?)null
               where was != isNow
               orderby isNow ?? PoolVerdict.NotEnoughEvidence
               select new PoolChange(key.Name, key.Kind, was, isNow);
    }

    private static Dictionary<(string Name, string Kind), PoolVerdict> VerdictsOf(AdviceFile file) =>
        file.Pools.GroupBy(static pool => (pool.Name, pool.Kind))
            .ToDictionary(static same => same.Key, static same => same.Min(static pool => pool.Verdict));

    private static IEnumerable<string> Differing(string what, string before, string after) =>
        before == after ? [] : [$"The {what} differ: {Known(before)} before, {Known(after)} now."];

    private static string Known(string text) => text.Length == 0 ? "not known" : text;
}

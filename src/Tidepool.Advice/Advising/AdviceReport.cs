namespace Tidepool.Advice;

/// <summary>Everything that <c>tidepool advise</c> found.</summary>
internal sealed record AdviceReport
{
    private const double MostLost = 0.01;

    /// <summary>The process.</summary>
    public required TargetProcess Target { get; init; }

    /// <summary>The samples and what they cost.</summary>
    public required SamplingResult Sampling { get; init; }

    /// <summary>The share of the process's processor time that sampling was allowed to cost.</summary>
    public double Budget { get; init; }

    /// <summary>All bytes allocated per second.</summary>
    public Interval BytesPerSecond { get; init; }

    /// <summary>The sites with their verdicts, those with most bytes first.</summary>
    public IReadOnlyList<SiteAdvice> Sites { get; init; } = [];

    /// <summary>What pooling at all sites to pool is expected to save; null where there are none.</summary>
    public Saving? Saving => Saving.Sum([.. Sites.Select(static site => site.Saving).OfType<Saving>()]);

    /// <summary>The pools that exist, judged.</summary>
    public PoolReport Pools { get; init; } = new();

    /// <summary>How it was looked at, when it is a native program; null for one of .NET.</summary>
    public NativeWindow? Native { get; init; }

    /// <summary>Collections per second by reason, over the whole window.</summary>
    public IReadOnlyList<(string Reason, double PerSecond)> Collections { get; init; } = [];

    /// <summary>Events that the process could not deliver.</summary>
    public long LostEvents => Sampling.Slices.Sum(static slice => slice.LostEvents);

    /// <summary>The report on what was sampled.</summary>
    /// <param name="target">The process.</param>
    /// <param name="sampling">The samples.</param>
    /// <param name="budget">The share of its processor time that they were allowed to cost.</param>
    /// <param name="limits">What decides the verdicts.</param>
    /// <param name="costs">What pooling saves of the processor time for each object; null where that was not measured.</param>
    public static AdviceReport Of(
        TargetProcess target, SamplingResult sampling, double budget, AdviceLimits limits, IPoolCosts? costs = null)
    {
        CollectorLoad collections = CollectorLoad.Of(sampling.Slices, sampling.Collections);
        return Of(
            target,
            sampling,
            budget,
            site => WithSaving(Advisor.Judge(site, sampling.Slices.Count, limits), sampling.SampledSeconds, collections, costs));
    }

    /// <summary>The report on what was sampled, with verdicts of another kind of program.</summary>
    public static AdviceReport Of(TargetProcess target, SamplingResult sampling, double budget, Func<AllocationSite, SiteAdvice> judge)
    {
        double seconds = sampling.SampledSeconds;
        long lost = sampling.Slices.Sum(static slice => slice.LostEvents);
        int samples = sampling.Slices.Sum(static slice => slice.Samples.Count);
        bool isTorn = IsTorn(lost, samples);
        return new AdviceReport
        {
            Target = target,
            Sampling = sampling,
            Budget = budget,
            BytesPerSecond = seconds > 0
                ? AllocationEstimate.BytesPerSecond(
                    [.. sampling.Slices.Select(static slice => (IReadOnlyList<long>)[.. slice.Samples.Select(static s => s.Size)])],
                    [.. sampling.Slices.Select(static slice => slice.Seconds)])
                : default,
            Sites =
            [
                .. SiteTable.Of(sampling.Slices, sampling.Collections).Select(site => isTorn
                    ? new SiteAdvice
                    {
                        Site = site,
                        Verdict = Verdict.NotEnoughEvidence,
                        Reason = $"{lost} events were lost, more than {Quantity.Percent(MostLost)}: {HowToLoseLess(target.Runtime)}.",
                    }
                    : judge(site)),
            ],
            Collections =
            [
                .. sampling.Collections.Reasons.Select(reason => (reason.Key, reason.Value / sampling.Collections.Seconds))
                    .OrderByDescending(static c => c.Item2),
            ],
        };
    }

    private static SiteAdvice WithSaving(SiteAdvice advice, double seconds, CollectorLoad collections, IPoolCosts? costs) =>
        advice.Verdict == Verdict.Pool ? advice with { Saving = Saving.Of(advice.Site, seconds, collections, costs) } : advice;

    /// <summary>What another run does so that fewer events are lost.</summary>
    /// <param name="runtime">The runtime of the process.</param>
    internal static string HowToLoseLess(string runtime) =>
        runtime == NativeReport.Runtime ? "look for a shorter time (--seconds)" : "sample with a smaller --budget";

    /// <summary>Whether too many events were lost for any verdict.</summary>
    /// <param name="lost">Events that were lost.</param>
    /// <param name="samples">Samples that were delivered.</param>
    internal static bool IsTorn(long lost, long samples) => lost > MostLost * (samples + lost);
}

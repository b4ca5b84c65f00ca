namespace Tidepool.Labs;

/// <summary>
/// A metric of one probe over that of another, each measured once; of several pairs all must hold and the worst is shown.
/// </summary>
internal sealed class MetricRatioRule(
    Bar bar, string metric, params IReadOnlyList<(WorkloadKey Ours, WorkloadKey Other)> pairs)
    : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => pairs.SelectMany(pair => new[] { pair.Ours, pair.Other }).Distinct();

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        if (FindMissing(results, Needs, key => results.Metric(key, metric)) is { } missing)
        {
            return missing;
        }

        var worst = pairs.MaxBy(RatioOf);
        double value = RatioOf(worst);
        string of = pairs.Count > 1 ? $", worst of {pairs.Count}" : "";
        return new(
            Bar,
            value <= Bar.Limit ? VerdictState.Pass : VerdictState.Fail,
            value,
            $"{metric}{of}: {worst.Ours.Subject}, {worst.Ours.Cell.Describe()} / {worst.Other.Subject}, {worst.Other.Cell.Describe()}");

        // Nothing is none of nothing: where neither fails, ours fails no more often.
        double RatioOf((WorkloadKey Ours, WorkloadKey Other) pair) =>
            results.Metric(pair.Ours, metric)!.Value is var ours and not 0 ? ours / results.Metric(pair.Other, metric)!.Value : 0;
    }
}

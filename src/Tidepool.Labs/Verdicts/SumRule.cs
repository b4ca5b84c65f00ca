namespace Tidepool.Labs;

/// <summary>A metric of several probes, added up.</summary>
internal sealed class SumRule(Bar bar, string metric, params IReadOnlyList<WorkloadKey> keys) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => keys;

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        if (FindMissing(results, keys, key => results.Metric(key, metric)) is { } missing)
        {
            return missing;
        }

        string[] counted = [.. keys.Where(key => results.Metric(key, metric) > 0).Select(key => key.Cell.Describe())];
        double sum = keys.Sum(key => results.Metric(key, metric)!.Value);
        string which = counted.Length > 0 ? $": {string.Join(", ", counted)}" : "";
        return new(
            Bar, sum <= Bar.Limit ? VerdictState.Pass : VerdictState.Fail, sum, $"{Text(sum)} in {keys.Count}{which}");
    }
}

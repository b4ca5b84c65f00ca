namespace Tidepool.Labs;

/// <summary>Bytes allocated per operation by ours, less those of another; of several pairs all must hold and the worst is shown.</summary>
internal sealed class BytesNotAboveRule(Bar bar, params IReadOnlyList<(WorkloadKey Ours, WorkloadKey Other)> pairs) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => pairs.SelectMany(pair => new[] { pair.Ours, pair.Other }).Distinct();

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        if (FindMissing(results, Needs, key => results.Has(key) ? results.BytesPerOperation(key) : null) is { } missing)
        {
            return missing;
        }

        var worst = pairs.MaxBy(Above);
        double value = Math.Max(0, Above(worst));
        string ours = $"{Text(results.BytesPerOperation(worst.Ours))} B of {worst.Ours.Subject}";
        string other = $"{Text(results.BytesPerOperation(worst.Other))} B of {worst.Other.Subject}";
        return new(
            Bar,
            value <= Bar.Limit ? VerdictState.Pass : VerdictState.Fail,
            value,
            $"{ours}, {other}, {worst.Ours.Cell.Describe()}; worst of {pairs.Count}");

        double Above((WorkloadKey Ours, WorkloadKey Other) pair) =>
            results.BytesPerOperation(pair.Ours) - results.BytesPerOperation(pair.Other);
    }
}

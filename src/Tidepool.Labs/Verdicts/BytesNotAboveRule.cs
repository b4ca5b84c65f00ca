namespace Tidepool.Labs;

/// <summary>
/// Bytes allocated per operation by ours, less those of another, each by its best batch; of several pairs all must hold and the worst is
/// shown. For operations whose batches allocate more now and then, for reasons that have nothing to do with the subject.
/// </summary>
internal sealed class BytesNotAboveRule(Bar bar, params IReadOnlyList<(WorkloadKey Ours, WorkloadKey Other)> pairs) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => pairs.SelectMany(pair => new[] { pair.Ours, pair.Other }).Distinct();

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        if (FindMissing(results, Needs, key => results.Samples(key)?.LeastBytesPerOperation) is { } missing)
        {
            return missing;
        }

        var worst = pairs.MaxBy(Above);
        double value = Math.Max(0, Above(worst));
        return new(
            Bar,
            value <= Bar.Limit ? VerdictState.Pass : VerdictState.Fail,
            value,
            $"{Named(worst.Ours)}, {Named(worst.Other)}, {worst.Ours.Cell.Describe()}; worst of {pairs.Count}");

        double Least(WorkloadKey key) => results.Samples(key)!.LeastBytesPerOperation;
        double Above((WorkloadKey Ours, WorkloadKey Other) pair) => Least(pair.Ours) - Least(pair.Other);
        string Named(WorkloadKey key) => $"{Text(Least(key))} B of {key.Subject}";
    }
}

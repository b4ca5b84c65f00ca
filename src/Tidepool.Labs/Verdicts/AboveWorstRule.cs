namespace Tidepool.Labs;

/// <summary>Our metric minus the highest of several rivals in each cell, each measured once; shows the worst cell.</summary>
internal sealed class AboveWorstRule(
    Bar bar,
    string metric,
    params IReadOnlyList<(WorkloadKey Ours, IReadOnlyList<WorkloadKey> Rivals)> cells) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => cells.SelectMany(cell => cell.Rivals.Prepend(cell.Ours));

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        if (FindMissing(results, Needs, key => results.Metric(key, metric)) is { } missing)
        {
            return missing;
        }

        var worst = cells.MaxBy(Above);
        double value = Above(worst);
        var state = value <= Bar.Limit ? VerdictState.Pass : VerdictState.Fail;
        string where = $"{worst.Ours.Cell.Describe()}; worst of {cells.Count}";
        return new(Bar, state, value, $"{metric} {Named(worst.Ours)}, {Named(WorstOf(worst.Rivals))}, {where}");

        string Named(WorkloadKey key) => $"{Text(Of(key))} of {key.Subject}";
        double Of(WorkloadKey key) => results.Metric(key, metric)!.Value;
        WorkloadKey WorstOf(IReadOnlyList<WorkloadKey> rivals) => rivals.MaxBy(Of)!;
        double Above((WorkloadKey Ours, IReadOnlyList<WorkloadKey> Rivals) cell) => Of(cell.Ours) - Of(WorstOf(cell.Rivals));
    }
}

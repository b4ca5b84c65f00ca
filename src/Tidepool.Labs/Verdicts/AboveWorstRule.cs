namespace Tidepool.Labs;

/// <summary>A metric of ours less the highest of several rivals, cell by cell, each measured once; the worst cell is shown.</summary>
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
        foreach (var key in Needs)
        {
            if (results.Metric(key, metric) is null)
            {
                return NotRun(results, key);
            }
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

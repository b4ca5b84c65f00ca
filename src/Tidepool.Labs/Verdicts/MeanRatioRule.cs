namespace Tidepool.Labs;

/// <summary>
/// The geometric mean, over groups of cells, of the time of one subject against each of several others; all must hold and
/// the worst is shown. A missing rival leaves the bar without judgement.
/// </summary>
internal sealed class MeanRatioRule(Bar bar, IReadOnlyList<CellGroup> groups, string ours, IReadOnlyList<string> others) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => others.SelectMany(KeysWith).Distinct();

    /// <inheritdoc/>
    public override IEnumerable<Comparison> Comparisons => others.Select(other => Comparison.OfMeans(groups, ours, other));

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results)
    {
        var judged = new List<(VerdictState State, RatioEstimate Ratio, string Other)>();
        foreach (string other in others)
        {
            if (results.MeanRatio(groups, ours, other) is not { } ratio)
            {
                return NotRun(results, KeysWith(other).First(key => !results.Has(key)));
            }

            judged.Add((Compare(ratio.Low, ratio.High, Bar.Limit), ratio, other));
        }

        var worst = judged.MaxBy(one => one.Ratio.Value);
        string of = judged.Count > 1 ? $", worst of {judged.Count}" : "";
        return new(
            Bar,
            Combine([.. judged.Select(one => one.State)]),
            worst.Ratio.Value,
            $"{Text(worst.Ratio.Low)} .. {Text(worst.Ratio.High)}{of}: {Comparison.OfMeans(groups, ours, worst.Other).Text}");
    }

    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Undecided(LabResults results) =>
        from other in others
        let ratio = results.MeanRatio(groups, ours, other)
        where ratio is { } known && Compare(known.Low, known.High, Bar.Limit) == VerdictState.Unclear
        from key in KeysWith(other)
        select key;

    private IEnumerable<WorkloadKey> KeysWith(string other) =>
        from cell in groups.SelectMany(cells => cells.Cells)
        from subject in (string[])[ours, other]
        select new WorkloadKey(cell, subject);
}

/// <summary>A bar that a run of this kind does not judge.</summary>
internal sealed class OmittedRule(Bar bar, string reason) : VerdictRule(bar)
{
    /// <inheritdoc/>
    public override IEnumerable<WorkloadKey> Needs => [];

    /// <inheritdoc/>
    public override Verdict Judge(LabResults results) => new(Bar, VerdictState.NotRun, null, reason);
}

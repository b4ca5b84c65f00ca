namespace Tidepool.Labs;

/// <summary>One side of a comparison: a subject in one cell, or in groups of cells that have the same weight each.</summary>
internal sealed record ComparedSide(string Subject, IReadOnlyList<CellGroup> Groups)
{
    /// <summary>The time that tables show, the geometric mean of those of several cells; null when one is missing.</summary>
    public double? TimeIn(IReadOnlyDictionary<WorkloadKey, ReportRow> rows)
    {
        double sum = 0;
        foreach (var group in Groups)
        {
            foreach (var cell in group.Cells)
            {
                if (rows.GetValueOrDefault(new(cell, Subject))?.TimeNs is not { } time)
                {
                    return null;
                }

                sum += Math.Log(time) / group.Cells.Count;
            }
        }

        return Math.Exp(sum / Groups.Count);
    }
}

/// <summary>Two subjects whose times a bar compares.</summary>
/// <param name="Ours">The subject of ours.</param>
/// <param name="Other">What it is compared with.</param>
/// <param name="Where">The cells, as a reader says them.</param>
/// <param name="Text">What the detail of a verdict says of both.</param>
internal sealed record Comparison(ComparedSide Ours, ComparedSide Other, string Where, string Text)
{
    /// <summary>Two workloads, in one cell or in two.</summary>
    public static Comparison Of(WorkloadKey ours, WorkloadKey other)
    {
        string here = ours.Cell.Describe();
        string there = other.Cell.Describe();
        bool isOneCell = ours.Cell.Equals(other.Cell);
        return new(
            new(ours.Subject, [new(here, [ours.Cell])]),
            new(other.Subject, [new(there, [other.Cell])]),
            isOneCell ? here : $"{here} / {there}",
            isOneCell ? $"{ours.Subject} / {other.Subject}, {here}" : $"{ours.Subject}, {here} / {other.Subject}, {there}");
    }

    /// <summary>Two subjects in the same groups of cells.</summary>
    public static Comparison OfMeans(IReadOnlyList<CellGroup> groups, string ours, string other)
    {
        int cells = groups.Sum(group => group.Cells.Count);
        string where = groups.Count > 1 ? $"{groups.Count} groups" : cells == 1 ? groups[0].Cells[0].Describe() : $"{cells} cells";
        return new(new(ours, groups), new(other, groups), where, $"{ours} / {other}, {where}");
    }
}

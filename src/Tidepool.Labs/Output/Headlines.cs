namespace Tidepool.Labs;

/// <summary>One line of a short table: the usual choice and ours in one cell.</summary>
internal sealed record Headline(string Section, string Cell, ReportRow Usual, ReportRow Ours)
{
    /// <summary>Where it was measured.</summary>
    public string What => $"{Section}: {Cell}";
}

/// <summary>The lines of short tables.</summary>
internal static class Headlines
{
    /// <summary>A line for each cell of a lab in which both were measured.</summary>
    public static IEnumerable<Headline> Of(ILab lab, LabPlan plan, ReportLab results) =>
        from section in ReportBuilder.Group(plan, results.Rows)
        where section.Section.IsHeadline
        from cell in section.Cells
        let usual = cell.FirstOrDefault(row => row.Subject == row.Baseline && !row.IsEmpty)
        let ours = cell.FirstOrDefault(row => row.Subject == lab.Headline && row.Ratio is not null)
        where usual is not null && ours is not null
        select new Headline(section.Section.Title, section.Label(cell.Key), usual, ours);
}

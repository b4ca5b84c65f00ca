namespace Tidepool.Labs;

/// <summary>Answers the question of a lab with the numbers of this machine.</summary>
internal static class Answers
{
    /// <summary>What the lab has found for the pool that short tables show.</summary>
    public static LabAnswer Of(ILab lab, LabPlan plan, ReportLab results)
    {
        IReadOnlyList<ReportSection> sections = ReportBuilder.Group(plan, results.Rows);
        AnswerComparison[] compared = [.. Compare(lab, sections.Where(section => section.Section.IsHeadline))];
        compared = compared.Length > 0 ? compared : [.. Compare(lab, sections)];
        if (compared.Length > 0)
        {
            IGrouping<string, AnswerComparison>[] groups =
                [.. compared.GroupBy(comparison => comparison.Other).OrderBy(group => lab.Without.Contains(group.Key) ? 0 : 1)];
            AnswerComparison[] deciding = [.. compared.Where(comparison => lab.Without.Contains(comparison.Other))];
            return new(LabAnswer.WordOf(deciding.Length > 0 ? deciding : compared), lab.Headline, groups);
        }

        if (results.Rows.All(row => row.IsEmpty))
        {
            string reason = results.Rows.Select(row => row.Dropped).FirstOrDefault() ?? "the run was stopped before it";
            return new(AnswerWord.NotMeasured, lab.Headline, []) { Note = $"{char.ToUpperInvariant(reason[0])}{reason[1..]}." };
        }

        return new(AnswerWord.Counted, lab.Headline, []) { Note = Counts(results) };
    }

    /// <summary>The exact counts that are not what they must be: they fail a run on every machine.</summary>
    public static IEnumerable<Verdict> WrongCounts(ReportLab lab) =>
        lab.Verdicts.Where(verdict => verdict is { State: VerdictState.Fail, Bar.Kind: BarKind.Count });

    /// <summary>The pool beside the usual choice and beside what pools nothing, in each cell that has both.</summary>
    private static IEnumerable<AnswerComparison> Compare(ILab lab, IEnumerable<ReportSection> sections) =>
        from section in sections
        where section.Section.Baseline is not null
        from cell in section.Cells
        let pool = cell.FirstOrDefault(row => row.Subject == lab.Headline)
        where pool is not null
        from other in cell
        where other.Subject != lab.Headline && (other.Subject == other.Baseline || lab.Without.Contains(other.Subject))
        let ratio = BesideBaseline(pool)?.Over(BesideBaseline(other))
        where ratio is not null
        select new AnswerComparison(section.Section.Title, section.Label(cell.Key), other.Subject, ratio.Value);

    private static RatioEstimate? BesideBaseline(ReportRow row) =>
        row.IsEmpty ? null : row.Subject == row.Baseline ? new RatioEstimate(1, 1, 1) : row.Ratio;

    private static string Counts(ReportLab lab)
    {
        Verdict[] counts =
            [.. lab.Verdicts.Where(verdict => verdict is { Bar.Kind: BarKind.Count, State: VerdictState.Pass or VerdictState.Fail })];
        return counts.Length == 0
            ? "Nothing to compare here: the table has the numbers."
            : $"Exact counts that are as they must be: {counts.Count(verdict => verdict.State == VerdictState.Pass)} of {counts.Length}.";
    }
}

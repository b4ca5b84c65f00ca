namespace Tidepool.Labs;

/// <summary>Answers the question of a lab in one sentence, with the numbers of this machine.</summary>
internal static class Answers
{
    /// <summary>What the lab has found for the subject of ours that short tables show.</summary>
    public static string Of(LabOutcome outcome, ReportLab lab)
    {
        HashSet<WorkloadKey> derived = [.. outcome.Plan.Derived.Select(row => row.Key)];
        ReportRow[] all = [.. lab.Rows.Where(row => row.Subject == outcome.Lab.Headline && row is { Ratio: not null, Baseline: not null })];
        ReportRow[] measured = [.. all.Where(row => !derived.Contains(row.Key))];
        ReportRow[] compared = measured.Length > 0 ? measured : all;
        if (compared.Length > 0)
        {
            return $"{Span(outcome, lab, compared)}{Outcomes(compared)}.";
        }

        string? reason = lab.Rows.Select(row => row.Dropped).FirstOrDefault();
        return lab.Rows.All(row => row.IsEmpty) ? $"not measured: {reason ?? "the run was stopped before it"}." : Counts(lab);
    }

    /// <summary>The exact counts that are not what they must be: they fail a run on every machine.</summary>
    public static IEnumerable<Verdict> WrongCounts(ReportLab lab) =>
        lab.Verdicts.Where(verdict => verdict is { State: VerdictState.Fail, Bar.Kind: BarKind.Count });

    /// <summary>From the best to the worst ratio to the usual choice: of the cells of short tables where there are such.</summary>
    private static string Span(LabOutcome outcome, ReportLab lab, ReportRow[] compared)
    {
        ReportRow[] shown = [.. Headlines.Of(outcome.Lab, outcome.Plan, lab).Select(line => line.Ours)];
        shown = shown.Length > 0 ? shown : compared;
        string usual = shown[0].Baseline!;
        double[] ratios = [.. shown.Where(row => row.Baseline == usual).Select(row => row.Ratio!.Value.Value).Order()];
        string best = NumberText.Factor(ratios[0]);
        string worst = NumberText.Factor(ratios[^1]);
        return $"{outcome.Lab.Headline} takes {(best == worst ? best : $"{best} to {worst}")} of the time of {usual}";
    }

    private static string Outcomes(ReportRow[] compared)
    {
        (RatioWord Word, string Text)[] words =
        [
            (RatioWord.Faster, "faster"), (RatioWord.Slower, "slower"), (RatioWord.NoDifference, "no difference"),
            (RatioWord.Undecided, "undecided"),
        ];
        var found = words.Select(word => (word.Text, Count: compared.Count(row => row.Ratio!.Value.Word == word.Word)))
            .Where(word => word.Count > 0)
            .ToArray();
        return compared.Length == 1
            ? $": {found[0].Text}"
            : $": {found[0].Text} in {found[0].Count} of {compared.Length} comparisons"
                + string.Concat(found.Skip(1).Select(word => $", {word.Text} in {word.Count}"));
    }

    private static string Counts(ReportLab lab)
    {
        Verdict[] counts =
            [.. lab.Verdicts.Where(verdict => verdict is { Bar.Kind: BarKind.Count, State: VerdictState.Pass or VerdictState.Fail })];
        return counts.Length == 0
            ? "nothing to compare here: the table has the numbers."
            : $"exact counts that are as they must be: {counts.Count(verdict => verdict.State == VerdictState.Pass)} of {counts.Length}.";
    }
}

using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>The goals of all labs that committed results miss, as one table.</summary>
internal static class MissedGoals
{
    /// <summary>The verdicts of a machine, in the order of the labs.</summary>
    public static IEnumerable<(ILab Lab, Verdict Verdict)> VerdictsOf(MachineResults machine) =>
        from lab in LabCatalog.All
        where machine.Labs.ContainsKey(lab.Name)
        from verdict in machine.Labs[lab.Name].Lab.Verdicts
        select (lab, verdict);

    /// <summary>For each machine how many goals are met, what is missed and by how much, and what is undecided.</summary>
    public static string Table(IReadOnlyList<MachineResults> machines)
    {
        var text = new StringBuilder();
        foreach (var machine in machines)
        {
            text.Append(text.Length > 0 ? "\n" : "").Append(DocTables.Describe(machine, machine.Labs.Values.Select(lab => lab.File)));
            Write(text, machine);
        }

        return text.Length > 0 ? text.ToString() : DocTables.NoResults;
    }

    private static void Write(StringBuilder text, MachineResults machine)
    {
        var all = VerdictsOf(machine).ToArray();
        var verdicts = Array.ConvertAll(all, static one => one.Verdict);
        var goals = Array.FindAll(verdicts, static verdict => verdict.Bar.Kind == BarKind.Ratio);
        int met = goals.Count(static goal => goal.State == VerdictState.Pass);
        text.Append(
            CultureInfo.InvariantCulture,
            $"\n**{met} of {goals.Length} goals are met** ({ConsoleReport.Summarize(verdicts)}).\n");
        if (Array.Exists(verdicts, static verdict => verdict.State == VerdictState.Fail))
        {
            text.Append('\n');
            DocTables.Head(text, "", "goal", "what must hold", "where it is worst", "rival", "ours", ">ratio", ">95 % interval", ">limit");
            foreach (var lab in all.Where(static one => one.Verdict.State == VerdictState.Fail).GroupBy(static one => one.Lab))
            {
                var rows = machine.Labs[lab.Key.Name].Lab.Rows.ToDictionary(static row => row.Key);
                var rules = DocTables.PlanOf(lab.Key).Rules;
                foreach (var (_, verdict) in lab)
                {
                    // Another rule may compare by now what this one did when the results were made.
                    var ownFirst = rules.OrderByDescending(rule => rule.Bar.Id == verdict.Bar.Id);
                    var comparisons = ownFirst.SelectMany(static rule => rule.Comparisons);
                    WriteRow(text, lab.Key, verdict, comparisons, rows);
                }
            }
        }

        var undecided = goals.Where(static goal => goal.State == VerdictState.Unclear).Select(static goal => $"`{goal.Bar.Id}`").ToArray();
        if (undecided.Length > 0)
        {
            text.Append("\nUndecided: ").AppendJoin(", ", undecided).Append(".\n");
        }
    }

    private static void WriteRow(
        StringBuilder text,
        ILab lab,
        Verdict verdict,
        IEnumerable<Comparison> comparisons,
        IReadOnlyDictionary<WorkloadKey, ReportRow> rows)
    {
        int colon = verdict.Detail.IndexOf(": ", StringComparison.Ordinal);
        string head = colon < 0 ? "" : verdict.Detail[..colon];
        string named = colon < 0 ? verdict.Detail : verdict.Detail[(colon + 2)..];
        var compared = comparisons.FirstOrDefault(one => one.Text == named);
        double? rival = compared?.Other.TimeIn(rows); // times the ratio it is ours, so that no row contradicts itself
        DocTables.Row(
            text,
            verdict.Word,
            $"[`{verdict.Bar.Id}`]({lab.Name}.md#goals)",
            DocTables.Escape(verdict.Bar.Name),
            DocTables.Escape(compared?.Where ?? named),
            Side(compared?.Other, rival),
            Side(compared?.Ours, rival * verdict.Value),
            NumberText.Value(verdict.Bar, verdict.Value),
            head.Contains(" .. ", StringComparison.Ordinal) ? head.Split(',')[0] : NumberText.None,
            NumberText.Value(verdict.Bar, verdict.Bar.Limit));
    }

    private static string Side(ComparedSide? side, double? time) =>
        side is null ? NumberText.None : $"{DocTables.Code(side.Subject)}: {NumberText.Time(time)}";
}

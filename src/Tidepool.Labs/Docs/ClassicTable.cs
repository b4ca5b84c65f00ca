using System.Globalization;
using System.Text;

namespace Tidepool.Labs;

/// <summary>A published experiment as a table, with today's run beside it.</summary>
internal static class ClassicTable
{
    /// <summary>Writes the table; without a run of today those columns say so.</summary>
    public static void Write(StringBuilder text, ClassicExperiment experiment, ClassicMatch match, ReportLab? today)
    {
        var rows = today?.Rows.ToDictionary(row => row.Key) ?? [];
        if (match.Cell.Count == 0)
        {
            WriteSubjects(text, experiment, match, rows);
        }
        else
        {
            WriteCells(text, experiment, match, rows);
        }
    }

    /// <summary>One cell: a line for each subject.</summary>
    private static void WriteSubjects(
        StringBuilder text, ClassicExperiment experiment, ClassicMatch match, Dictionary<WorkloadKey, ReportRow> today)
    {
        double first = Published(experiment.Rows[0], match);
        DocTables.Head(text, "subject", ">published", ">allocated", ">ratio", "today's row", ">today", ">allocated", ">ratio");
        foreach (var row in experiment.Rows)
        {
            var ours = today.GetValueOrDefault(match.Match(row));
            DocTables.Row(
                text,
                DocTables.Code(row["subject"]),
                NumberText.Time(Published(row, match)),
                NumberText.Bytes(double.Parse(row["allocated_B"], CultureInfo.InvariantCulture)),
                NumberText.Factor(Published(row, match) / first),
                DocTables.Code(match.Match(row).Subject),
                NumberText.Time(ours?.MedianNs),
                NumberText.Bytes(ours?.BytesPerOp),
                Ratio(ours));
        }
    }

    /// <summary>Many cells: a line for each; of the first subject the time, of the others the ratio to it.</summary>
    private static void WriteCells(
        StringBuilder text, ClassicExperiment experiment, ClassicMatch match, Dictionary<WorkloadKey, ReportRow> today)
    {
        string[] subjects = [.. experiment.Rows.Select(row => row["subject"]).Distinct()];
        DocTables.Head(
            text,
            [
                .. match.Cell,
                $">{DocTables.Code(subjects[0])} published", ">today",
                .. subjects.Skip(1).SelectMany(subject => new[] { $">{DocTables.Code(subject)} published", ">today" }),
                .. match.Ours.Select(subject => $">{DocTables.Code(subject)} today"),
            ]);
        foreach (var cell in experiment.Rows.GroupBy(row => string.Join(' ', match.Cell.Select(column => row[column]))))
        {
            var published = cell.ToDictionary(row => row["subject"]);
            var baseline = published[subjects[0]];
            var point = match.Match(baseline).Cell;
            DocTables.Row(
                text,
                [
                    .. match.Cell.Select(column => baseline[column]),
                    NumberText.Time(Published(baseline, match)),
                    NumberText.Time(today.GetValueOrDefault(match.Match(baseline))?.MedianNs),
                    .. subjects.Skip(1).SelectMany(subject => new[]
                    {
                        $"{NumberText.Time(Published(published[subject], match))} ({published[subject]["ratio"]})",
                        Ratio(today.GetValueOrDefault(match.Match(published[subject]))),
                    }),
                    .. match.Ours.Select(subject => Ratio(OursIn(point, subject, today))),
                ]);
        }
    }

    private static ReportRow? OursIn(Cell point, string subject, Dictionary<WorkloadKey, ReportRow> today) =>
        today.GetValueOrDefault(new WorkloadKey(point, subject));

    private static double Published(IReadOnlyDictionary<string, string> row, ClassicMatch match) =>
        double.Parse(row[match.Time], CultureInfo.InvariantCulture);

    private static string Ratio(ReportRow? row) =>
        row is not null && row.Subject == row.Baseline ? "1.00" : NumberText.Ratio(row?.Ratio);
}

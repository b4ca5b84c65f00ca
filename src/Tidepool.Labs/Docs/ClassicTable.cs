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
        if (match.Rival is not null)
        {
            WritePairs(text, experiment, match, rows);
        }
        else if (match.Cell.Count == 0)
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
                NumberText.Bytes(double.Parse(row[match.Allocated], CultureInfo.InvariantCulture) * match.AllocatedScale),
                NumberText.Factor(Published(row, match) / first),
                DocTables.Code(match.Match(row).Subject),
                NumberText.Time(ours?.TimeNs),
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
                    NumberText.Time(today.GetValueOrDefault(match.Match(baseline))?.TimeNs),
                    .. subjects.Skip(1).SelectMany(subject => new[]
                    {
                        $"{NumberText.Time(Published(published[subject], match))} ({published[subject]["ratio"]})",
                        Ratio(today.GetValueOrDefault(match.Match(published[subject]))),
                    }),
                    .. match.Ours.Select(subject => Ratio(OursIn(point, subject, today))),
                ]);
        }
    }

    /// <summary>Rows that have the times of two subjects; today's times are of one block, the published of an unknown number.</summary>
    private static void WritePairs(
        StringBuilder text, ClassicExperiment experiment, ClassicMatch match, Dictionary<WorkloadKey, ReportRow> today)
    {
        var (rivalTime, rival) = match.Rival!.Value;
        string pool = match.Match(experiment.Rows[0]).Subject;
        DocTables.Head(
            text,
            [
                .. match.Cell.Select(column => column[..column.LastIndexOf('_')]),
                $">{rival} published", $">{pool} published", ">ratio", $">{rival} today", $">{pool} today", ">ratio",
                .. match.Ours.SelectMany(subject => new[] { $">{subject} today", ">ratio" }),
            ]);
        foreach (var row in experiment.Rows)
        {
            var key = match.Match(row);
            double? baseline = today.GetValueOrDefault(key with { Subject = rival })?.TimeNs;
            string[] Today(string subject) => today.GetValueOrDefault(key with { Subject = subject })?.TimeNs is { } time
                ? [NumberText.Time(time), baseline is { } known ? NumberText.Factor(time / known) : NumberText.None]
                : [NumberText.None, NumberText.None];
            DocTables.Row(
                text,
                [
                    .. match.Cell.Select(column => row[column]),
                    NumberText.Time(Nanoseconds(row, rivalTime)),
                    NumberText.Time(Nanoseconds(row, match.Time)),
                    NumberText.Factor(Nanoseconds(row, match.Time) / Nanoseconds(row, rivalTime)),
                    NumberText.Time(baseline),
                    .. Today(key.Subject),
                    .. match.Ours.SelectMany(Today),
                ]);
        }
    }

    private static double Nanoseconds(IReadOnlyDictionary<string, string> row, string column) =>
        double.Parse(row[column], CultureInfo.InvariantCulture) * column[(column.LastIndexOf('_') + 1)..] switch
        {
            "ms" => 1e6,
            "us" => 1e3,
            _ => 1,
        };

    private static ReportRow? OursIn(Cell point, string subject, Dictionary<WorkloadKey, ReportRow> today) =>
        today.GetValueOrDefault(new WorkloadKey(point, subject));

    private static double Published(IReadOnlyDictionary<string, string> row, ClassicMatch match) =>
        Nanoseconds(row, match.Time) / match.Operations;

    private static string Ratio(ReportRow? row) =>
        row is not null && row.Subject == row.Baseline ? "1.00" : NumberText.Ratio(row?.Ratio);
}

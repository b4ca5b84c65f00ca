using System.Globalization;

namespace Tidepool.Advice;

/// <summary>What a pool of Tidepool has proved of the code that uses it. Pure.</summary>
internal static class MisuseJudge
{
    private const int MostReports = 5;

    /// <summary>One finding for each kind of misuse that the pool has counted since it was made.</summary>
    public static IEnumerable<PoolFinding> Judge(PoolRecord record)
    {
        foreach (string word in record.Last.MisuseKinds.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            int split = word.IndexOf('=', StringComparison.Ordinal);
            if (split > 0 && long.TryParse(word.AsSpan(split + 1), NumberStyles.None, CultureInfo.InvariantCulture, out long count))
            {
                yield return Judge(record, word[..split], count);
            }
        }
    }

    private static PoolFinding Judge(PoolRecord record, string kind, long count)
    {
        bool isLeak = kind is nameof(MisuseKind.NeverReturned) or "Reclaimed" or "Overdue";
        string[] reports =
        [
            .. record.Reports.Where(notice => notice.Text.StartsWith(kind, StringComparison.Ordinal)).Take(MostReports).Select(Text),
        ];
        return new PoolFinding
        {
            Verdict = kind is "Overdue" or nameof(MisuseKind.StaleDispose) ? PoolVerdict.Suspect : PoolVerdict.Fault,
            Subject = isLeak ? "leak" : "misuse",
            Reason = $"since the pool was made, {Describe(kind, count)}.",
            Reports = reports,
            After = reports.Length > 0 ? null : Hint(kind),
        };
    }

    private static string Text(PoolNotice notice) => notice.Count == 1 ? notice.Text : $"{notice.Count} times here: {notice.Text}";

    private static string Describe(string kind, long count) => kind switch
    {
        nameof(MisuseKind.DoubleReturn) => $"{Counted(count, "rental was", "rentals were")} returned twice: proved by the pool",
        nameof(MisuseKind.RacingReturn) =>
            $"{Counted(count, "rental was", "rentals were")} returned by two threads at once: proved by the pool",
        nameof(MisuseKind.ForeignReturn) => $"{Counted(count, "item was", "items were")} returned that the pool had not handed out",
        nameof(MisuseKind.WrongLength) => $"{Counted(count, "array was", "arrays were")} returned whose length no class of the pool has",
        nameof(MisuseKind.UseAfterReturn) => $"{Counted(count, "lease was", "leases were")} used after the return",
        nameof(MisuseKind.WriteAfterReturn) => $"{Counted(count, "buffer was", "buffers were")} written to after the return",
        nameof(MisuseKind.NeverReturned) => $"{Counted(count, "watched rental was", "watched rentals were")} dropped without a return",
        nameof(MisuseKind.StaleDispose) => $"{Counted(count, "lease was", "leases were")} disposed again after the item had another renter",
        "Reclaimed" => $"{Counted(count, "lease was", "leases were")} dropped, which the collector found",
        "Overdue" => $"{Counted(count, "lease was", "leases were")} out for longer than LeakThreshold",
        _ => $"{kind} was counted {Counted(count, "time", "times")}",
    };

    private static string Counted(long count, string one, string many) => $"{count} {(count == 1 ? one : many)}";

    /// <summary>The option that makes the next report say where it happened.</summary>
    private static string Hint(string kind) => kind switch
    {
        nameof(MisuseKind.NeverReturned) => "LeakSampling = 1,   // each report then says where the rental was made",
        "Reclaimed" or "Overdue" => "LeakCapture = LeakCapture.CallSite,   // each report then says where the rental was made",
        _ => "Checks = PoolChecks.Full, CaptureStacks = true,   // the exception then says where the first return was",
    };
}

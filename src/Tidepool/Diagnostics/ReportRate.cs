namespace Tidepool;

/// <summary>Keeps reports from flooding: of each kind the first ten of a pool, then at most one a minute.</summary>
internal sealed class ReportRate
{
    internal const int First = 10;
    internal const long Interval = 60_000;

    private const int Kinds = MisuseCounts.Kinds + (int)ResourceReportKind.Cleared + 1;

    private readonly Lock _gate = new();
    private Reported[]? _kinds;

    /// <summary>Whether a report may go out now.</summary>
    /// <param name="kind">Its kind.</param>
    /// <param name="now">The time in milliseconds.</param>
    /// <param name="leftOut">How many of the kind were held back since the last one that went out.</param>
    internal bool Admits(MisuseKind kind, long now, out long leftOut) => Admits((int)kind, now, out leftOut);

    /// <summary>Whether a report may go out now.</summary>
    /// <param name="kind">Its kind.</param>
    /// <param name="now">The time in milliseconds.</param>
    /// <param name="leftOut">How many of the kind were held back since the last one that went out.</param>
    internal bool Admits(ResourceReportKind kind, long now, out long leftOut) =>
        Admits(MisuseCounts.Kinds + (int)kind, now, out leftOut);

    private bool Admits(int kind, long now, out long leftOut)
    {
        lock (_gate)
        {
            ref Reported told = ref (_kinds ??= new Reported[Kinds])[kind];
            leftOut = told.LeftOut;
            if (told.Count >= First && now - told.Last < Interval)
            {
                told.LeftOut++;
                return false;
            }

            told = new Reported { Count = Math.Min(told.Count + 1, First), Last = now };
            return true;
        }
    }

    private struct Reported
    {
        internal int Count;
        internal long Last;
        internal long LeftOut;
    }
}

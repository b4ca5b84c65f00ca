using System.Globalization;
using Spectre.Console;

namespace Tidepool.Advice;

/// <summary>Prints what was found of pools, below the sites.</summary>
internal static class PoolText
{
    private const int MostPools = 8;
    private const int MostReports = 5;
    private const int MostReportLines = 2; // what it is, and the innermost frame

    /// <summary>Prints the pools, those that need a change in full, others in two lines each, and the names of unused ones.</summary>
    public static void Print(IAnsiConsole console, PoolReport report)
    {
        if (report.Traffic is { } traffic)
        {
            console.WriteLine();
            console.WriteLine(CostOf(traffic));
        }

        IReadOnlyList<PoolAdvice> unused = report.Unused;
        IReadOnlyList<PoolAdvice> others = report.Others;
        foreach (PoolAdvice pool in others.Take(MostPools))
        {
            console.WriteLine();
            Print(console, pool);
        }

        if (others.Count > MostPools)
        {
            console.WriteLine();
            console.WriteLine($"{others.Count - MostPools} more pools; --json FILE has all of them.");
        }

        if (unused.Count > 0)
        {
            console.WriteLine();
            foreach (string line in Paragraph.Lines(Unused(unused), console.Profile.Width, "", "  "))
            {
                console.WriteLine(line);
            }
        }
    }

    /// <summary>Names the pools of which there is no more to say.</summary>
    internal static string Unused(IReadOnlyCollection<PoolAdvice> pools)
    {
        string names = string.Join(", ", pools.Take(MostPools).Select(static pool => $"{pool.Name} ({pool.Kind})"));
        string more = pools.Count > MostPools ? $" and {pools.Count - MostPools} more" : "";
        return $"no rental in the window: {names}{more}";
    }

    /// <summary>What found no room, as the end of a line; nothing where all was kept.</summary>
    internal static string Dropped(PoolAdvice pool) =>
        pool.DroppedPerSecond is > 0 and var dropped ? $", {Quantity.Count(dropped)} dropped/s" : "";

    private static string CostOf(TrafficWindow traffic)
    {
        string seconds = traffic.Seconds.ToString("0.0", CultureInfo.InvariantCulture);
        string cost = traffic is { ProcessorsBefore: { } before, ProcessorsWithin: { } within }
            ? string.Create(CultureInfo.InvariantCulture, $"processors busy {before:0.00} before, {within:0.00} within")
            : "its cost is not known";
        string lost = traffic.LostEvents > 0 ? $"; {traffic.LostEvents} events were lost, so no double return is suspected" : "";
        return $"each rental of pools was listened to for {seconds} s: {cost}{lost}";
    }

    private static void Print(IAnsiConsole console, PoolAdvice pool)
    {
        foreach (PoolFinding finding in Shown(pool))
        {
            (string verdict, Color color) = finding.Verdict switch
            {
                PoolVerdict.Fault => ("FAULT", Color.Red),
                PoolVerdict.Suspect => ("SUSPECT", Color.Orange1),
                PoolVerdict.Change => ("CHANGE", Color.Green),
                PoolVerdict.Keep => ("KEEP", Color.Blue),
                _ => ("NOT ENOUGH EVIDENCE", Color.Yellow),
            };
            console.Write(new Text(verdict, new Style(color, decoration: Decoration.Bold)));
            console.WriteLine($"  {pool.Name} ({pool.Kind}), {finding.Subject}{RatesOf(pool, finding)}");
            Paragraph.Write(console, finding.Reason);
            foreach (string line in finding.Reports.Take(MostReports).SelectMany(static text => text.Split('\n').Take(MostReportLines)))
            {
                console.Write(new Text($"    {line.Trim()}\n", new Style(Color.Grey)));
            }

            PrintCode(console, finding);
        }

        if (pool is { Verdict: PoolVerdict.Change, HitRates: [.., var best] rates } && best.HitRate > rates[0].HitRate)
        {
            string more = pool.Kind == "ArrayPool" ? "places" : "more places";
            Paragraph.Write(
                console,
                $"hit rate by {more}: "
                    + string.Join(", ", rates.Where(static rate => rate.Places is 0 or 1 or 4 or 16 or 64 or 256 or 1024 or 4096)
                        .Select(static rate => $"{rate.Places} {Quantity.Percent(rate.HitRate)}")));
        }
    }

    /// <summary>Of a pool with something to do only that; of another one only the first finding.</summary>
    private static IEnumerable<PoolFinding> Shown(PoolAdvice pool) =>
        pool.Findings.Where(finding => finding.Verdict < PoolVerdict.Keep || finding == pool.Findings[0]);

    private static string RatesOf(PoolAdvice pool, PoolFinding finding) =>
        finding.Subject is "capacity" or "oversize" or "size" && pool.HitRate is { } hits
            ? $": {Quantity.Count(pool.RentedPerSecond)} rentals/s, hits {Quantity.Percent(hits)}{Dropped(pool)}"
            : "";

    private static void PrintCode(IAnsiConsole console, PoolFinding finding)
    {
        (string Mark, string? Code)[] parts = [("- ", finding.Before), ("+ ", finding.After)];
        foreach (var (mark, code) in parts.Where(static part => part.Code is not null))
        {
            Paragraph.WriteCode(console, mark, code!);
        }

        if (finding.Native is { } header)
        {
            string measured = finding.After is null ? "" : ", by its rules for classes and not measured";
            Paragraph.Write(console, $"for the native library{measured}, a file for -DTIDEPOOL_SIZE_CLASSES:");
            Paragraph.WriteCode(console, "  ", header);
        }
    }
}

namespace Tidepool.Advice;

/// <summary>The part of a report's JSON that is about pools; docs/advise.schema.json describes it.</summary>
internal static class PoolJson
{
    /// <summary>The window in which each rental was listened to; null without one.</summary>
    public static object? WindowOf(PoolReport report) => report.Traffic is { } traffic
        ? new { traffic.Seconds, traffic.ProcessorsBefore, traffic.ProcessorsWithin, traffic.LostEvents }
        : null;

    /// <summary>The pools.</summary>
    public static IEnumerable<object> PoolsOf(PoolReport report) => report.Pools.Select(static pool => new
    {
        pool.Name,
        pool.Kind,
        pool.Verdict,
        pool.RentedPerSecond,
        pool.HitRate,
        pool.DroppedPerSecond,
        pool.HitRates,
        SizeClasses = pool.Classes is { } fit
            ? new { fit.HeldOut, fit.WasteNow, fit.Waste, fit.Gain, fit.IsWorthIt, fit.Lengths }
            : null,
        Findings = pool.Findings.Select(static finding => new
        {
            finding.Verdict,
            finding.Subject,
            finding.Reason,
            finding.Reports,
            finding.Before,
            finding.After,
            finding.Native,
        }),
    });
}

namespace Tidepool.Advice;

/// <summary>Writes a comparison of two reports as JSON; docs/advise-diff.schema.json describes it.</summary>
internal static class AdviceDiffJson
{
    private const int SchemaVersion = 1;

    /// <summary>The comparison with every site.</summary>
    public static string Write(AdviceDiff diff, IReadOnlyList<LimitResult> limits) => AdviceJson.Serialize(new
    {
        Schema = SchemaVersion,
        BytesPerSecond = Of(diff.Bytes),
        CollectionsPerSecond = Of(diff.Collections),
        diff.Notes,
        Sites = diff.Sites.Select(static change => new
        {
            change.Site.Method,
            change.Site.File,
            change.Site.Line,
            change.Site.Type,
            BytesPerSecond = Of(change.Bytes),
            VerdictBefore = change.Before?.Verdict,
            VerdictAfter = change.After?.Verdict,
        }),
        diff.Pools,
        Limits = limits.Select(static result => new { result.Limit.Text, result.State, result.Found }),
    });

    private static object Of(RateChange change) => new { change.Word, change.Before, change.After, change.Change, change.Ratio };
}

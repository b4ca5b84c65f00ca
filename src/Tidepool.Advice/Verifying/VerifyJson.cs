namespace Tidepool.Advice;

/// <summary>Writes a comparison as JSON; docs/verify.schema.json describes it.</summary>
internal static class VerifyJson
{
    private const int SchemaVersion = 1;

    /// <summary>The comparison with every run.</summary>
    public static string Write(VerifyReport report) => AdviceJson.Serialize(new
    {
        Schema = SchemaVersion,
        Difference.Confidence,
        Difference.Tolerance,
        Before = new { Command = report.Before.ToString(), Runs = report.BeforeRuns },
        After = new { Command = report.After.ToString(), Runs = report.AfterRuns },
        Measures = report.Measures.Where(static measure => measure.Difference is not null).Select(static measure => new
        {
            measure.Name,
            measure.Unit,
            measure.Difference!.Before,
            measure.Difference.After,
            measure.Difference.Change,
            measure.Difference.Ratio,
            measure.Difference.Answer,
        }),
    });
}

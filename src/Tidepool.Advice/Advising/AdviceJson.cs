using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Tidepool.Advice;

/// <summary>Writes a report as JSON; docs/advise.schema.json describes it.</summary>
internal static class AdviceJson
{
    /// <summary>The version of the schema.</summary>
    public const int SchemaVersion = 1;

    private static readonly JsonSerializerOptions Options = new(JsonSerializerDefaults.Web)
    {
        WriteIndented = true,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping, // a file, never part of a page
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase) },
    };

    /// <summary>The report with every site.</summary>
    public static string Write(AdviceReport report) => Serialize(
        new
        {
            Schema = SchemaVersion,
            Process = new { report.Target.Id, report.Target.Name, report.Target.Runtime },
            Window = new
            {
                report.Sampling.Seconds,
                report.Sampling.SampledSeconds,
                Slices = report.Sampling.Slices.Count,
                report.Budget,
                report.Sampling.Cost,
                report.Sampling.NamingSeconds,
                report.LostEvents,
                report.Sampling.Lifetimes,
                report.Native,
            },
            report.BytesPerSecond,
            report.Sampling.ProcessorsOff,
            report.Saving,
            Collections = report.Collections.Select(static c => new { c.Reason, c.PerSecond }),
            Sites = report.Sites.Select(static advice => new
            {
                advice.Verdict,
                advice.Kind,
                advice.Site.Method,
                advice.Site.File,
                advice.Site.Line,
                advice.Site.Type,
                advice.Site.Builder,
                advice.Site.IsPoolMiss,
                advice.Site.BytesPerSecond,
                advice.Site.ObjectsPerSecond,
                advice.Site.Share,
                advice.Site.Samples,
                advice.Site.Slices,
                Sizes = new { Half = advice.Site.Quantile(0.5), NineTenths = advice.Site.Quantile(0.9), Largest = advice.Site.Quantile(1) },
                advice.Site.LargeShare,
                advice.Site.MostSurviving,
                advice.Site.Lifetime,
                advice.Site.FreedElsewhere,
                advice.Site.HalfFreedWithin,
                advice.Reason,
                advice.Saving,
                advice.Classes,
                advice.Before,
                advice.After,
            }),
            Rentals = PoolJson.WindowOf(report.Pools),
            Pools = PoolJson.PoolsOf(report.Pools),
        });

    /// <summary>Writes any report in the same form: indented, names in camel case, without what is not known.</summary>
    public static string Serialize(object report) => JsonSerializer.Serialize(report, Options);
}

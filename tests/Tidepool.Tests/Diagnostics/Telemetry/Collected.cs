using System.Diagnostics;
using OpenTelemetry;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using Samples;

namespace Tidepool.Tests.Diagnostics.Telemetry;

/// <summary>What OpenTelemetry's SDK collects of this process's pools, set up as docs/signals.md says.</summary>
internal sealed class Collected : IDisposable
{
    private readonly List<MetricSnapshot> _metrics = [];
    private readonly List<Activity> _spans = [];
    private readonly MeterProvider _meters;
    private readonly TracerProvider _tracers;

    internal Collected()
    {
        MeterProviderBuilder meters = Sdk.CreateMeterProviderBuilder();
        TracerProviderBuilder tracers = Sdk.CreateTracerProviderBuilder();
        OpenTelemetrySetup.AddPools(meters, tracers);
        _meters = meters.AddInMemoryExporter(_metrics).Build();
        _tracers = tracers.AddSource(TestSource).AddInMemoryExporter(_spans).Build();
    }

    /// <summary>A source of the tests' own, for what a caller or a provider traces.</summary>
    internal const string TestSource = "Tidepool.Tests";

    /// <summary>The spans that have ended so far, in the order of their ends.</summary>
    internal Activity[] Spans
    {
        get
        {
            Assert.True(_tracers.ForceFlush());
            lock (_spans)
            {
                return [.. _spans];
            }
        }
    }

    /// <summary>Collects now.</summary>
    internal List<Series> Collect()
    {
        _metrics.Clear();
        Assert.True(_meters.ForceFlush());
        return [.. _metrics.SelectMany(static metric => metric.MetricPoints.Select(point => Series.Of(metric, point)))];
    }

    public void Dispose()
    {
        _meters.Dispose();
        _tracers.Dispose();
    }

    /// <summary>One instrument with one set of tags.</summary>
    internal sealed record Series(string Name, string Unit, string Kind, double Value, double[] Bounds, Dictionary<string, string?> Tags)
    {
        internal string? this[string tag] => Tags.GetValueOrDefault(tag);

        internal static Series Of(MetricSnapshot metric, MetricPoint point)
        {
            Dictionary<string, string?> tags = [];
            foreach (KeyValuePair<string, object?> tag in point.Tags)
            {
                tags.Add(tag.Key, tag.Value?.ToString());
            }

            List<double> bounds = [];
            bool isHistogram = metric.MetricType == MetricType.Histogram;
            if (isHistogram)
            {
                foreach (HistogramBucket bucket in point.GetHistogramBuckets())
                {
                    bounds.Add(bucket.ExplicitBound);
                }
            }

            string kind = metric.MetricType switch
            {
                MetricType.Histogram => "histogram",
                MetricType.LongSum => "counter",
                MetricType.LongSumNonMonotonic => "up-down counter",
                _ => metric.MetricType.ToString(),
            };
            double value = isHistogram ? point.GetHistogramCount() : point.GetSumLong();
            return new(metric.Name, metric.Unit, kind, value, [.. bounds], tags);
        }
    }
}

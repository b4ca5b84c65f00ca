using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;

namespace Samples;

/// <summary>
/// Collects the metrics and the traces of every pool. In a host the two builders come from
/// <c>services.AddOpenTelemetry().WithMetrics(...).WithTracing(...)</c>, elsewhere from <c>Sdk.CreateMeterProviderBuilder()</c> and
/// <c>Sdk.CreateTracerProviderBuilder()</c>.
/// </summary>
public static class OpenTelemetrySetup
{
    public static void AddPools(MeterProviderBuilder metrics, TracerProviderBuilder traces)
    {
        metrics.AddMeter("Tidepool");
        traces.AddSource("Tidepool");
    }
}

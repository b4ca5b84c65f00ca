using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Options;
using Tidepool;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds the pools of Tidepool to a program's health checks.</summary>
public static class TidepoolHealthExtensions
{
    /// <summary>Adds one check for each registered resource pool and data source, named <c>tidepool:NAME</c>.</summary>
    /// <remarks>
    /// Healthy: a rental works. Degraded: rentals time out or are refused, or creations fail while resources live; with the numbers.
    /// Unhealthy: no resource lives and none can be created; with the last error. A check rents once, if the pool is not busy.
    /// </remarks>
    /// <param name="builder">The program's health checks.</param>
    /// <param name="failureStatus">What a pool without a resource is; null for <see cref="HealthStatus.Unhealthy"/>.</param>
    /// <param name="tags">Tags of each check; null for <c>tidepool</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    public static IHealthChecksBuilder AddTidepool(
        this IHealthChecksBuilder builder, HealthStatus? failureStatus = null, IEnumerable<string>? tags = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddTidepool();
        string[] all = [.. tags ?? ["tidepool"]];
        builder.Services.AddSingleton<IConfigureOptions<HealthCheckServiceOptions>>(services =>
            new ConfigureOptions<HealthCheckServiceOptions>(options =>
            {
                foreach (HostedPool pool in services.GetServices<HostedPool>())
                {
                    var check = new PoolHealthCheck(pool);
                    options.Registrations.Add(new HealthCheckRegistration($"tidepool:{pool.Name}", check, failureStatus, all));
                }
            }));
        return builder;
    }
}

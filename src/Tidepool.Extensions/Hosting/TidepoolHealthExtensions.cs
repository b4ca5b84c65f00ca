using Microsoft.Extensions.Diagnostics.HealthChecks;
using Tidepool;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds the pools of Tidepool to a program's health checks.</summary>
public static class TidepoolHealthExtensions
{
    /// <summary>Adds one check for each registered resource pool and data source, named <c>tidepool:NAME</c>.</summary>
    /// <remarks>
    /// Healthy: a rental works. Degraded: rentals time out or are refused, or creations fail while resources live; with the numbers.
    /// Unhealthy: no resource lives and none can be created; with the last error. A check rents once, if the pool is not busy.
    /// May be called again: a pool has one check, as the first call says.
    /// </remarks>
    /// <param name="builder">The program's health checks.</param>
    /// <param name="failureStatus">What a pool without a resource is; null for <see cref="HealthStatus.Unhealthy"/>.</param>
    /// <param name="tags">Tags of each check; null for <c>tidepool</c>.</param>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    public static IHealthChecksBuilder AddTidepool(
        this IHealthChecksBuilder builder, HealthStatus? failureStatus = null, IEnumerable<string>? tags = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        TidepoolBuilder pools = builder.Services.AddTidepool();
        string[] all = [.. tags ?? ["tidepool"]];

        // Read when the first check is about to run, so that pools may be registered after this call. None is made for it.
        builder.Services.Configure<HealthCheckServiceOptions>(options =>
        {
            foreach (string name in pools.Hosted)
            {
                string check = $"tidepool:{name}";
                if (options.Registrations.All(known => known.Name != check))
                {
                    options.Registrations.Add(new HealthCheckRegistration(
                        check, services => services.GetRequiredKeyedService<PoolHealthCheck>(name), failureStatus, all));
                }
            }
        });
        return builder;
    }
}

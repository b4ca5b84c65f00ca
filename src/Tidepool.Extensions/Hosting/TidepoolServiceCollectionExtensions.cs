using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Tidepool;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers pools of Tidepool with a program's services.</summary>
public static class TidepoolServiceCollectionExtensions
{
    /// <summary>Begins the registration of pools; may be called again, and gives the same builder then.</summary>
    /// <remarks>
    /// With a host, resource pools warm up before its servers start and shut down after they have stopped, and what pools report is logged.
    /// </remarks>
    /// <param name="services">The program's services.</param>
    /// <returns>What registers pools, one call for each.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="services"/> is null.</exception>
    public static TidepoolBuilder AddTidepool(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        foreach (ServiceDescriptor service in services)
        {
            if (!service.IsKeyedService && service.ImplementationInstance is TidepoolBuilder known && known.Services == services)
            {
                return known;
            }
        }

        var builder = new TidepoolBuilder(services);
        services.AddSingleton(builder);
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IHostedService, PoolLifecycle>());
        return builder;
    }
}

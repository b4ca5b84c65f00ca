using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace Tidepool;

/// <summary>Puts pooled memory behind the servers of ASP.NET Core.</summary>
public static class HostingExtensions
{
    /// <summary>Lets Kestrel rent its buffers from Tidepool, in place of its own pool.</summary>
    /// <remarks>
    /// Call it after <c>UseKestrel</c>; <c>WebApplication.CreateBuilder</c> has called that. In the other order Kestrel's own pool would be
    /// used, and the host refuses to start.
    /// </remarks>
    /// <param name="builder">The host: <c>builder.WebHost</c> of a web application.</param>
    /// <param name="budget">The most bytes that may wait idle in all I/O queues together, 0 or more; null for the budget of the
    /// process.</param>
    /// <returns>The same builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="budget"/> is negative; nothing is registered.</exception>
    public static IWebHostBuilder UseTidepoolMemoryPool(this IWebHostBuilder builder, long? budget = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        var factory = new SlabMemoryPoolFactory(budget);
        return builder.ConfigureServices(services => Register(services, factory));
    }

    /// <summary>
    /// Registers a <see cref="SlabMemoryPoolFactory"/> as the <see cref="IMemoryPoolFactory{T}"/> of bytes, in place of one that is
    /// there: what <see cref="UseTidepoolMemoryPool"/> does, for a collection of services.
    /// </summary>
    /// <remarks>Call it after <c>UseKestrel</c>; in the other order the host refuses to start.</remarks>
    /// <param name="services">The services of the host.</param>
    /// <param name="budget">The most bytes that may wait idle in all I/O queues together, 0 or more; null for the budget of the
    /// process.</param>
    /// <returns>The same collection.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="services"/> is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="budget"/> is negative; nothing is registered.</exception>
    public static IServiceCollection AddTidepoolMemoryPool(this IServiceCollection services, long? budget = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        Register(services, new SlabMemoryPoolFactory(budget));
        return services;
    }

    private static void Register(IServiceCollection services, SlabMemoryPoolFactory factory)
    {
        services.RemoveAll<IMemoryPoolFactory<byte>>();
        services.AddSingleton<IMemoryPoolFactory<byte>>(factory);
        services.AddHostedService<MemoryPoolCheck>();
    }
}

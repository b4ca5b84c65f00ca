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
    /// It holds before and after <c>UseKestrel</c>. A host whose servers would use another factory all the same refuses to start: one that
    /// the program added afterwards, or Kestrel's own with the old <c>WebHostBuilder</c>.
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
        MemoryPoolPromotion.Watch(); // now: the callback may run when the host is being built already
        return builder.ConfigureServices(services => Register(services, factory));
    }

    /// <summary>
    /// Registers a <see cref="SlabMemoryPoolFactory"/> as the <see cref="IMemoryPoolFactory{T}"/> of bytes, in place of one that is
    /// there: what <see cref="UseTidepoolMemoryPool"/> does, for a collection of services.
    /// </summary>
    /// <remarks>
    /// It holds before and after <c>UseKestrel</c>. Inside of a callback of <c>IHostBuilder.ConfigureServices</c> it may come too late for
    /// a <c>UseKestrel</c> after it: then the host refuses to start, and <see cref="UseTidepoolMemoryPool"/> is the call to use.
    /// </remarks>
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
        MemoryPoolPromotion.Watch();
    }
}

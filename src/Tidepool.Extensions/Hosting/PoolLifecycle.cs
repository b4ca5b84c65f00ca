using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Tidepool;

/// <summary>
/// Starts and stops the registered pools with the host: they warm up before any server starts, and shut down after the last one has
/// stopped, so that a request in flight keeps what it has rented.
/// </summary>
/// <param name="builder">The names of the pools.</param>
/// <param name="services">The program's services. Pools are made in the start, after the host has checked their options.</param>
/// <param name="loggers">Where reports go; null for nowhere.</param>
internal sealed class PoolLifecycle(TidepoolBuilder builder, IServiceProvider services, ILoggerFactory? loggers = null)
    : IHostedLifecycleService, IDisposable
{
    private readonly ILogger _log = loggers?.CreateLogger(PoolLog.Category) ?? NullLogger.Instance;
    private PoolLog? _reports;
    private HostedPool[] _pools = [];

    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        _reports ??= new PoolLog(_log);
        ReportSectionsWithoutPool();
        _pools = [.. builder.Hosted.Select(name => services.GetRequiredKeyedService<HostedPool>(name))];
        await Task.WhenAll(_pools.Select(pool => WarmUpAsync(pool, cancellationToken))).ConfigureAwait(false);
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>All pools at once: together they take as long as the longest grace, or until the host's own time is over.</summary>
    public Task StoppedAsync(CancellationToken cancellationToken) =>
        Task.WhenAll(_pools.Select(pool => ShutdownAsync(pool, cancellationToken)));

    public void Dispose() => _reports?.Dispose();

    /// <summary>A mistyped name would leave a pool with its defaults, unnoticed. Programs may share one file, so it is no error.</summary>
    private void ReportSectionsWithoutPool()
    {
        IEnumerable<IConfigurationSection> sections =
            services.GetService<IConfiguration>()?.GetSection(PoolSections.Root).GetChildren() ?? [];
        foreach (string name in sections.Select(static section => section.Key))
        {
            if (!builder.Names.Contains(name, StringComparer.OrdinalIgnoreCase))
            {
                PoolLog.SectionNotRead(_log, PoolSections.KeyOf(name), Advise(name));
            }
        }
    }

    private string Advise(string name) => Spelling.FindNearest(name, builder.Names) is { } nearest
        ? $"Did you mean '{nearest}'?"
        : $"Registered are: {(builder.Names.Count > 0 ? string.Join(", ", builder.Names.Order(StringComparer.Ordinal)) : "none")}.";

    /// <summary>A server that is down must not keep the program down: the pool goes on trying when it is rented from.</summary>
    private async Task WarmUpAsync(HostedPool pool, CancellationToken cancellationToken)
    {
        if (pool.WarmUp == 0)
        {
            return;
        }

        try
        {
            await pool.WarmUpAsync(pool.WarmUp, cancellationToken).ConfigureAwait(false);
            PoolLog.WarmedUp(_log, pool.Name, pool.WarmUp);
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            PoolLog.WarmUpFailed(_log, pool.Name, pool.WarmUp, e);
        }
    }

    private async Task ShutdownAsync(HostedPool pool, CancellationToken cancellationToken)
    {
        Task<bool> shutdown = pool.ShutdownAsync(pool.ShutdownGrace);
        try
        {
            if (await shutdown.WaitAsync(cancellationToken).ConfigureAwait(false))
            {
                return;
            }
        }
        catch (OperationCanceledException)
        {
            // The host's time is over: what is out ends when it comes back.
        }

        if (pool.FindStatistics() is { Leased: > 0 } statistics)
        {
            PoolLog.StillLeased(_log, pool.Name, statistics.Leased, pool.ShutdownGrace);
        }
    }
}

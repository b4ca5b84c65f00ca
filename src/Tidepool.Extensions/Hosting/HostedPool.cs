using Tidepool.Data;

namespace Tidepool;

/// <summary>A registered pool of resources or connections, as the host and its health checks see it.</summary>
internal abstract class HostedPool(ResourcePoolSection section)
{
    /// <summary>The name in messages, events and metrics.</summary>
    internal abstract string Name { get; }

    /// <summary>Whether its resources are of several keys, of which some may work while others fail.</summary>
    internal virtual bool HasKeys => false;

    internal TimeSpan ShutdownGrace => section.ShutdownGrace;

    internal TimeSpan ProbeTimeout => section.ProbeTimeout;

    /// <summary>How many resources are created before the servers start.</summary>
    internal int WarmUp => section.WarmUp ?? section.MinSize;

    internal abstract Task WarmUpAsync(int count, CancellationToken cancellationToken);

    /// <summary>Ends the pool; false when leases were still out at the end of the grace.</summary>
    internal abstract Task<bool> ShutdownAsync(TimeSpan grace);

    /// <summary>The numbers, or null after the end of the pool.</summary>
    internal ResourcePoolStatistics? FindStatistics() => Pools.Find(Name)?.ResourceStatistics;

    /// <summary>Rents a resource and returns it, as a caller would.</summary>
    internal abstract Task ProbeAsync(TimeSpan timeout, CancellationToken cancellationToken);
}

internal sealed class HostedResourcePool<T>(ResourcePoolSection section, ResourcePool<T> pool) : HostedPool(section)
    where T : class
{
    internal override string Name => pool.Name;

    internal override Task WarmUpAsync(int count, CancellationToken cancellationToken) => pool.WarmUpAsync(count, cancellationToken);

    internal override Task<bool> ShutdownAsync(TimeSpan grace) => pool.ShutdownAsync(grace);

    internal override async Task ProbeAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        ResourceLease<T> lease = await pool.RentAsync(timeout, cancellationToken).ConfigureAwait(false);
        await lease.DisposeAsync().ConfigureAwait(false);
    }
}

/// <summary>With keys: there is none to warm up or to probe.</summary>
internal sealed class HostedKeyedPool<TKey, T>(KeyedResourcePoolSection section, KeyedResourcePool<TKey, T> pool) : HostedPool(section)
    where TKey : notnull
    where T : class
{
    internal override string Name => pool.Name;

    internal override bool HasKeys => true;

    internal override Task WarmUpAsync(int count, CancellationToken cancellationToken) => Task.CompletedTask;

    internal override Task<bool> ShutdownAsync(TimeSpan grace) => pool.ShutdownAsync(grace);

    internal override Task ProbeAsync(TimeSpan timeout, CancellationToken cancellationToken) => Task.CompletedTask;
}

internal sealed class HostedDbPool(DbPoolSection section, PooledDbDataSource source) : HostedPool(section)
{
    internal override string Name => source.Name;

    internal override Task WarmUpAsync(int count, CancellationToken cancellationToken) => source.WarmUpAsync(count, cancellationToken);

    internal override Task<bool> ShutdownAsync(TimeSpan grace) => source.ShutdownAsync(grace);

    internal override async Task ProbeAsync(TimeSpan timeout, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(timeout);
        try
        {
            PooledDbConnection connection = await source.OpenConnectionAsync(limit.Token).ConfigureAwait(false);
            await connection.DisposeAsync().ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new TimeoutException($"No connection was ready within {nameof(ResourcePoolSection.ProbeTimeout)} = {timeout}.");
        }
    }
}

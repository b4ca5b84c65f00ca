using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Hosting;

namespace Tidepool;

/// <summary>
/// Refuses to start a host whose servers would not use our pools. Of two factories the later one is used, and
/// <see cref="MemoryPoolPromotion"/> does not overrule the program's own: a silent loss without this check.
/// </summary>
internal sealed class MemoryPoolCheck(IMemoryPoolFactory<byte> used) : IHostedLifecycleService
{
    public Task StartingAsync(CancellationToken cancellationToken) => used is SlabMemoryPoolFactory
        ? Task.CompletedTask
        : throw new InvalidOperationException(
            $"The servers of this host would rent from {used.GetType().Name}, which was registered after Tidepool's memory pool. "
                + "Call UseTidepoolMemoryPool or AddTidepoolMemoryPool after UseKestrel, or leave the call out.");

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}

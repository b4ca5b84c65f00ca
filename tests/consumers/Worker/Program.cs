// A worker with a pool from dependency injection; does one piece of work and ends.
using Tidepool;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Logging.ClearProviders();
builder.Services.AddTidepool().AddBufferPool<byte>("work");
builder.Services.AddHostedService<Work>();
await builder.Build().RunAsync();

internal sealed class Work([FromKeyedServices("work")] BufferPool<byte> pool, IHostApplicationLifetime lifetime) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using (BufferLease<byte> lease = pool.Rent(1000))
        {
            await Task.Yield();
            Console.WriteLine($"a buffer of {lease.Length} bytes from pool '{pool.Name}'");
        }

        lifetime.StopApplication();
    }
}

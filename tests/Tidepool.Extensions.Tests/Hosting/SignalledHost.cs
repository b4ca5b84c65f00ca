using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Tidepool.Extensions.Tests.Hosting;

/// <summary>A program with a pool and one request in flight; this assembly runs as it. Each line that it reads lets it go on.</summary>
public static class SignalledHost
{
    /// <summary>The argument that starts it.</summary>
    public const string Argument = "signalled";

    public static async Task<int> Main(string[] arguments)
    {
        if (arguments is not [Argument])
        {
            await Console.Error.WriteLineAsync("This is a test assembly: run it with 'dotnet test'.");
            return 2;
        }

        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.Configure<HostOptions>(static host => host.ShutdownTimeout = TimeSpan.FromMinutes(5));
        builder.Services.AddHostedService<Server>();
        builder.Services.AddTidepool().AddResourcePool(
            "jobs", static _ => new Policy(), static section => (section.MaxSize, section.ShutdownGrace) = (2, TimeSpan.FromMinutes(4)));
        using (IHost host = builder.Build())
        {
            host.Services.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping.Register(() => Console.WriteLine("stopping"));
            await host.RunAsync();
        }

        Console.WriteLine("ended");
        return 0;
    }

    /// <summary>Waits for its request when it stops, as servers do; work that the request began ends later.</summary>
    private sealed class Server(ResourcePool<Client> pool) : IHostedService
    {
        private Task _request = Task.CompletedTask;

        public async Task StartAsync(CancellationToken cancellationToken)
        {
            ResourceLease<Client> used = await pool.RentAsync(cancellationToken);
            ResourceLease<Client> kept = await pool.RentAsync(cancellationToken);
            _request = Task.Run(() => AnswerAsync(used, kept), CancellationToken.None);
            Console.WriteLine("in flight");
        }

        public async Task StopAsync(CancellationToken cancellationToken)
        {
            await _request;
            Console.WriteLine("stopped");
        }

        private static async Task AnswerAsync(ResourceLease<Client> used, ResourceLease<Client> kept)
        {
            await Console.In.ReadLineAsync();
            Console.WriteLine($"answered, disposed: {used.Value.IsDisposed}");
            used.Dispose();
            _ = Task.Run(async () =>
            {
                await Console.In.ReadLineAsync();
                Console.WriteLine($"worked on, disposed: {kept.Value.IsDisposed}");
                kept.Dispose();
            });
        }
    }

    private sealed class Policy : ResourcePolicy<Client>
    {
        private int _destroyed;

        public override ValueTask<Client> CreateAsync(CancellationToken cancellationToken) => new(new Client());

        public override ValueTask DestroyAsync(Client resource, DestroyReason reason)
        {
            resource.Dispose();
            Console.WriteLine($"destroyed {Interlocked.Increment(ref _destroyed)}");
            return default;
        }
    }
}

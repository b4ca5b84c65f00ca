using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Tidepool.Published;

/// <summary>A web program with pools from its configuration, health checks and logging.</summary>
internal static class Web
{
    /// <summary>Starts it, asks it, stops it; the environment may say what is wrong with the configuration.</summary>
    internal static async Task RunAsync()
    {
        var policy = new Policy();
        WebApplication app = Build(policy);
        await using (app.ConfigureAwait(false))
        {
            try
            {
                await app.StartAsync();
            }
            catch (OptionsValidationException refusal)
            {
                Console.WriteLine($"refused: {refusal.Message}");
                return;
            }

            using var client = new HttpClient { BaseAddress = new Uri(app.Urls.First()) };
            Console.WriteLine($"warm: {policy.Created}");
            Console.WriteLine($"answer: {await client.GetStringAsync(new Uri("/rent", UriKind.Relative))}");
            Console.WriteLine($"health: {await AskAsync(client)}");
            Task failure = NextBackoffAsync();
            policy.Fails = true;
            ResourcePool<Client> pool = app.Services.GetRequiredService<ResourcePool<Client>>();
            await pool.ClearAsync();
            Console.WriteLine($"health: {await AskAsync(client)}");
            await failure; // the reports of a failed creation may come after the rental that it fails
            await app.StopAsync();
            Console.WriteLine($"pools: {Pools.All.Count(static pool => pool.Name == "clients")}");
        }
    }

    /// <summary>Ends when a pool has backed off and the log, which listens for longer, has heard of it.</summary>
    private static Task NextBackoffAsync()
    {
        var heard = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        PoolDiagnostics.ResourceReported += report => _ = report.Kind != ResourceReportKind.BackedOff || heard.TrySetResult();
        return heard.Task.WaitAsync(TimeSpan.FromMinutes(5));
    }

    private static WebApplication Build(Policy policy)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseTidepoolMemoryPool().UseKestrelCore().UseUrls("http://127.0.0.1:0"); // it holds in this order too
        builder.Logging.ClearProviders().AddProvider(new LogPrinter());
        builder.Logging.AddFilter("Microsoft", LogLevel.Warning);
        builder.Services.AddTidepool()
            .AddBufferPool<byte>("bodies")
            .AddMemoryPool<byte>("blocks")
            .AddObjectPool("builders", static _ => new StringBuilder(), static item => item.Clear() is not null)
            .AddStreamPool("reports")
            .AddKeyedResourcePool<string, Client>(
                "hosts", (_, _) => policy, static section => (section.MaxSize, section.MaxTotal) = (1, 4))
            .AddResourcePool("clients", _ => policy)
            .AddObjectPools();
        builder.Services.AddHealthChecks().AddTidepool();
        WebApplication app = builder.Build();
        app.MapHealthChecks("/health");
        app.MapGet("/rent", Rent);
        return app;
    }

    private static async Task Rent(HttpContext context)
    {
        IServiceProvider services = context.RequestServices;
        using BufferLease<byte> buffer = services.GetRequiredKeyedService<BufferPool<byte>>("bodies").Rent(100);
        using ResourceLease<Client> client = await services.GetRequiredService<ResourcePool<Client>>().RentAsync();
        string memory = context.Features.GetRequiredFeature<IMemoryPoolFeature>().MemoryPool.GetType().Name;
        await context.Response.WriteAsync($"{buffer.Length} bytes, client {client.Value.Number}, memory of {memory}");
    }

    private static async Task<string> AskAsync(HttpClient client)
    {
        using HttpResponseMessage answer = await client.GetAsync(new Uri("/health", UriKind.Relative));
        return $"{(int)answer.StatusCode} {await answer.Content.ReadAsStringAsync()}";
    }

    private sealed record Client(int Number);

    private sealed class Policy : ResourcePolicy<Client>
    {
        private int _created;

        internal int Created => Volatile.Read(ref _created);

        internal bool Fails { get; set; }

        public override ValueTask<Client> CreateAsync(CancellationToken cancellationToken) =>
            Fails ? throw new IOException("refused") : new(new Client(Interlocked.Increment(ref _created)));
    }
}

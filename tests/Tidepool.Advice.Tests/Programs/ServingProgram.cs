using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Logging;

namespace Tidepool.Advice.Tests.Programs;

/// <summary>A server and its client on the loopback address: pools of connections and of memory that no line of it asks for.</summary>
internal static class ServingProgram
{
    public const string Name = "serving";

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    /// <summary>A meter counts connections that were opened while it was read, so there are new ones.</summary>
    private static readonly TimeSpan Lifetime = TimeSpan.FromSeconds(3);

    /// <summary>Asks until the standard input ends. For each line of it, it prints its port.</summary>
    public static async Task RunAsync()
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(static (KestrelServerOptions kestrel) => kestrel.Listen(IPAddress.Loopback, 0));
        await using WebApplication server = builder.Build();
        server.MapGet("/", static () => "here");
        await server.StartAsync();
        var address = new Uri(server.Urls.Single());
        using var stop = new CancellationTokenSource();
        Task asking = Task.Run(() => AskAsync(address, stop.Token));
        Console.WriteLine(WatchedProgram.Ready);
        while (await Console.In.ReadLineAsync() is not null)
        {
            Console.WriteLine(address.Port);
        }

        await stop.CancelAsync();
        await asking;
    }

    private static async Task AskAsync(Uri address, CancellationToken stop)
    {
        using var client = new HttpClient(new SocketsHttpHandler { PooledConnectionLifetime = Lifetime });
        while (!stop.IsCancellationRequested)
        {
            _ = await client.GetStringAsync(address, CancellationToken.None);
            await Task.WhenAny(Task.Delay(Pause, stop));
        }
    }
}

using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Tidepool.Labs;

/// <summary>A Kestrel on loopback that answers every request with its name and counts its connections.</summary>
internal sealed class LoopbackServer : IAsyncDisposable
{
    private readonly WebApplication _app;
    private int _connections;
    private int _open;

    private LoopbackServer(string name)
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, 0, CountConnections));
        _app = builder.Build();
        _app.Run(context => context.Response.WriteAsync(name));
    }

    /// <summary>Where it listens.</summary>
    public Uri Address => new(_app.Urls.Single());

    /// <summary>Connections that it accepted.</summary>
    public int Connections => Volatile.Read(ref _connections);

    /// <summary>Those of them that have not ended.</summary>
    public int Open => Volatile.Read(ref _open);

    /// <summary>Starts a server on a free port.</summary>
    public static async Task<LoopbackServer> StartAsync(string name)
    {
        var server = new LoopbackServer(name);
        await server._app.StartAsync().ConfigureAwait(false);
        return server;
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private void CountConnections(ListenOptions listen) => listen.Use(next => async connection =>
    {
        Interlocked.Increment(ref _open);
        Interlocked.Increment(ref _connections);
        try
        {
            await next(connection).ConfigureAwait(false);
        }
        finally
        {
            Interlocked.Decrement(ref _open);
        }
    });
}

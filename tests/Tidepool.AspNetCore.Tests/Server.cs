using System.Collections.Concurrent;
using System.Net;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Logging;

namespace Tidepool.AspNetCore.Tests;

/// <summary>A real Kestrel on the loopback interface that sends back what it receives and notes the memory pool of each request.</summary>
internal sealed class Server : IAsyncDisposable
{
    private readonly X509Certificate2 _certificate = MakeCertificate();
    private readonly ConcurrentDictionary<SlabMemoryPool<byte>, bool> _pools = new();
    private readonly WebApplication _app;
    private int _foreign;

    private Server((HttpProtocols Protocols, bool IsSecure)[] endpoints, Action<WebApplicationBuilder> configure)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder();
        builder.Logging.ClearProviders();
        configure(builder);
        builder.WebHost.ConfigureKestrel(kestrel => Array.ForEach(
            endpoints,
            endpoint => kestrel.Listen(IPAddress.Loopback, 0, listen =>
            {
                listen.Protocols = endpoint.Protocols;
                if (endpoint.IsSecure)
                {
                    listen.UseHttps(_certificate);
                }
            })));
        _app = builder.Build();
        _app.Run(EchoAsync);
    }

    /// <summary>The pools that requests were served from.</summary>
    internal ICollection<SlabMemoryPool<byte>> Pools => _pools.Keys;

    /// <summary>The requests that were served from a pool that is not ours.</summary>
    internal int Foreign => Volatile.Read(ref _foreign);

    internal static Task<Server> StartAsync(HttpProtocols protocols, bool isSecure, Action<WebApplicationBuilder> configure) =>
        StartAsync([(protocols, isSecure)], configure);

    internal static async Task<Server> StartAsync((HttpProtocols, bool)[] endpoints, Action<WebApplicationBuilder> configure)
    {
        var server = new Server(endpoints, configure);
        await server._app.StartAsync();
        return server;
    }

    /// <summary>A client that accepts the certificate of this server only.</summary>
    internal HttpClient NewClient(Version version, int endpoint = 0)
    {
        var handler = new SocketsHttpHandler { MaxConnectionsPerServer = 32, EnableMultipleHttp2Connections = true };
        handler.SslOptions.RemoteCertificateValidationCallback = IsMine;
        return new HttpClient(handler)
        {
            BaseAddress = new Uri(_app.Urls.ElementAt(endpoint)),
            DefaultRequestVersion = version,
            DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact,
        };
    }

    internal Task StopAsync() => _app.StopAsync();

    public async ValueTask DisposeAsync()
    {
        await _app.DisposeAsync();
        _certificate.Dispose();
    }

    private bool IsMine(object sender, X509Certificate? shown, X509Chain? chain, SslPolicyErrors errors) =>
        shown is not null && shown.GetCertHash().AsSpan().SequenceEqual(_certificate.GetCertHash());

    private async Task EchoAsync(HttpContext context)
    {
        if (context.Features.Get<IMemoryPoolFeature>()?.MemoryPool is SlabMemoryPool<byte> pool)
        {
            _pools.TryAdd(pool, true);
        }
        else
        {
            Interlocked.Increment(ref _foreign);
        }

        // Whole before it goes back: over HTTP/2 a server that sends while its client sends may hang on full windows, with any pool.
        using var body = new MemoryStream();
        await context.Request.Body.CopyToAsync(body, context.RequestAborted);
        body.Position = 0;
        await body.CopyToAsync(context.Response.Body, context.RequestAborted);
    }

    private static X509Certificate2 MakeCertificate()
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=localhost", key, HashAlgorithmName.SHA256);
        using X509Certificate2 certificate = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
        return X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pkcs12), null);
    }
}

using Microsoft.Extensions.DependencyInjection;

namespace Tidepool.Labs;

/// <summary>One way to send requests.</summary>
internal abstract class HttpSubject : IAsyncDisposable
{
    /// <summary>A client for each request, disposed after it.</summary>
    public const string PerRequest = "HttpClient per request";

    /// <summary>One client for all, as long as the process.</summary>
    public const string Shared = "one HttpClient";

    /// <summary>One client for all, whose connections have a lifetime.</summary>
    public const string Renewed = "one HttpClient, PooledConnectionLifetime";

    /// <summary>A client of the factory for each request.</summary>
    public const string Factory = "IHttpClientFactory";

    /// <summary>Ours: a client for each request over a shared lease of the endpoint's handler.</summary>
    public const string Leased = "RentSharedAsync";

    /// <summary>The four ways that sockets are counted of.</summary>
    public static IReadOnlyList<string> All { get; } = [PerRequest, Shared, Factory, Leased];

    /// <summary>Opens one way.</summary>
    /// <param name="name">Which.</param>
    /// <param name="newHandler">Makes a handler; the caller disposes it.</param>
    /// <param name="lifetime">How long what is pooled may live, in the ways that renew it.</param>
    public static HttpSubject Open(string name, Func<SocketsHttpHandler> newHandler, TimeSpan lifetime) => name switch
    {
        PerRequest => new ClientPerRequest(newHandler),
        Shared => new OneClient(newHandler()),
        Renewed => new OneClient(WithLifetime(newHandler(), lifetime)),
        Factory => new FactoryClients(newHandler, lifetime),
        Leased => new LeasedHandlers(newHandler, lifetime),
        _ => throw new ArgumentException($"There is no way '{name}' to send requests.", nameof(name)),
    };

    /// <summary>A handler that goes to loopback itself, whatever proxy the environment names.</summary>
    public static SocketsHttpHandler NewHandler() => new() { UseProxy = false };

    /// <summary>Sends a request and reads the answer.</summary>
    public abstract Task<string> GetAsync(Uri uri);

    /// <inheritdoc/>
    public abstract ValueTask DisposeAsync();

    private static SocketsHttpHandler WithLifetime(SocketsHttpHandler handler, TimeSpan lifetime)
    {
        handler.PooledConnectionLifetime = lifetime;
        return handler;
    }

    private sealed class ClientPerRequest(Func<SocketsHttpHandler> newHandler) : HttpSubject
    {
        public override async Task<string> GetAsync(Uri uri)
        {
            using var client = new HttpClient(newHandler());
            return await client.GetStringAsync(uri).ConfigureAwait(false);
        }

        public override ValueTask DisposeAsync() => default;
    }

    private sealed class OneClient(SocketsHttpHandler handler) : HttpSubject
    {
        private readonly HttpClient _client = new(handler);

        public override Task<string> GetAsync(Uri uri) => _client.GetStringAsync(uri);

        public override ValueTask DisposeAsync()
        {
            _client.Dispose();
            return default;
        }
    }

    private sealed class FactoryClients : HttpSubject
    {
        private readonly ServiceProvider _services;
        private readonly IHttpClientFactory _factory;

        public FactoryClients(Func<SocketsHttpHandler> newHandler, TimeSpan lifetime)
        {
            var services = new ServiceCollection();
            services.AddHttpClient(Factory).ConfigurePrimaryHttpMessageHandler(newHandler).SetHandlerLifetime(lifetime);
            _services = services.BuildServiceProvider();
            _factory = _services.GetRequiredService<IHttpClientFactory>();
        }

        public override async Task<string> GetAsync(Uri uri)
        {
            using HttpClient client = _factory.CreateClient(Factory);
            return await client.GetStringAsync(uri).ConfigureAwait(false);
        }

        public override ValueTask DisposeAsync() => _services.DisposeAsync();
    }

    private sealed class LeasedHandlers(Func<SocketsHttpHandler> newHandler, TimeSpan lifetime) : HttpSubject
    {
        private readonly KeyedResourcePool<string, SocketsHttpHandler> _handlers = new(
            _ => new HandlerPolicy(newHandler),
            new()
            {
                MaxTotal = 200,
                PerKey = new()
                {
                    Name = "handlers",
                    MaxSize = 2, // one that is renewed and still in use, and its successor
                    MaxLifetime = lifetime,
                },
            });

        public override async Task<string> GetAsync(Uri uri)
        {
            using SharedLease<SocketsHttpHandler> lease = await _handlers.RentSharedAsync(uri.Authority).ConfigureAwait(false);
            using var client = new HttpClient(lease.Value, disposeHandler: false);
            return await client.GetStringAsync(uri).ConfigureAwait(false);
        }

        public override ValueTask DisposeAsync() => _handlers.DisposeAsync();
    }

    /// <summary>Makes handlers; ending one is disposing it, which is the default.</summary>
    private sealed class HandlerPolicy(Func<SocketsHttpHandler> newHandler) : ResourcePolicy<SocketsHttpHandler>
    {
        public override ValueTask<SocketsHttpHandler> CreateAsync(CancellationToken cancellationToken) => new(newHandler());
    }
}

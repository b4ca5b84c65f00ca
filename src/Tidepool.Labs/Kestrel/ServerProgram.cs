using System.Net;
using System.Runtime;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Tidepool.Labs;

/// <summary>
/// A Kestrel in a process of its own, on loopback. It prints its ports, then answers each line of its input with its state; it ends when
/// its input ends. Before it answers, the line <c>release</c> lets go the requests that are held, and <c>collect</c> collects garbage.
/// </summary>
internal sealed class ServerProgram : IAsyncDisposable
{
    /// <summary>First argument of such a process; after it the memory, and <see cref="Watch"/> where the pool is to be watched.</summary>
    public const string Argument = "--server";

    /// <summary>Last argument of a server that watches its pool.</summary>
    public const string Watch = "--watch";

    /// <summary>The line that releases what is held.</summary>
    public const string Release = "release";

    /// <summary>The line that asks for a full collection, which gives back to the system what it can.</summary>
    public const string Collect = "collect";

    /// <summary>The path whose requests are held, body unread, until they are released.</summary>
    public const string HoldPath = "/hold";

    /// <summary>Bytes of an answer.</summary>
    public const int AnswerBytes = 1024;

    private static readonly byte[] Answer = new byte[AnswerBytes];

    private readonly WebApplication _app;
    private readonly ServerPoolWatch? _watch;
    private readonly X509Certificate2 _certificate = NewCertificate();
    private readonly TaskCompletionSource _released = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile string _pool = "";
    private int _connections;
    private int _held;

    private ServerProgram(KestrelMemory memory, bool watches)
    {
        _watch = watches ? new(memory) : null;
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().UseKestrelHttpsConfiguration().ConfigureKestrel(Listen);
        if (memory == KestrelMemory.Tidepool)
        {
            builder.WebHost.UseTidepoolMemoryPool();
        }

        _app = builder.Build();
        _app.Run(AnswerAsync);
    }

    /// <summary>Runs until the input ends.</summary>
    public static async Task<int> RunAsync(IReadOnlyList<string> arguments)
    {
        await using var output = new StreamWriter(Console.OpenStandardOutput()) { AutoFlush = true };
        await using var server = new ServerProgram(Enum.Parse<KestrelMemory>(arguments[0]), arguments.Contains(Watch));
        await server._app.StartAsync();
        int[] ports = [.. server._app.Urls.Select(static url => new Uri(url).Port)];
        await output.WriteLineAsync(MessageLine.Write(new ServerPorts(ports[0], ports[1], ports[2])));
        while (await Console.In.ReadLineAsync() is { } line)
        {
            if (line == Release)
            {
                server._released.TrySetResult();
            }
            else if (line == Collect)
            {
                GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
            }

            await output.WriteLineAsync(MessageLine.Write(server.ReadState()));
        }

        return 0;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _app.DisposeAsync();
        _certificate.Dispose();
        _watch?.Dispose();
    }

    private static X509Certificate2 NewCertificate()
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=localhost", key, HashAlgorithmName.SHA256);
        using X509Certificate2 certificate = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
        return X509CertificateLoader.LoadPkcs12(certificate.Export(X509ContentType.Pkcs12), null);
    }

    private void Listen(KestrelServerOptions kestrel)
    {
        kestrel.Limits.MaxRequestBufferSize = BurstProbe.BodyBytes;
        foreach (KestrelProtocol protocol in Enum.GetValues<KestrelProtocol>())
        {
            kestrel.Listen(IPAddress.Loopback, 0, listen =>
            {
                listen.Protocols = protocol == KestrelProtocol.Http2 ? HttpProtocols.Http2 : HttpProtocols.Http1;
                listen.Use(CountAsync);
                if (protocol == KestrelProtocol.Tls)
                {
                    listen.UseHttps(_certificate);
                }
            });
        }
    }

    private ConnectionDelegate CountAsync(ConnectionDelegate next) => async connection =>
    {
        _pool = connection.Features.Get<IMemoryPoolFeature>()?.MemoryPool.GetType().Name ?? "none";
        Interlocked.Increment(ref _connections);
        try
        {
            await next(connection);
        }
        finally
        {
            Interlocked.Decrement(ref _connections);
        }
    };

    private async Task AnswerAsync(HttpContext context)
    {
        if (context.Request.Path == HoldPath)
        {
            Interlocked.Increment(ref _held);
            await _released.Task;
            await context.Request.Body.CopyToAsync(Stream.Null);
            Interlocked.Decrement(ref _held);
        }

        context.Response.ContentLength = AnswerBytes;
        await context.Response.Body.WriteAsync(Answer);
    }

    private ServerState ReadState()
    {
        var memory = _watch?.Read();
        return new()
        {
            Pool = _pool,
            Connections = Volatile.Read(ref _connections),
            Held = Volatile.Read(ref _held),
            Allocated = GC.GetTotalAllocatedBytes(precise: true),
            Collections = [GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2)],
            Compiled = JitInfo.GetCompiledMethodCount(),
            LeasedBytes = memory?.Leased,
            IdleBytes = memory?.Idle,
            Resident = Environment.WorkingSet,
        };
    }
}

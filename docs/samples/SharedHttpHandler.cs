using System.Net;
using System.Net.Sockets;
using System.Text;
using Tidepool;

namespace Samples;

/// <summary>
/// Shares one HTTP handler for each endpoint: many callers use it at the same time, it is renewed when its lifetime is over, and it ends
/// when the last caller that still uses it is done.
/// </summary>
public static class SharedHttpHandler
{
    public static async Task RunAsync(TextWriter console)
    {
        ArgumentNullException.ThrowIfNull(console);
        await using var first = new SmallServer("first server");
        await using var second = new SmallServer("second server");
        var directory = new Directory { Address = first.EndPoint };
        await using var api = new ApiClient(directory);

        string[] answers = await Task.WhenAll(Enumerable.Range(0, 100).Select(_ => api.GetAsync("http://api.test/")));
        await console.WriteLineAsync($"100 callers at once, {answers.Distinct().Count()} answer: {answers[0]}");

        Task<string> slow = api.GetAsync("http://api.test/slow");
        await first.SlowBegan;
        directory.Address = second.EndPoint;
        await console.WriteLineAsync($"the address changed, the handler has not: {await api.GetAsync("http://api.test/")}");

        api.EndLifetimes();
        await console.WriteLineAsync($"the lifetime is over: {await api.GetAsync("http://api.test/")}");
        first.FinishSlow();
        await console.WriteLineAsync($"a request that began before ends well: {await slow}");
        await console.WriteLineAsync($"everything returned: {await api.ShutdownAsync()}");
    }

    /// <summary>A client of many endpoints.</summary>
    public sealed class ApiClient : IAsyncDisposable
    {
        private readonly Clock _clock = new();
        private readonly KeyedResourcePool<string, SocketsHttpHandler> _handlers;

        internal ApiClient(Directory directory)
        {
            var policy = new HandlerPolicy(directory);
            _handlers = new KeyedResourcePool<string, SocketsHttpHandler>(
                _ => policy, // the same for all endpoints
                new KeyedResourcePoolOptions<string>
                {
                    MaxTotal = 100,
                    PerKey = new ResourcePoolOptions
                    {
                        Name = "http",
                        MaxSize = 2, // one that is due and still in use, and its successor
                        MaxLifetime = TimeSpan.FromMinutes(2),
                        TimeProvider = _clock,
                    },
                });
        }

        public async Task<string> GetAsync(string address)
        {
            var uri = new Uri(address);
            using SharedLease<SocketsHttpHandler> handler = await _handlers.RentSharedAsync(uri.Authority);
            using var client = new HttpClient(handler.Value, disposeHandler: false);
            return await client.GetStringAsync(uri); // the lease is held until the answer has been read
        }

        public Task<bool> ShutdownAsync() => _handlers.ShutdownAsync(TimeSpan.FromSeconds(30));

        public ValueTask DisposeAsync() => _handlers.DisposeAsync();

        /// <summary>Two minutes pass at once: a program has TimeProvider.System here, and waits.</summary>
        internal void EndLifetimes() => _clock.Pass(TimeSpan.FromMinutes(2));
    }

    /// <summary>What a name server is: where new handlers go.</summary>
    internal sealed class Directory
    {
        private volatile IPEndPoint _address = new(IPAddress.Loopback, 0);

        internal IPEndPoint Address
        {
            get => _address;
            set => _address = value;
        }
    }

    /// <summary>Makes handlers. Ending one is disposing it, which is the default.</summary>
    private sealed class HandlerPolicy(Directory directory) : ResourcePolicy<SocketsHttpHandler>
    {
        public override ValueTask<SocketsHttpHandler> CreateAsync(CancellationToken cancellationToken)
        {
            IPEndPoint address = directory.Address; // once for each handler, so that one handler speaks to one server
            return new(new SocketsHttpHandler
            {
                UseProxy = false,
                ConnectCallback = (_, cancellation) => ConnectAsync(address, cancellation),
            });
        }

        private static async ValueTask<Stream> ConnectAsync(IPEndPoint address, CancellationToken cancellationToken)
        {
            var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            try
            {
                await socket.ConnectAsync(address, cancellationToken);
                return new NetworkStream(socket, ownsSocket: true);
            }
            catch
            {
                socket.Dispose();
                throw;
            }
        }
    }

    private sealed class Clock : TimeProvider
    {
        private long _passed;

        public override long GetTimestamp() => base.GetTimestamp() + Interlocked.Read(ref _passed);

        internal void Pass(TimeSpan time) => Interlocked.Add(ref _passed, (long)(time.TotalSeconds * TimestampFrequency));
    }

    /// <summary>Answers every request with its name; one for /slow only when it is told to.</summary>
    private sealed class SmallServer : IAsyncDisposable
    {
        private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
        private readonly TaskCompletionSource _slowBegan = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource _finishSlow = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly string _name;
        private readonly Task _accepting;

        internal SmallServer(string name)
        {
            _name = name;
            _listener.Start();
            _accepting = AcceptAsync();
        }

        internal IPEndPoint EndPoint => (IPEndPoint)_listener.LocalEndpoint;

        internal Task SlowBegan => _slowBegan.Task;

        internal void FinishSlow() => _finishSlow.TrySetResult();

        public async ValueTask DisposeAsync()
        {
            FinishSlow();
            _listener.Stop();
            await _accepting;
        }

        private async Task AcceptAsync()
        {
            try
            {
                while (true)
                {
                    _ = ServeAsync(await _listener.AcceptTcpClientAsync());
                }
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // The listener was stopped.
            }
        }

        private async Task ServeAsync(TcpClient client)
        {
            using (client)
            {
                try
                {
                    using var reader = new StreamReader(client.GetStream(), Encoding.ASCII);
                    while (await reader.ReadLineAsync() is { } request)
                    {
                        while (!string.IsNullOrEmpty(await reader.ReadLineAsync()))
                        {
                            // A header.
                        }

                        if (request.StartsWith("GET /slow ", StringComparison.Ordinal))
                        {
                            _slowBegan.TrySetResult();
                            await _finishSlow.Task;
                        }

                        string answer = $"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {_name.Length}\r\n\r\n{_name}";
                        await client.GetStream().WriteAsync(Encoding.ASCII.GetBytes(answer));
                    }
                }
                catch (IOException)
                {
                    // The client has gone.
                }
            }
        }
    }
}
